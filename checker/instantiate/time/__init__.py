"""Timers, timing models and lock-step rounds."""
