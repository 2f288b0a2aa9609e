"""Valence on the state graph of a search: a word for each state, drawn backwards over the edges."""
