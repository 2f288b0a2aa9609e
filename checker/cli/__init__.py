"""The command ``bivalence``: nothing else in the tool prints or exits."""
