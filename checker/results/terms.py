"""Printed terms, such as ``COPY(DATA(p1, a))``: the parts of a message or call in a trace.

A trace document holds values as :func:`checker.results.show_values.show` prints them; only this
module takes them apart.
"""

from __future__ import annotations

import re

WORD = re.compile(r"\w+")
LEAF = re.compile(r"\w+(?![\w(])")
NAME = re.compile(r"(\w+)(?:\(|$)")


def head(term: str) -> str:
    """Returns the name of a message or operator: ``COPY``."""
    return term.partition("(")[0]


def arguments(term: str) -> tuple[str, ...]:
    """Returns the arguments of a message, which may be terms: ``DATA(p1, a)``; none of a term that
    is no message."""
    if not head(term).isidentifier() or not term.endswith(")"):
        return ()
    found, depth, start = [], 0, len(head(term)) + 1
    for i in range(start, len(term) - 1):
        depth += (term[i] in "([{") - (term[i] in ")]}")
        if term[i] == "," and not depth:
            found.append(term[start:i].strip())
            start = i + 1
    return (*found, term[start:-1].strip())


def is_message(term: str) -> bool:
    """Returns whether ``term``, an argument, is a message: by convention their names are
    capitals."""
    return term.endswith(")") and head(term).isidentifier() and head(term).isupper()


def words(text: str) -> list[str]:
    """Returns all names and numbers in ``text``."""
    return WORD.findall(text)


def leaves(term: str) -> list[str]:
    """Returns the names and numbers in ``term`` that have no arguments: ``p1`` and ``a``."""
    return LEAF.findall(term)


def names(term: str) -> list[str]:
    """Returns the names of the messages in ``term``: ``COPY`` and ``DATA``; one without arguments
    only at the end."""
    return NAME.findall(term)
