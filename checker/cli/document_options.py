"""The options that say which documents a command writes, and how long it explains what it found."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

EXPLAIN = 5.0
"""Seconds."""

JSON_OUT = click.option(
    "--json", "json_out", metavar="FILE", help="Write the report as JSON; - is stdout, alone."
)
ITF_OUT = click.option("--itf-out", metavar="FILE", help="Write it in the Informal Trace Format.")
JUNIT_OUT = click.option(
    "--junit", "junit_out", metavar="FILE", help="Write the outcomes as JUnit XML, for CI systems."
)
SARIF_OUT = click.option(
    "--sarif", "sarif_out", metavar="FILE", help="Write what is wrong as SARIF, for code scanning."
)
HTML_OUT = click.option(
    "--html", "html_out", metavar="FILE", help="Write what is found about chance as a page."
)
GITHUB = click.option(
    "--github", "annotates", is_flag=True, help="Print what is wrong as annotations for GitHub."
)


_OUTPUTS = ("json_out", "trace_out", "itf_out", "junit_out", "sarif_out", "html_out", "annotates")


def writing_files(command: Callable[..., Any]) -> Callable[..., Any]:
    """Returns ``command`` with what the options of outputs say in one argument ``files``, a
    :class:`checker.cli.reporting.Files`; it stands below those options."""

    @functools.wraps(command)
    def gathered(**given: Any) -> Any:
        from checker.cli.reporting import Files

        named = {name: given.pop(name) for name in _OUTPUTS if name in given}
        return command(files=Files(**named), **given)

    return gathered


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
