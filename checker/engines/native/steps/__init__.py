"""The steps of single states, in machine code."""
