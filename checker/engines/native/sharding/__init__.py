"""A search in shards: each owns a part of the states; levels, shuffles and the cycle filter."""
