"""Prompts for assistants: what to do, in order, and what does not count as a success."""

from __future__ import annotations

_LAST = (
    " Use `look` before and after each change, and `check` with the digests as `baseline`. Report"
    " the `claim` of the answer with its world, `not_asked`, and every `expect violated`. Never"
    " report unknown or vacuous as a success, and never weaken a property to make it hold."
)
PROMPTS = {
    "from_code": (
        "Write a spec of a protocol that code implements",
        "Read the code. List its messages, handlers, timers and what it stores; then write one"
        " handler for each, and a check that declares the faults that the code is meant to survive."
        " Hold a log of the code to the spec with `log`." + _LAST,
    ),
    "from_description": (
        "Write a spec of a protocol that a text describes",
        "Find the nearest spec with `library`. Write the protocol without faults, then a check with"
        " the faults that the text names, and one without what makes the protocol safe, with"
        " `expect … violated`." + _LAST,
    ),
    "from_tla": (
        "Translate a spec of TLA+",
        "Read the page `notations` with `library`. Actions become handlers, and messages become"
        " `message`; leave fairness out: it follows from links and faults. Keep each invariant as a"
        " property of its own name." + _LAST,
    ),
    "review": (
        "Review a spec",
        "Call `look`, then `check` for each check, then `mutate`. Name what no check asks, every"
        " property that is not the library's, worlds in which nothing fails, and changes that no"
        " check notices." + _LAST,
    ),
}
"""By name: what each is for, and its text."""
