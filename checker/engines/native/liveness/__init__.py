"""Liveness on an explicit state graph: cycles, the product with a Büchi automaton, lassos."""
