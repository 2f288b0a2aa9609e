"""The reference engine: the definition of all answers, written to be read."""
