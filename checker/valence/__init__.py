"""Valence: what can still be decided in each state (Fischer, Lynch and Paterson 1985)."""
