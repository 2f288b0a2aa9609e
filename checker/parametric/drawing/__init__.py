"""Threshold automata as text and as SVG."""
