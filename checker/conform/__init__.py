"""Whether the log of an implementation is a run of its spec; runs that drive implementations."""
