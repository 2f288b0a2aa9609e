"""Threshold automata: protocols that count messages, for every number of processes.

``automaton`` defines them; ``extract`` makes one from a typed protocol and reports where that
leaves the fragment; ``questions`` turns properties into questions about counters; ``concretize``
lifts an execution that was found to the finite system.  :mod:`checker.engines.symbolic` answers the
questions.

Sources: I. Konnov, H. Veith, J. Widder: SMT and POR beat counter abstraction: parameterized model
checking of threshold-based distributed algorithms, CAV 2015; I. Konnov, M. Lazić, H. Veith, J.
Widder: A short counterexample property for safety and liveness verification of fault-tolerant
distributed algorithms, POPL 2017.
"""
