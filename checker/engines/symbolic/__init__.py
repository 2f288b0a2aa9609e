"""The symbolic engine: queries to z3 about violations within bounded depth, at every depth, and for
every number of processes.
"""
