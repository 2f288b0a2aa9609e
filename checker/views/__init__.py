"""Renders reports and traces for people; views import only :mod:`checker.witness`."""
