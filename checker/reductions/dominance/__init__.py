"""Dominance: a successor that can do whatever the state can takes its place."""
