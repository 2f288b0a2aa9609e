"""Reductions of the state space: plans made from a transition system before it is compiled.

``symmetry``: states that differ by a renaming of processes or payloads only.  ``dead_variables``:
parts of states that are never read again.  ``partial_order``: steps that commute with all others.
Each is an object of the ``contract`` in the ``registry``, and says for which kind of property it is
used, and why that is sound; ``choose`` makes the plan.
"""
