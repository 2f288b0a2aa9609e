"""What processes do: expressions, statements, handlers and layers, at the sizes of a check."""
