"""Symmetry: renamings of processes and payloads that are automorphisms of a system."""
