"""Numbers as they are shown: fractions, and of an interval only the digits that are certain."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

PLACES = 12
"""So many decimal places at most."""
SHORT = 24
"""The largest number of characters of a fraction that is shown without its decimal digits."""


def decimal(value: Fraction, *, up: bool = False) -> str:
    """Returns a decimal fraction at most, or with ``up`` at least, as large as ``value`` is."""
    scaled = value * 10**PLACES
    whole = ceil(scaled) if up else floor(scaled)
    sign, whole = ("-", -whole) if whole < 0 else ("", whole)
    text = f"{sign}{whole // 10**PLACES}.{whole % 10**PLACES:0{PLACES}d}".rstrip("0")
    return text.rstrip(".")


def fraction(value: Fraction) -> str:
    """Returns an exact value: ``49/128``, or with its decimal digits where it is long."""
    if len(str(value)) <= SHORT:
        return str(value)
    return f"{value} = {certain(value, value)}"


def certain(lower: Fraction, upper: Fraction) -> str:
    """Returns the digits that all values between two have in common, or both ends."""
    low, high = decimal(lower), decimal(upper, up=True)
    if low == high:
        return low
    if lower == upper:
        return f"{low}…"
    ends = f"between {low} and {high}"
    width = max(len(low), len(high))
    (a, a_places), (b, b_places) = (text.partition(".")[::2] for text in (low, high))
    if a != b:
        return ends
    common = 0
    for one, other in zip(a_places.ljust(width, "0"), b_places.ljust(width, "0"), strict=True):
        if one != other:
            break
        common += 1
    return f"{a}.{a_places.ljust(width, '0')[:common]}…" if common > 1 else ends
