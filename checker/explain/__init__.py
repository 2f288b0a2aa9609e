"""Explains why an execution violates its property: a smaller one, its causes, and
counterfactuals."""
