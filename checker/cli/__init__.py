"""The command ``bivalence``: no other package of the tool prints or exits."""
