"""Mutants of specs: a text into the same text with one fault in it."""
