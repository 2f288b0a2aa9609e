"""A check of a typed protocol becomes a finite transition system."""
