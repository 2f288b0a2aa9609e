"""Answers questions about threshold automata for every number of processes, with z3."""
