"""Dead variables: parts of a state that nothing will read, reset to one value."""
