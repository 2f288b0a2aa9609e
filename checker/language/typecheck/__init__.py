"""A syntax tree to a typed protocol: names resolved, types inferred."""
