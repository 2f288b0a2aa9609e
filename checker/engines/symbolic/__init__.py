"""Questions for z3: what can go wrong within so many steps, what holds at every depth, and what
holds for every number of processes."""
