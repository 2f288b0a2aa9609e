"""Answers questions about threshold automata for every number of processes, with z3."""

import checker.engines.symbolic  # noqa: F401  (says where the library of z3 is)
