"""One check at every point of a grid of parameters: cells, who runs them, and what becomes of them.

``grid`` reads what the user wrote, ``plan`` makes a task of each cell, ``local`` runs tasks in
processes of this machine (on a cluster the spark engine does), ``rows`` keeps what came out.
"""
