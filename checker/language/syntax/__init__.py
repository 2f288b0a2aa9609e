"""The syntax trees: of what was written, and of what it means once it is typed."""
