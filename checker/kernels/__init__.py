"""A transition system becomes native code: layout of states, lowering, runtime, compilation.

The order of the modules is the order of the work: ``packing`` and ``layout`` (bits), ``emit``
(LLVM's text), ``codes``, ``convert``, ``places``, ``domains``, ``operations``, ``sequences``,
``expressions``, ``statements`` and ``actions`` (meaning), ``seen`` and ``runtime`` (the search),
``image`` (all of it together) and ``jit`` (machine code).
"""
