"""Partial order: ample sets of steps that may precede all others."""
