"""The options that say which documents a command writes, and how long it explains what it found."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from checker.cli.errors import Failure

EXPLAIN = 5.0
"""Seconds."""

JSON_OUT = click.option(
    "--json",
    "json_out",
    metavar="FILE",
    help="Write the report as JSON; with -, stdout has nothing else.",
)
ITF_OUT = click.option(
    "--itf-out", metavar="FILE", help="Write the trace in the Informal Trace Format."
)
JUNIT_OUT = click.option(
    "--junit", "junit_out", metavar="FILE", help="Write the outcomes as JUnit XML, for CI systems."
)
SARIF_OUT = click.option(
    "--sarif",
    "sarif_out",
    metavar="FILE",
    help="Write errors and violations as SARIF, for code scanning.",
)
HTML_OUT = click.option(
    "--html", "html_out", metavar="FILE", help="Write probabilistic results as a page."
)
GITHUB = click.option(
    "--github",
    "annotates",
    is_flag=True,
    help="Print errors and violations as annotations for GitHub.",
)


_OUTPUTS = ("json_out", "trace_out", "itf_out", "junit_out", "sarif_out", "html_out", "annotates")


def writing_files(command: Callable[..., Any]) -> Callable[..., Any]:
    """Returns ``command`` with what the options of outputs say in one argument ``files``, a
    :class:`checker.cli.reporting.Files`; it stands below those options.

    Where an error ends the command before anything is reported, the outputs say so.
    """

    @functools.wraps(command)
    def gathered(**given: Any) -> Any:
        from checker.cli.reporting import Files

        named = {name: given.pop(name) for name in _OUTPUTS if name in given}
        files = Files(**named)
        with files.recording_an_end(_first_name(given)):
            return command(files=files, **given)

    return gathered


def _first_name(given: dict[str, Any]) -> str:
    """Returns the first file that a command is about."""
    names = given.get("names") or given.get("paths") or given["name"]
    return (names if isinstance(names, str) else str(names[0])).partition("::")[0]


def writing_errors(unusable: Callable[[Failure, dict[str, Any]], Any]) -> Callable[..., Any]:
    """Returns a decorator of commands with ``--json``: where an error ends one, what ``unusable``
    makes of it, and of the command's arguments, is written there."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def written(**given: Any) -> Any:
            try:
                return command(**given)
            except Exception as problem:
                from checker.cli.errors import failure_of

                if given["json_out"] is not None:
                    write_json(given["json_out"], unusable(failure_of(problem), given))
                raise

        return written

    return decorate


def unusable_document(kind: str) -> Callable[[Failure, dict[str, Any]], Any]:
    """Returns what makes a document of ``kind`` without reports of an error."""

    def made(failed: Failure, _: dict[str, Any]) -> Any:
        from checker.formats.json_format import document

        return document(kind, (), failed.problems, failed.code)

    return made


def write_json(file: str, document: object) -> None:
    """Writes a document to ``file``; ``-`` is stdout."""
    from checker.cli import console
    from checker.diagnostics.visible import json_text

    text = json_text(document) + "\n"
    if file == "-":
        console.write_stdout(text)
    else:
        console.write_file(file, text)


def trace_option(whose: str = "the first violation's") -> Callable[..., Any]:
    """Returns the option ``--trace-out``; ``whose`` trace it writes, for its help."""
    return click.option("--trace-out", metavar="FILE", help=f"Write {whose} trace as JSON.")


def explaining_options(said: str, without: str) -> Callable[..., Any]:
    """Returns a decorator with ``--explain`` (its help: ``said``) and ``--no-explain``
    (``without``)."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        plain = click.option("--no-explain", is_flag=True, help=without)
        explained = click.option(
            "--explain",
            "explaining",
            type=click.FloatRange(min=0.0),
            default=EXPLAIN,
            show_default=True,
            metavar="SECONDS",
            help=said,
        )
        return explained(plain(command))

    return decorate
