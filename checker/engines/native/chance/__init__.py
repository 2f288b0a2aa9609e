"""The state graph of a search with the distributions of its steps."""
