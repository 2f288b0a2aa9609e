"""Pages of the site's reference that follow from the code: commands with their options, from click,
and the documents that the tool writes, from their schemas.

``docs/conf.py`` writes them when the site is built.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from checker.cli.commands import cli
from checker.cli.option_groups import GROUPS, OUTPUT, group_of
from checker.cli.schema import DOCUMENTS, schema_of

Schema = Mapping[str, Any]


def write_page(folder: Path, name: str, lines: Sequence[str]) -> None:
    """Writes a page of Markdown."""
    (folder / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def index(title: str, text: str, names: Sequence[str]) -> list[str]:
    """Returns the lines of a page that lists others, with a ``text`` in front."""
    return [f"# {title}", "", text, "", "```{toctree}", ":maxdepth: 1", "", *names, "```"]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns the lines of a table; bars within cells are escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


# ---- commands ---------------------------------------------------------------------------------


def write_commands(folder: Path) -> None:
    """Writes a page for each command, and one that lists them."""
    folder.mkdir(parents=True)
    for name, command in cli.commands.items():
        write_page(folder, name, command_page(name, command))
    text = (
        "With all options, as `--help` prints them; what for, tells [commands](../../commands.md)."
    )
    write_page(folder, "index", index("All commands and options", text, [*cli.commands]))


def command_page(name: str, command: click.Command) -> list[str]:
    """Returns the lines of the page of a command: how it is called, what it does, its options in
    their groups."""
    context = click.Context(command, info_name=f"bivalence {name}", max_content_width=100)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    lines = [f"# {name}", "", "```text", usage, "```", "", *paragraphs(command.help or "")]
    groups: dict[str, list[str]] = {title: [] for title in (*GROUPS, OUTPUT)}
    for option in command.get_params(context):
        record = option.get_help_record(context)
        if record is not None:
            about = prose(record[1]) or "Not said."
            groups[group_of(option)] += [f"`{record[0]}`", f": {about}", ""]
    for title, options in groups.items():
        if options:
            lines += [f"## {title}", "", *options]
    return lines


def paragraphs(text: str) -> Iterator[str]:
    """Yields the lines of a docstring: paragraphs, and what is to be kept as it is (``\\b``) as a
    block of code."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if paragraph.startswith("\b"):
            yield from ("```text", *paragraph.splitlines()[1:], "```", "")
        else:
            yield from (prose(" ".join(paragraph.split())), "")


def prose(text: str) -> str:
    """Returns text in which nothing is taken for markup, but for options, and for what stands in
    backticks."""
    parts = re.split(r"(`[^`]*`|--\w[\w-]*)", text)
    for at, part in enumerate(parts):
        if part.startswith("--"):
            parts[at] = f"`{part}`"
        elif not part.startswith("`"):
            parts[at] = re.sub(r"[\\*_<\[`]", r"\\\g<0>", part)
    return "".join(parts)


# ---- documents --------------------------------------------------------------------------------


def write_formats(folder: Path) -> None:
    """Writes a page for each schema, and one that lists them."""
    folder.mkdir(parents=True)
    names = sorted(DOCUMENTS)
    for name in names:
        write_page(folder, name, format_page(name, schema_of(name)))
    text = (
        "The documents that `--json` and `--trace-out` write, record by record. `bivalence"
        " schema` prints their schemas, and tests hold what is written to them."
    )
    write_page(folder, "index", index("Formats of documents", text, names))


def format_page(name: str, schema: Schema) -> list[str]:
    """Returns the lines of the page of the documents called ``name``, which have a schema."""
    said = f"`bivalence schema {name}` prints the schema, `{schema['$id']}`."
    lines = [f"# {prose(schema['title'])}", "", said, ""]
    if "properties" in schema:
        lines += record(schema)
    else:
        lines += [f"A document is {either(schema['oneOf'])}.", ""]
    for name, part in schema["$defs"].items():
        lines += [f"## {name}", "", *record(part)]
    return lines


def record(schema: Schema) -> Iterator[str]:
    """Yields the lines about the objects of a schema: what they are, and a table of their keys."""
    about = schema.get("description") or schema.get("title", "")
    yield from (prose(about), "")
    required = schema.get("required", [])
    rows = [
        [f"`{key}`", kind(part) + ("" if key in required else "; may be missing")]
        for key, part in schema["properties"].items()
    ]
    if rows:
        yield from (*table(["key", "value"], rows), "")


def kind(schema: Schema) -> str:
    """Returns what the values of a schema are, in words."""
    match schema:
        case {"$ref": str(target)} if target.startswith("#/$defs/"):
            name = target.removeprefix("#/$defs/")
            return f"[{name}](#{name.lower()})"
        case {"$ref": target}:
            return f"`{target}`"
        case {"const": value}:
            return f"`{json.dumps(value)}`"
        case {"enum": values}:
            return " or ".join(f"`{json.dumps(value)}`" for value in values)
        case {"anyOf": parts} | {"oneOf": parts}:
            return either(parts)
        case {"type": "array", "items": items}:
            return f"a list, each item {kind(items)}"
        case {"type": "object", "properties": properties}:
            return "an object: " + ", ".join(f"`{k}` {kind(v)}" for k, v in properties.items())
        case {"type": "object", "additionalProperties": {} as values}:
            return f"an object, each value {kind(values)}"
        case {"type": list(kinds)}:
            return " or ".join(kinds)
        case {"type": name}:
            return str(name) + "".join(
                f" {sign} {schema[word]}"
                for word, sign in (("minimum", "≥"), ("maximum", "≤"))
                if word in schema
            )
    return "any value"


def either(parts: Sequence[Schema]) -> str:
    """Returns what a value of one of several schemas is."""
    return " or ".join(kind(part) for part in parts)
