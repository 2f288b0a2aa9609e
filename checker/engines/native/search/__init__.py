"""Breadth-first search by native code: levels, visited set, findings; traces and the answer."""
