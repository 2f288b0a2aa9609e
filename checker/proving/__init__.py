"""Proofs: a check of a spec into verdicts that z3 has found, and what they rest on."""
