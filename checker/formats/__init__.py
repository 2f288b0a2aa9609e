"""Reports and traces as documents: JSON with its schemas, ITF, ShiViz, CSV."""
