"""Engines: each turns a transition system into an answer.  They do not depend on one another."""
