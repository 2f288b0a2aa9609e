"""Bivalence: a model checker for broadcast protocols."""
