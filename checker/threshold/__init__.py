"""Threshold automata: protocols that count messages, for every number of processes.

``automaton`` says what one is; ``extract`` makes it from a typed protocol and says where one leaves
the fragment; ``questions`` turns properties into counting; ``following`` runs what was found in the
finite system.  What is asked of automata is answered in :mod:`checker.engines.symbolic`.

Sources: I. Konnov, H. Veith, J. Widder: SMT and POR beat counter abstraction: parameterized model
checking of threshold-based distributed algorithms, CAV 2015; I. Konnov, M. Lazić, H. Veith,
J. Widder: A short counterexample property for safety and liveness verification of fault-tolerant
distributed algorithms, POPL 2017.
"""
