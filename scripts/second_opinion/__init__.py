"""A second opinion on the engines: the same transition systems, searched by SPIN (Holzmann 1997).

    python -m scripts.second_opinion specs/broadcast
    python -m scripts.second_opinion specs --states 300000

Only the transition system (:mod:`checker.model.ir`) is shared with the engines.  Compared are the
numbers of states, of transitions and of admissible ends, the depth, and for each property whether
it is violated.
"""
