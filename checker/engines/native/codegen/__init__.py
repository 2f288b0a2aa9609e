"""Turns a transition system into native code: layout of states, lowering, runtime, compilation.

The modules are listed in the order of the work: ``packing`` and ``layout`` (bits), ``emit`` (LLVM's
text), ``value_codes``, ``convert``, ``state_access``, ``domains``, ``operations``, ``sequences``,
``expressions``, ``statements``, ``constraints`` and ``actions`` (meaning), ``admissible_ends`` and
``state_predicates`` (what liveness needs of states), ``visited_set`` and ``search_loop`` (the
search), ``fair_components`` and ``graph_bfs`` (graphs, the same code for all systems), ``image``
(all of it together) and ``jit`` (machine code).
"""
