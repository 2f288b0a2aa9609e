"""Runs on disk: storage, lock, journal; begun, resumed, released."""
