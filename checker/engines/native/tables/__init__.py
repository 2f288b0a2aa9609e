"""Tables of all states and transitions that a run found, as Parquet."""
