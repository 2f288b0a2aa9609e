"""Passes over the actions under construction, one per file; the verifier runs after them."""
