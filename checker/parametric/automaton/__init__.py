"""Threshold automata: locations, rules, executions, and properties as questions about them."""
