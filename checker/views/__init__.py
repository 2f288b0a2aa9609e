"""Reports and traces for people; views see only :mod:`checker.witness`."""
