"""Asks the library's properties of logs of what processes really requested and delivered."""
