"""Why a run violates its property: a smaller run, its causes, and what would have saved it."""
