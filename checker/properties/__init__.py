"""Properties: formulas become predicates on states or automata, with the histories they need."""

from checker.properties.formula import ask

__all__ = ["ask"]
