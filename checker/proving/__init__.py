"""Proofs: verdicts on the checks of a spec that z3 has found, and what they depend on."""
