"""The language: text becomes a typed protocol, still parametric in n and f."""
