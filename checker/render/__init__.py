"""Renders reports and traces for people; it imports only :mod:`checker.results`."""
