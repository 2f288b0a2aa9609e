"""A transition system becomes native code: layout of states, lowering, runtime, compilation.

The order of the modules is the order of the work: ``packing`` and ``layout`` (bits), ``emit``
(LLVM's text), ``codes``, ``convert``, ``places``, ``domains``, ``operations``, ``sequences``,
``expressions``, ``statements``, ``constraints`` and ``actions`` (meaning), ``steady`` and
``letters`` (what liveness asks about states), ``seen`` and ``runtime`` (the search), ``graphs`` and
``spread`` (graphs, the same code for all systems), ``image`` (all of it together) and ``jit``
(machine code).
"""
