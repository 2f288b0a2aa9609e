"""Random walks in machine code, on threads."""
