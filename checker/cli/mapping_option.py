"""The option that names a mapping, of all commands that read logs."""

from __future__ import annotations

import click

MAPPING = click.option(
    "--mapping",
    "--map",
    "mapping",
    metavar="FILE",
    help="Mapping of the log's names and values (TOML, docs/logs.md).",
)
