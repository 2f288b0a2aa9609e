"""Runs made by hand or at random, step by step, with the interpreter; scenarios that keep them."""
