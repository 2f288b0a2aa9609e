"""Chance: probabilities and expected values over Markov decision processes."""
