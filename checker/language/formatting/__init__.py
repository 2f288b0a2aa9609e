"""The layout of specs: a text into the same text with its blanks and indentation in one style."""
