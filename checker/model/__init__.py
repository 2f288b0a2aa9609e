"""Defines the intermediate representation: finite transition systems, a verifier, an
interpreter."""
