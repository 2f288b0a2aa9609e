"""Compiles formulas to predicates on states or Büchi automata, with the histories they need."""

from checker.properties.formula import ask

__all__ = ["ask"]
