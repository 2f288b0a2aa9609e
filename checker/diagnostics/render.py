"""Renders diagnostics as plain text: place, message, lines of source, correction."""

from __future__ import annotations

from checker.diagnostics import Diagnostic, Span

_LINES = 4
_WIDTH = 160


def render(found: Diagnostic, source: str | None = None) -> str:
    """Renders ``found`` as lines of text without colour and without a final newline.

    ``source`` is the text of the file that the place is in; without it no lines are shown.
    """
    head = f"{found.severity}[{found.code}]: {found.message}"
    span = found.span
    if span is not None and span.line:
        head = f"{span.file}:{span.line}:{span.column}: {head}"
    lines = [head]
    if span is not None and not span.line:
        lines.extend(_option(span))
    elif span is not None and source is not None:
        lines.extend(_excerpt(span, source))
    if found.expected:
        lines.append(f"  expected: {found.expected}")
    if found.hint:
        lines.append(f"  help: {found.hint}")
    return "\n".join(lines)


def _option(span: Span) -> list[str]:
    shown, start, end = _window(span.file, span.column, span.end_column)
    return [f"  {shown}", f"  {' ' * (start - 1)}{'^' * (end - start)}"]


def _excerpt(span: Span, source: str) -> list[str]:
    text = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    last = min(span.end_line, span.line + _LINES - 1)
    margin = len(str(last))
    lines = []
    for number in range(span.line, last + 1):
        if not 1 <= number <= len(text):
            continue
        line = text[number - 1]
        start = span.column if number == span.line else len(line) - len(line.lstrip()) + 1
        end = span.end_column if number == span.end_line else len(line.rstrip()) + 1
        shown, start, end = _window(line, start, max(end, start + 1))
        lines.append(f"  {number:>{margin}} | {shown}")
        lines.append(f"  {'':>{margin}} | {' ' * (start - 1)}{'^' * (end - start)}")
    if last < span.end_line:
        lines.append(f"  {'':>{margin}} | …")
    return lines


def _window(line: str, start: int, end: int) -> tuple[str, int, int]:
    """Returns the line, control characters made visible, cut to what is around ``start..end``."""
    plain = "".join(c if c.isprintable() else " " if c == "\t" else "\ufffd" for c in line)
    if len(plain) <= _WIDTH:
        return plain, start, min(end, max(len(plain) + 1, start + 1))
    first = max(0, start - 1 - _WIDTH // 2)
    cut = plain[first : first + _WIDTH]
    before, after = "…" if first else "", "…" if first + _WIDTH < len(plain) else ""
    start += len(before) - first
    end = min(end + len(before) - first, len(before) + len(cut) + 1)
    return f"{before}{cut}{after}", start, max(end, start + 1)
