"""The output of commands: results on stdout, everything else on stderr."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from checker.cli import last_words
from checker.diagnostics.visible import visible
from checker.resources import temporary_prefix

if TYPE_CHECKING:
    from rich.console import RenderableType

    from checker.diagnostics import Diagnostic


class OutputFailed(OSError):
    """Stdout can't be written to, so that results can't be printed."""


class OutputClosed(Exception):
    """The reader of stdout has closed it."""


def write_stdout(text: str) -> None:
    """Writes ``text`` to stdout; raises :class:`OutputFailed` or :class:`OutputClosed`."""
    _put(visible(text))


def write_verbatim(text: str) -> None:
    """Does the same with a document: into a pipe or a file control characters go as they are."""
    _put(visible(text) if sys.stdout.isatty() else text)


def print_line(text: str = "") -> None:
    """Prints a line on stdout, as :func:`write_stdout` does."""
    write_stdout(f"{text}\n")


def print_view(view: RenderableType) -> None:
    """Prints a view on stdout, as wide as the terminal, coloured where that is wanted."""
    from checker.render.terminal.canvas import as_text

    _put(as_text(view, width(), wants_colours()), wants_colours())


def _put(text: str, color: bool | None = None) -> None:
    try:
        click.echo(printable(text), nl=False, color=color)
    except BrokenPipeError as problem:
        raise OutputClosed from problem
    except OSError as problem:
        raise OutputFailed(problem.errno, problem.strerror, "stdout") from problem


def printable(text: str) -> str:
    """Returns ``text`` as stdout can encode it: in ASCII where its encoding lacks a sign."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        from checker.render.terminal.marks import in_ascii

        return in_ascii(text)
    return text


PIPED = 100
"""The columns of text that goes to no terminal."""


def width() -> int:
    """Returns the columns of the terminal, or of ``COLUMNS``; ``PIPED`` where there is neither."""
    import shutil

    return max(40, shutil.get_terminal_size((PIPED, 24)).columns)


def wants_colours() -> bool:
    """Returns whether stdout is a terminal that wants colours (https://no-color.org)."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def print_note(text: str) -> None:
    """Prints a line on stderr; errors in writing it are ignored."""
    with contextlib.suppress(OSError):
        click.echo(visible(text), err=True)


def print_error_text(text: str) -> None:
    """Prints lines on stderr that were made elsewhere; nothing where there are none."""
    if text:
        print_note(text.rstrip("\n"))


def print_hint(text: str) -> None:
    """Prints a line on stderr, unless ``--quiet`` was given."""
    from checker.cli.option_groups import is_quiet

    if not is_quiet():
        print_note(text)


def render_with_source(found: Diagnostic) -> str:
    """Renders a diagnostic with the line of source that it is about."""
    from checker.diagnostics.render import render

    source = _source(found.span.file) if found.span is not None and found.span.line else None
    return str(render(found, source))


def _source(file: str) -> str | None:
    """Returns the text of a file that a diagnostic is about; ``None`` where it can't be read."""
    from checker.resources import regular

    try:
        return regular(file, LARGEST).decode("utf-8")
    except (OSError, ValueError):
        return None


class WriteFailed(OSError):
    """An output file can't be written."""


def write_file(path: str, text: str | bytes) -> None:
    """Writes the whole file or nothing: a temporary file beside it first, which is then renamed.

    A byte of a file's name that is no UTF-8 is written as on the terminal, such as ``\\udce9``.
    Raises :class:`WriteFailed`, with ``path``.
    """
    try:
        _write(path, text)
    except OSError as problem:
        raise WriteFailed(problem.errno, problem.strerror, path) from problem


def make_folder(path: str) -> Path:
    """Returns the folder ``path``, made where it is missing; raises :class:`WriteFailed`."""
    target = Path(path)
    if target.exists() and not target.is_dir():
        raise click.UsageError(f"{path} is a file")
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise WriteFailed(problem.errno, problem.strerror, path) from problem
    return target


def _write(path: str, text: str | bytes) -> None:
    target = Path(path)
    data = text.encode("utf-8", "backslashreplace") if isinstance(text, str) else text
    if target.exists() and not target.is_file():  # a device or a pipe has no "beside"
        target.write_bytes(data)
        return
    target = Path(os.path.realpath(target))
    last_words.may_write_in(str(target.parent))
    prefix = temporary_prefix(f".{target.name}.")
    handle, beside = tempfile.mkstemp(prefix=prefix, dir=target.parent)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, 0o666 & ~_umask())
        os.replace(beside, target)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def append_file(path: str, text: str) -> None:
    """Adds text to a file; raises :class:`WriteFailed`."""
    try:
        with open(path, "ab") as file:
            file.write(text.encode("utf-8", "backslashreplace"))
    except OSError as problem:
        raise WriteFailed(problem.errno, problem.strerror, path) from problem


def flush_stdout() -> None:
    """Writes what is buffered of stdout; raises what :func:`write_stdout` does."""
    try:
        sys.stdout.flush()
    except BrokenPipeError as problem:
        raise OutputClosed from problem
    except OSError as problem:
        raise OutputFailed(problem.errno, problem.strerror, "stdout") from problem


def require_writable(path: str) -> None:
    """Refuses an output that can't be written, before any work is done for it."""
    target = Path(path)
    folder = target.parent
    if target.is_dir():
        raise click.UsageError(f"{path} is a folder")
    if not folder.is_dir():
        raise click.UsageError(f"{path}: there is no folder {folder}")
    if not os.access(target if target.exists() and not target.is_file() else folder, os.W_OK):
        raise click.UsageError(f"{path}: {folder} is not writable")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


LARGEST = 1 << 29
"""The largest size of a document in bytes."""


def read_document(path: str) -> str:
    """Returns the text of a document that the user names; ``-`` is stdin.

    Raises :class:`SpecError` (E001) where it can't be read.
    """
    from checker.resources import Unreadable, at_most

    try:
        if path == "-":
            return at_most(sys.stdin.buffer, LARGEST).decode("utf-8")
        with open(path, "rb") as file:
            return at_most(file, LARGEST).decode("utf-8")
    except UnicodeDecodeError as problem:
        raise unreadable(path, "it is not UTF-8 text") from problem
    except FileNotFoundError as problem:
        raise unreadable(path, "there is no such file") from problem
    except IsADirectoryError as problem:
        raise unreadable(path, "it is a folder") from problem
    except (Unreadable, OSError) as problem:
        raise unreadable(path, getattr(problem, "strerror", None) or str(problem)) from problem
    except ValueError as problem:
        raise unreadable(path, "the name is invalid") from problem


def unreadable(path: str, why: str) -> Exception:
    """Returns the error that the file ``path``, which the user names, can't be read."""
    from checker.diagnostics import Diagnostic, SpecError

    return SpecError((Diagnostic("E001", f"can't read `{path}`: {why}"),))
