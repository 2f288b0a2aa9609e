"""Reductions of the state space: plans made from a transition system before it is compiled.

``symmetry``: states that differ by a renaming of processes or payloads only.  ``dead_variables``:
parts of states that are never read again.  ``partial_order``: steps that commute with all others.
``table`` says which of them is used for which kind of property, and why that is sound.
"""
