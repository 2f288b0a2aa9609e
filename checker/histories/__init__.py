"""Judges recorded histories: operations with their calls and returns in one total order.

``edn`` and ``reading`` read files, ``pairing`` makes operations of rows, ``objects`` executes an
object of the specification language, ``steps`` numbers its states; ``just_in_time`` and
``wing_gong_lowe`` decide linearizability, ``linearizability`` runs both and finds a small witness.

``transactions`` are of two kinds, ``list_append`` and ``rw_register``; their ``dependencies`` have
``cycles``, and where these do not decide, ``schedules`` searches for an order of transactions.
"""
