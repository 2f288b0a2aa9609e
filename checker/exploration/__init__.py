"""Shared parts of the engines that run native code, on one machine or many.

``memory`` and ``store`` (rows by level and the visited set), ``findings`` (what is known at a
level), ``search`` (breadth first on one machine, with threads), ``trace_reconstruction``
(executions, rebuilt backwards), ``finalize`` (turns a finished search into an answer); for liveness
``graph``, ``graph_query``, ``automaton_tables``, ``states``, ``buchi_product`` and ``lasso``, put
together in ``liveness_decision``.
"""
