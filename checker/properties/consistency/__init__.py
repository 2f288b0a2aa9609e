"""Linearizability and its relatives: observations of which operations may have taken effect.

``calls`` are the operations of a check's clients, of which there are finitely many;
``sequential_object`` executes an object; ``monitors`` are the definitions, each a deterministic
automaton over calls and returns; ``automaton`` makes it finite and minimal; ``observation`` adds it
to the system that is instantiated.
"""
