"""Mutation testing of specs: which small faults their checks notice."""
