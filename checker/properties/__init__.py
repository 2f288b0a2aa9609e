"""Compiles formulas to predicates on states or Büchi automata, with the histories they need."""
