"""The native engine: a system as machine code, explored on the threads of one machine.

``codegen`` makes the code; ``search`` expands levels, ``liveness`` finds lassos in the graph of
what was found, ``checkpoint`` keeps a run on disk, ``sharding`` divides it (also for the Spark
engine), ``tables`` writes its states; ``engine`` answers a check.
"""
