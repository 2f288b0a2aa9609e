"""The worlds of a check: what they assume, which of it a property needs, and up to where it holds.

``axes`` says what a world may assume, ``monotone`` searches products of chains, ``points`` runs a
check at one point, ``asking`` runs many, ``assumptions`` and ``frontier`` make the reports.
"""
