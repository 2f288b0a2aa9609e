"""Runs one check at every point of a grid of parameters.

``grid`` parses what the user wrote, ``sweep_plan`` makes a task of each cell, ``local`` runs tasks
in processes of this machine (on a cluster the spark engine does), ``rows`` holds the results.
"""
