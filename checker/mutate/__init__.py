"""Whether the checks of a spec notice that it is changed."""
