"""Extracts the threshold automaton of a typed protocol, parametric as it is."""
