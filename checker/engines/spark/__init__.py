"""The spark engine: the same native code on the executors of a Spark cluster, exact.

``cluster`` says where; ``java`` and ``session`` get there, ``probe`` looks whether everything that
is needed is there, too.
"""
