"""A counterexample as a program that makes it happen in a system of real processes."""
