"""Writes ``specs/manifest.json``: what each check of the library comes out as.

``python -m scripts.write_manifest [--seconds N] [FILE…]`` runs the checks of these files, or of
those that have no entry, and replaces their entries.  A check that takes more than ``SECONDS`` has
the verdicts that it expects, and no numbers; an entry that says more, and no other verdicts, stays,
and is named (exit code 1).  ``--seconds N`` is another limit.  ``--check`` runs nothing, and says
which checks have no entry, or entries no check.  The tests of the library hold every entry to what
they find.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checker import resources
from checker.cli.gallery_chapters import gallery_chapters
from checker.engines.options import Options
from checker.language.load import Spec, open_spec
from checker.proving.dispatch_check import answer_check
from checker.results.answer import Limits
from checker.results.verdict import Report
from checker.session.load import is_parametric

TARGET = resources.specs() / "manifest.json"
FORMAT = 1
SECONDS = 20.0
CLASSES = ((0.1, "instant"), (1.0, "seconds"), (10.0, "ten seconds"), (60.0, "a minute"))
"""Seconds of a search on one machine, and what an entry says of fewer; it is never compared."""
LONGER = "longer"
_MEETS = {"proved": "holds"}
"""The words that an expectation may have for a verdict beside its own."""
_HEADER = re.compile(
    r"^// (Source|Faults|Resilience|Look at|Model): +(.*(?:\n// {2,}.*)*)", re.MULTILINE
)


def files() -> list[Path]:
    """Returns the specs of the library that have checks, in order."""
    found = sorted(resources.specs().rglob("*.bcast"))
    return [path for path in found if path.parent.name != "interfaces"]


def facts_of(report: Report) -> dict[str, Any]:
    """Returns what an entry says that a test can compare: verdicts, and, where everything was
    explored, the numbers of states and levels of the search; ``steps``: of the runs found."""
    numbers = report.exhaustive and report.proof is None
    searched = report.verdicts if report.proof is None else ()
    return {
        "verdicts": {v.property: v.word.value for v in report.verdicts},
        "steps": {v.property: v.trace.length for v in searched if v.trace is not None},
        "states": report.distinct_states if numbers else None,
        "depth": report.depth if numbers else None,
    }


def entry_of(spec: Spec, name: str, report: Report | None) -> dict[str, Any]:
    """Returns the entry of a check: ``facts_of``, and what of the spec a reader looks for; without
    a report the verdicts that it expects, and ``None`` for what is not known."""
    check = next(check for check in spec.module.checks if check.name == name)
    path = Path(spec.path).relative_to(resources.specs())
    words = {e.what: e.value for e in check.expect if isinstance(e.value, str)}
    unknown = {"verdicts": words, "steps": None, "states": None, "depth": None}
    return {
        "protocol": check.protocol.name,
        "interface": check.protocol.implements.name if check.protocol.implements else None,
        "variant_of": check.protocol.variant.of if check.protocol.variant else None,
        **(facts_of(report) if report is not None else unknown),
        "seconds": seconds_class(report) if report is not None else LONGER,
        "ladder": ladder_of(path.as_posix(), name),
        "scenarios": [scenario.name for scenario in check.scenarios],
    }


def seconds_class(report: Report) -> str:
    """Returns how long the search or proof took, roughly."""
    seconds = report.proof.seconds if report.proof is not None else report.seconds
    return next((said for most, said in CLASSES if seconds < most), LONGER)


def ladder_of(file: str, check: str) -> dict[str, str] | None:
    """Returns the ladder that a check is a rung of, and the rule that it lacks."""
    for ladder in gallery_chapters().ladders:
        for rung in ladder.rungs:
            if (rung.file, rung.check) == (file, check):
                return {"title": ladder.title, "lacks": rung.rule}
    return None


def header_of(path: Path) -> dict[str, str]:
    """Returns what the first comment of a spec says: its title and its fields."""
    text = path.read_text(encoding="utf-8")
    title = re.match(r"((?://.*\n)+?)(?://\n|(?!//))", text)
    said = " ".join(re.sub(r"^// ?", "", title[1], flags=re.MULTILINE).split()) if title else ""
    fields = {
        name.lower().replace(" ", "_"): " ".join(re.sub(r"\n//", " ", value).split())
        for name, value in _HEADER.findall(text)
    }
    return {"title": said, **fields}


def kept(known: dict[str, Any] | None, undecided: dict[str, Any]) -> bool:
    """Whether the entry ``known`` of a check says all of ``undecided``, what is written of it where
    its run ended early, and more: numbers, or that something was proved."""
    if known is None or (known["verdicts"] == undecided["verdicts"] and known["states"] is None):
        return False
    found = {name: _MEETS.get(word, word) for name, word in known["verdicts"].items()}
    same = all(known[key] == undecided[key] for key in ("protocol", "interface", "variant_of"))
    return same and undecided["verdicts"].items() <= found.items()


def run(spec: Spec, name: str, seconds: float = SECONDS) -> Report | None:
    """Returns the report on a check, as `check` finds it by default; ``None`` where that takes too
    long."""
    limits = Limits(timeout=seconds)
    engine = "auto" if is_parametric(spec, name, {}) else "native"
    report = answer_check(spec, name, Options(engine=engine, limits=limits))
    return None if report.exit_code else report


def read_manifest() -> dict[str, Any]:
    """Returns the manifest as it is; an empty one where there is none."""
    if not TARGET.is_file():
        return {"format": FORMAT, "kind": "bivalence library", "files": {}}
    return dict(json.loads(TARGET.read_text(encoding="utf-8")))


def problems(manifest: dict[str, Any]) -> Iterator[str]:
    """Yields which checks have no entry, which entries no check, and which headers differ."""
    there = {path.relative_to(resources.specs()).as_posix(): path for path in files()}
    for file in manifest["files"].keys() - there.keys():
        yield f"{file}: there is no such file"
    for file, path in there.items():
        known = manifest["files"].get(file, {"checks": {}})
        if {k: v for k, v in known.items() if k != "checks"} != header_of(path):
            yield f"{file}: its header is another one"
        names = set(open_spec(path).names)
        for name in sorted(names ^ known["checks"].keys()):
            yield f"{file}::{name}: {'has no entry' if name in names else 'there is no such check'}"


def write(paths: list[Path], seconds: float) -> list[str]:
    """Runs the checks of ``paths`` and writes their entries, file by file.

    Returns the checks whose entries stay, since nothing as good was found in ``seconds``.
    """
    manifest = read_manifest()
    stay = list[str]()
    for path in paths:
        spec = open_spec(path)
        file = path.relative_to(resources.specs()).as_posix()
        before = manifest["files"].get(file, {}).get("checks", {})
        checks = {}
        for name in spec.names:
            report = run(spec, name, seconds)
            checks[name] = entry_of(spec, name, report)
            if report is None and kept(before.get(name), checks[name]):
                checks[name] = before[name]
                stay.append(f"{file}::{name}: not decided in {seconds:g} s; its entry stays")
        manifest["files"][file] = {**header_of(path), "checks": checks}
        manifest["files"] = dict(sorted(manifest["files"].items()))
        text = json.dumps(manifest, indent=1, ensure_ascii=False)
        TARGET.write_text(f"{text}\n", encoding="utf-8")
        print(file, *(f"{name}:{entry['seconds']}" for name, entry in checks.items()), flush=True)
    return stay


def main(words: list[str]) -> int:
    """Runs the script; returns its exit code."""
    if words == ["--check"]:
        found = [*problems(read_manifest())]
        print(*found, sep="\n")
        return 1 if found else 0
    seconds = SECONDS
    if words[:1] == ["--seconds"]:
        seconds, words = float(words[1]), words[2:]
    known = read_manifest()["files"]
    missing = [f for f in files() if f.relative_to(resources.specs()).as_posix() not in known]
    stay = write([Path(word).resolve() for word in words] or missing, seconds)
    print(*stay, sep="\n")
    return 1 if stay else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
