"""Defines the intermediate representation: finite transition systems, their semantics, a
verifier."""
