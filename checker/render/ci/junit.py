"""Reports as JUnit XML, which CI systems show: a check is a suite, each thing it asks a case."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from xml.etree import ElementTree as Xml

from checker.diagnostics.visible import xml_text
from checker.render.ci.outcomes import NOWHERE, NotRun, Outcome, Places, outcomes_of
from checker.results.verdict import Report


def junit_of(found: Sequence[Report | NotRun], places: Places = NOWHERE) -> str:
    """Returns the document: ``testsuites`` of one ``testsuite`` for each check.

    What is not as expected is a ``failure``, with the picture of the execution as its text; what
    could not be decided is an ``error``. Times are seconds. Attributes are those of the schema that
    Jenkins and GitLab read.
    """
    root = Xml.Element("testsuites", name="bivalence")
    for (file, check), group in groupby(outcomes_of(found, places), lambda o: (o.file, o.check)):
        outcomes = list(group)
        suite = Xml.SubElement(root, "testsuite", {"name": _name(file, check), **_totals(outcomes)})
        for outcome in outcomes:
            _case(suite, outcome)
    for key, value in _totals(outcomes_of(found, places)).items():
        root.set(key, value)
    Xml.indent(root)
    text = Xml.tostring(root, encoding="unicode", xml_declaration=False)
    return xml_text(text) + "\n"


def _name(file: str, check: str) -> str:
    return f"{file}::{check}" if check else file


def _totals(outcomes: Sequence[Outcome]) -> dict[str, str]:
    errors = sum(outcome.undecided for outcome in outcomes)
    wrong = sum(not outcome.met for outcome in outcomes)
    return {
        "tests": str(len(outcomes)),
        "failures": str(wrong - errors),
        "errors": str(errors),
        "time": f"{sum(outcome.seconds for outcome in outcomes):.3f}",
    }


def _case(suite: Xml.Element, outcome: Outcome) -> None:
    place = outcome.place
    case = Xml.SubElement(
        suite,
        "testcase",
        classname=_name(outcome.file, outcome.check),
        name=outcome.label,
        file=place.file,
        line=str(place.line),
        time=f"{outcome.seconds:.3f}",
    )
    if outcome.met:
        if said := "\n".join(part for part in (outcome.said, outcome.from_where) if part):
            Xml.SubElement(case, "system-out").text = said
        return
    kind = "error" if outcome.undecided else "failure"
    wrong = Xml.SubElement(case, kind, message=outcome.said, type=kind)
    wrong.text = "\n".join(part for part in (outcome.text, outcome.from_where) if part)
