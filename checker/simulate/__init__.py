"""Interactive and random simulation with the interpreter; scenarios that record executions."""
