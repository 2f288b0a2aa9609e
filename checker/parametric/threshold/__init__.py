"""Threshold automata that are written as such: files in the format of ByMC (``.ta``, ``.eta``)."""
