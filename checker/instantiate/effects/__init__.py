"""Effects of handlers as transitions: all in one step, or each a step of its own."""
