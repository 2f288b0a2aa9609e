"""Reads the files of specs."""

from __future__ import annotations

import hashlib
import os
import textwrap
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path

from checker import resources
from checker.diagnostics import Diagnostic, Span, SpecError

SUFFIX = ".bcast"
"""Suffix of the names of specs."""
LARGEST = 4_000_000
"""The largest size of a file, in bytes."""


def read(path: Path, span: Span | None = None) -> str:
    """Returns the text of a file; raises :class:`SpecError` (E001, or N016 for an import at
    ``span``)."""
    return decoded(path, data_of, "E001" if span is None else "N016", span)


def decoded(
    path: Path, data_of: Callable[[Path], bytes], code: str = "E001", span: Span | None = None
) -> str:
    """Returns what ``data_of`` returns for a file, as text; raises :class:`SpecError` with ``code``
    where the file can't be read or is not UTF-8."""
    hint = ""
    try:
        return data_of(path).decode("utf-8")
    except FileNotFoundError:
        reason, hint = "there is no such file", _of_the_library(path)
    except resources.Unreadable as error:
        reason = str(error)
    except UnicodeDecodeError as error:
        reason = f"byte {error.start} is not UTF-8"
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "the name is invalid").lower()
    raise SpecError((Diagnostic(code, f"can't read `{path}`: {reason}", span, hint=hint),))


def _of_the_library(path: Path) -> str:
    """Returns a hint if ``path`` may mean a file of the library."""
    near = get_close_matches(str(path.with_suffix("")), resources.spec_names(), 1, 0.8)
    if near:
        return f"did you mean `{near[0]}`, a file of the library?"
    return "" if path.suffix else "`bivalence list` shows the library, named like `folder/file`"


def data_of(path: Path) -> bytes:
    """Returns the contents of the spec ``path``.

    A spec, and even more so an import, may be untrusted: a file that is not regular, or has another
    suffix (also behind a link), is not read, as an error would show one of its lines. Raises
    :class:`checker.resources.Unreadable`, and as it does.
    """
    resources.require_inside(path)
    if path.is_file() and not os.path.realpath(path).endswith(SUFFIX):
        raise resources.Unreadable(f"the name of a spec ends in `{SUFFIX}`")
    return resources.regular(path, LARGEST)


def lines_at(span: Span | None, text: str | None = None) -> list[str]:
    """Returns the lines at ``span``, without the indentation of the first; none where the file
    can't be read.  ``text``: that of the file; ``None``: as it is on disk."""
    if span is None:
        return []
    try:
        whole = read(Path(span.file)) if text is None else text
    except SpecError:
        return []
    lines = whole.splitlines()[span.line - 1 : span.end_line]
    if not lines:
        return []
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = " " * (span.column - 1) + lines[0][span.column - 1 :]
    return [line.rstrip() for line in textwrap.dedent("\n".join(lines)).split("\n")]


def digest_of(text: str) -> bytes:
    """Returns a digest of the text of a file."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def identity_of(path: Path) -> str:
    """Returns what is the same for all names of one file."""
    try:
        return str(path.resolve())
    except (OSError, ValueError, RuntimeError):
        return str(path)
