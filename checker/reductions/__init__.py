"""What need not be explored twice: plans made from a transition system before it is compiled.

``symmetry``: states that differ by a renaming of processes or payloads only.  ``dead``: what nobody
will look at again.  ``order``: steps that commute with all others.  ``table`` says which of them
is used for which kind of property, and why that is sound.
"""
