"""Parses and types the language: text becomes a typed protocol, still parametric in n and f."""
