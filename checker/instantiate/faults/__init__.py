"""Crashes, recovery from stable storage, Byzantine processes; budgets of faults."""
