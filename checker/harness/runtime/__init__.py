"""The part of an exported harness that is the same for every trace.

It is copied into the exported folder and runs there without the tool; it imports Python's standard
library only.
"""
