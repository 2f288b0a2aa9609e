"""Formats approximate amounts: ``14 M``, ``1.2 GB``, ``3 min``."""

from __future__ import annotations

from checker.results.answer import Forecast

_NUMBERS = ((1e12, " T"), (1e9, " G"), (1e6, " M"))
_BYTES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def about(number: float) -> str:
    """Formats a number to two digits: ``870``, ``24,000``, ``1.8 M``, ``14 M``."""
    for unit, name in _NUMBERS:
        if number >= 0.995 * unit:
            return f"{_two_digits(number / unit)}{name}"
    return _two_digits(number)


def size(number: float) -> str:
    """Formats a number of bytes: ``1.2 GB``."""
    for unit, name in _BYTES:
        if number >= 0.995 * unit:
            return f"{_two_digits(number / unit)} {name}"
    return f"{number:.0f} bytes"


def duration(seconds: float) -> str:
    """Formats a duration: ``20 s``, ``4 min``, ``3 h``, ``2 days``."""
    for unit, name in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * unit:
            return f"{_two_digits(seconds / unit)} {name}"
    return f"{_two_digits(seconds)} s"


def foretold(forecast: Forecast) -> str:
    """Formats a forecast: ``about 9 M to 14 M states in all, 20 s to 40 s more, up to 1.2 GB``."""
    low, high = about(forecast.low), about(forecast.high)
    states = low if low == high else f"{low} to {high}"
    soonest, latest = duration(forecast.soonest), duration(forecast.latest)
    left = latest if soonest == latest or forecast.soonest < 1 else f"{soonest} to {latest}"
    if forecast.soonest < 1:
        left = f"up to {left}"
    memory = f", up to {size(forecast.memory)}" if forecast.memory else ""
    return f"about {states} states in all, {left} more{memory}"


def _two_digits(number: float) -> str:
    """Rounds to two digits, or three below 200."""
    if number < 9.95:
        return f"{number:.1f}".removesuffix(".0")
    step: float = 1
    while number / step >= 199.5:
        step *= 10
    return f"{round(number / step) * step:,.0f}"
