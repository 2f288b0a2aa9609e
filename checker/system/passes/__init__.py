"""Passes over the actions under construction, one a file; the verifier runs after them."""
