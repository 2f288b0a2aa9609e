"""Transformations of systems and of blocks that need nothing but the system itself."""
