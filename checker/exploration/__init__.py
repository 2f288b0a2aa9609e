"""What engines that run native code have in common, wherever the code runs.

``memory`` and ``store`` (rows by level and the seen set), ``findings`` (what is known at a level),
``search`` (breadth first on one machine, with threads), ``traces`` (runs, rebuilt backwards),
``conclude`` (a finished search as an answer); for liveness ``graph``, ``question``, ``automata``,
``states``, ``followed`` and ``lasso``, put together in ``liveness``.
"""
