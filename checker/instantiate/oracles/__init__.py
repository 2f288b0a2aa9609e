"""Oracles: layers that do whatever their interface allows, and failure detectors."""
