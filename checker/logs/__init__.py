"""Reads logs: bytes, lines of text, JSON objects, for `audit`, `conform` and `histories`."""
