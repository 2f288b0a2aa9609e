"""Space-time diagrams as pictures: layout, SVG, Mermaid, and a description in sentences."""
