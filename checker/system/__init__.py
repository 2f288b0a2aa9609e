"""The intermediate representation: a finite transition system, its verifier and interpreter."""
