"""One check, from its name to its report: load, instantiate, choose an engine, judge."""
