"""Reports and traces as text for terminals."""
