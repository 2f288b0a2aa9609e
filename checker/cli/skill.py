"""``bivalence skill install``: puts the skill where assistants look for it."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import click

from checker.cli import console

SKILL = "bivalence-specs"
FILE = "SKILL.md"
MARK = "<!-- bivalence skill install: "
"""The beginning of the last line of a file that was installed; the digest of the rest follows."""
HERE = {"claude": ".claude"}
"""The folders of projects, by assistant; all others read ``.agents``."""
USER = {
    "claude": ".claude",
    "codex": ".codex",
    "cursor": ".cursor",
    "gemini": ".gemini",
    "copilot": ".copilot",
}
"""The folders below a user's home."""
SHARED = ".agents"


@click.group()
def skill() -> None:
    """Install the skill for assistants."""


@skill.command("install")
@click.option(
    "--for",
    "whose",
    type=click.Choice(sorted(USER)),
    multiple=True,
    help="Assistant (repeatable; default: all that read a project, or all with a folder).",
)
@click.option("--user", is_flag=True, help="Install for this user, not for the current folder.")
@click.option("--agents", is_flag=True, help="Also add five lines to AGENTS.md.")
@click.option("--mcp", is_flag=True, help="Print entries for the server instead; write nothing.")
def install(whose: tuple[str, ...], user: bool, agents: bool, mcp: bool) -> int:
    """Write the skill where assistants look for it.

    In the current folder: .agents/skills (most assistants) and .claude/skills. A copy that was
    edited is never replaced.
    """
    if mcp:
        console.print_line(entries())
        return 0
    for folder in _folders(whose, user):
        _install(folder / "skills" / SKILL / FILE)
    if agents:
        _add_to_agents(Path("AGENTS.md"))
    return 0


def _folders(whose: tuple[str, ...], user: bool) -> list[Path]:
    """Returns the folders of assistants to write to."""
    if user:
        home = Path.home()
        chosen = whose or [name for name, folder in USER.items() if (home / folder).is_dir()]
        if not chosen:
            raise click.UsageError("--user: no assistant has a folder there; name one with --for")
        return [home / USER[name] for name in chosen]
    return [*dict.fromkeys(Path(HERE.get(name, SHARED)) for name in whose or ("codex", "claude"))]


def marked(text: str) -> str:
    """Returns the text of a skill with the line by which a later install knows it."""
    return f"{text}\n{MARK}{hashlib.sha256(text.encode()).hexdigest()[:16]} -->\n"


def is_unedited(text: str) -> bool:
    """Returns whether a text is one that :func:`marked` has returned."""
    own, mark, _ = text.rpartition(f"\n{MARK}")
    return bool(mark) and text == marked(own)


def _install(path: Path) -> None:
    from checker import resources
    from checker.diagnostics import Diagnostic, SpecError

    text = marked((resources.documents() / "skill" / FILE).read_text(encoding="utf-8"))
    try:
        before = path.read_text(encoding="utf-8") if os.path.lexists(path) else None
        if before == text:
            console.print_line(f"{path} is up to date")
            return
        if before is not None and (path.is_symlink() or not is_unedited(before)):
            message, hint = f"{path} was edited, and is kept", "move it aside, then install again"
            raise SpecError((Diagnostic("E167", message, hint=hint),))
        _require_no_links(path.parent)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except (OSError, UnicodeDecodeError) as why:
        reason = getattr(why, "strerror", None) or "it is not UTF-8"
        raise SpecError((Diagnostic("E168", f"can't write {path}: {reason}"),)) from None
    console.print_line(f"{'updated' if before is not None else 'wrote'} {path}")


def _require_no_links(folder: Path) -> None:
    """Raises ``OSError`` where a folder of the skill is a link, which may lead anywhere."""
    for each in (folder, folder.parent):
        if each.is_symlink():
            raise OSError(0, f"{each} is a link")


def _add_to_agents(path: Path) -> None:
    """Adds what ``AGENTS.md`` should say of specs, if it does not say it."""
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    if AGENTS in before:
        return
    path.write_text(f"{before.rstrip()}\n\n{AGENTS}".lstrip(), encoding="utf-8")
    console.print_line(f"added to {path}")


AGENTS = f"""\
## Specs of protocols (*.bcast)

- Follow the skill `{SKILL}`.
- Run `bivalence check FILE`, or the tool `check`, after every change.
- Never report `unknown` or `vacuous` as a success, or weaken a property to make it hold.
"""


def entries() -> str:
    """Returns the entries of the server for clients, each with the file that it belongs to."""
    from checker.engines.python_children import command

    program, *words = command("mcp", "--root", ".")
    server = {"command": program, "args": words}
    servers = json.dumps({"mcpServers": {"bivalence": server}}, indent=2)
    code = json.dumps({"servers": {"bivalence": {"type": "stdio", **server}}}, indent=2)
    toml = f"[mcp_servers.bivalence]\ncommand = {json.dumps(program)}\nargs = {json.dumps(words)}"
    parts = {
        ".mcp.json, .cursor/mcp.json": servers,
        ".vscode/mcp.json": code,
        "~/.codex/config.toml": f"{toml}\ntool_timeout_sec = 60",
    }
    return "\n\n".join(f"{file}\n\n{text}" for file, text in parts.items())
