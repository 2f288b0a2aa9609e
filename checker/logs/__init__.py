"""Reads logs: bytes, lines of text, JSON objects.  `audit` and `conform` read with it alone."""
