"""A file may have any name that the system allows: every command and every output can say it."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from checker.cli.commands import cli
from checker.cli.main import main
from tests.cli.test_files_beside import EVENTS, LOG, SPEC
from tests.parametric.threshold_texts import BROADCAST
from tests.selection import first_by_default

BYTES = os.fsdecode(b"caf\xe9")
"""In Latin-1."""
NAMES = (BYTES, "a\x1b[2J", "a\nb", 'a&<b>"', "\u202eb", "naïve 数", "-", "%41 #?")
BUDGET = ("--timeout", "20")
COMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "check": (
        ("{spec}", *BUDGET, "--junit", "{out}.xml", "--sarif", "{out}.sarif", "--github"),
        ("{spec}", *BUDGET, "--json", "{out}.json", "--itf-out", "{out}.itf.json"),
        ("{spec}", *BUDGET, "--json", "-"),
        ("{spec}::violated", *BUDGET, "--states-out", "{out}.states", "--coverage", "--steps"),
        ("{spec}::violated", *BUDGET, "--checkpoint", "{out}.run", "--keep", "--cache"),
        ("{spec}::lacking",),
        ("{wrong}", "--junit", "{out}.xml", "--sarif", "{out}.sarif", "--json", "{out}.json"),
    ),
    "test": (
        ("{spec}", *BUDGET, "--junit", "{out}.xml", "--sarif", "{out}.sarif", "--github"),
        ("{wrong}", "--junit", "{out}.xml", "--sarif", "{out}.sarif", "--github"),
        ("{bad}", *BUDGET, "--junit", "{out}.xml", "--sarif", "{out}.sarif", "--github"),
    ),
    "sweep": (
        (
            "{spec}::violated",
            "--grid",
            "n=1..2",
            "--jobs",
            "1",
            "--out",
            "{out}",
            "--traces",
            "{out}.t",
        ),
        ("{spec}::violated", "--grid", "n=1..2", "--jobs", "1", "--json", "{out}.json"),
    ),
    "gallery": (("{out}.pages", "{spec}", "--jobs", "1"),),
    "prove": (("{spec}::twice", "--budget", "2", "--json", "{out}.json"),),
    "bench": (("threshold", "{automata}"),),
    "valence": (
        (
            "{spec}::violated",
            "--of",
            "{{ p.x for p in Proc }}",
            "--html",
            "{out}.html",
            "--json",
            "{out}.json",
        ),
    ),
    "simulate": (("{spec}::violated", "--walks", "5", "--json", "{out}.json"),),
    "test-cases": (("{spec}::violated", "--out", "{out}.cases"),),
    "show": (("{spec}",), ("{spec}::violated", "--system")),
    "fmt": (("--check", "{spec}"), ("--check", "{wrong}")),
    "conform": (("{spec}::violated", "{log}", "--json", "{out}.json", "--html", "{out}.html"),),
    "monitor": (
        ("{spec}::violated", "{log}", "--mapping", "{names}", "--once", "--json", "{out}.jsonl"),
    ),
    "audit": (("{events}", "--as", "BestEffortBroadcast", "--json", "{out}.json"),),
    "judge": (("{history}", "--as", "Register", "--json", "{out}.json"),),
    "view": (("{trace}",), ("{trace}", "--steps", "--source"), ("{trace}", "--html", "{out}.html")),
    "explain": (("{trace}", "--budget", "1"),),
    "replay": (("{trace}",),),
    "scenario": (("{trace}",),),
    "mutate": (("{spec}", "--sample", "1", "--jobs", "1"),),
    "assumptions": (
        ("{spec}::violated", "--jobs", "1", "--html", "{out}.html", "--json", "{out}.json"),
    ),
    "frontier": (
        ("{spec}::violated", "--over", "crash=0..0", "--jobs", "1", "--html", "{out}.html"),
    ),
    "fill": (("{spec}", "--jobs", "1", "--json", "{out}.json"),),
    "export": tuple(
        ("{trace}", "--to", each, "--output", "{out}.x")
        for each in ("csv", "itf", "json", "mermaid", "shiviz", "svg")
    ),
}
"""What each command that takes files is called with."""
HISTORY = "{:process 0, :type :invoke, :f :write, :value 1}\n"
HISTORY += "{:process 0, :type :ok, :f :write, :value 1}\n"

WITHOUT = {"daemon", "diagnostic", "docs", "doctor", "list", "schema", "skill"}
INTERACTIVE = {"explore", "lsp", "mcp", "watch"}
WRONG = SPEC.replace("p.x <=", "p.y <=")
BAD = SPEC + "check holds of Counter { n = 1 prove small }\n"


def test_every_command_is_here() -> None:
    assert {*COMMANDS} | WITHOUT | INTERACTIVE == {*cli.commands}


@pytest.fixture(params=first_by_default(NAMES, 1), ids=ascii)
def names(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """Files of that name, by what is in them; the trace names the spec by its path."""
    stem: str = request.param
    texts = {
        "spec": (SPEC, ".bcast"), "wrong": (WRONG, "w.bcast"), "bad": (BAD, "b.bcast"),
        "log": (LOG, ".ndjson"), "events": (EVENTS, "e.ndjson"),
        "history": (HISTORY, "h.edn"), "names": ('logged = ["handler"]\n', "n.toml"),
    }  # fmt: skip
    monkeypatch.chdir(tmp_path)
    found = {"out": f"./{stem}.out", "trace": f"./{stem}.trace", "automata": f"./{stem}.d"}
    Path(found["automata"]).mkdir()
    Path(found["automata"], f"{stem}.ta").write_text(BROADCAST, "utf-8")
    for key, (text, suffix) in texts.items():
        Path(stem + suffix).write_text(text, "utf-8")
        found[key] = f"./{stem}{suffix}"
    main(["check", f"{found['spec']}::violated", "--quiet", "--trace-out", found["trace"]])
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_any_name_can_be_said(
    command: str, names: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    for words in COMMANDS[command]:
        given = [command, *(word.format(**names) for word in words)]
        code = main(given)
        out, err = capfd.readouterr()
        assert code in (0, 1, 2, 3, 4) and "Traceback" not in err, (given, err)
        assert "no JSON" not in err, (given, err)
        assert (code == 2) <= bool("wrong" in str(words) or "lacking" in str(words)), (given, err)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", out + err), given
        require_readable(Path(), given)


def require_readable(folder: Path, given: list[str]) -> None:
    """All documents that were written are what they are called; they are removed."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif ".out" in path.name:
            text = "" if path.name.endswith(".out") else path.read_text("utf-8")
            if path.suffix == ".xml":
                Xml.fromstring(text)
            elif path.suffix in (".json", ".sarif"):
                json.loads(text)
            path.unlink()
