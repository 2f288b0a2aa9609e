"""Protocols that count messages, for every number of processes, as threshold automata.

``automaton`` defines them, their executions and the questions about them; ``extract`` makes one
from a typed protocol and reports where that leaves the fragment; ``threshold`` reads files;
``symbolic`` answers the questions with z3; ``drawing`` shows an automaton.

Sources: I. Konnov, H. Veith, J. Widder: SMT and POR beat counter abstraction: parameterized model
checking of threshold-based distributed algorithms, CAV 2015; I. Konnov, M. Lazić, H. Veith, J.
Widder: A short counterexample property for safety and liveness verification of fault-tolerant
distributed algorithms, POPL 2017.
"""
