"""Text to a syntax tree, with all of its errors."""
