"""The spark engine: the same native code on the executors of a Spark cluster, exact.

``java`` and ``session`` open the session, ``probe`` tests the executors' installation; ``driver``
coordinates the run, for ``engine``; ``job`` is the input of every task.

States are divided among shards by their fingerprints
(:mod:`checker.engines.native.sharding.shard`).  They are exchanged in one of two ways: ``barrier``,
a stage whose tasks are connected (``mesh``), or ``shuffle``, jobs of a few levels each.
"""
