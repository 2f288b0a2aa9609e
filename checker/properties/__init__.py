"""Properties: formulas become predicates on states, with the histories and monitors they need."""

from checker.properties.formula import ask

__all__ = ["ask"]
