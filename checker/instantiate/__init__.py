"""Instantiates a check of a typed protocol as a finite transition system."""
