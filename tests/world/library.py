"""The checks of the library, judged by the tool and by the second definition.

``python -m tests.world.library [FILE or FILE::CHECK …]`` prints a line for each check; returns 1 if
the two differ anywhere.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from checker.diagnostics import SpecError
from checker.language.syntax import typed
from checker.results.verdict import Word
from checker.session.exploring import explore_once
from checker.session.load import load_check
from checker.session.pipeline import run_loaded
from scripts.named_checks import named_checks
from tests.world.compare import Disagreement, differences, options
from tests.world.formulas import verdict
from tests.world.judge import Graph, TooMany, Verdict, explore
from tests.world.observed import Counts, names_of, of_the_definition, of_the_tool
from tests.world.reading import Reader, spec_of
from tests.world.values import Unsupported

SPECS = Path(__file__).parents[2] / "specs"
STATES = 3000
SMALL = 500
"""A check of fewer states is searched in less time than machine code takes to compile."""


@dataclass
class Compared:
    """What was compared of a check: its properties, the ``states`` of the definition, where both
    differ, what is ``observed``; and ``reasons`` why something was not compared."""

    name: str
    states: int = 0
    observed: Counts | None = None
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    different: list[Disagreement] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    @property
    def line(self) -> str:
        parts = [f"{len(self.verdicts)} verdicts, {self.states} states"] * bool(self.verdicts)
        if self.observed is not None:
            parts.append("{} observed, {} of them ends".format(*self.observed))
        parts += [f"DIFFERENT {d.question}: {d.defined} / {d.said}" for d in self.different]
        return f"{self.name}: {'; '.join([*parts, *self.reasons])}"


def compared(file: str, name: str, most: int = STATES) -> Compared:
    """Compares a check of which the definition sees so many states at ``most``."""
    found = Compared(f"{Path(file).name}::{name}")
    try:
        compare(file, load_check(file, name, {}), most, found)
    except TooMany:
        found.reasons.append(f"more than {most} states")
    except Unsupported as error:
        found.reasons.append(str(error))
    except AssertionError as error:
        found.reasons.append(str(error) or "a statement where the definition expects none")
    except (IndexError, KeyError, ValueError, RecursionError) as error:
        found.reasons.append(f"an error of the definition: {type(error).__name__}")
    except SpecError as error:
        found.reasons.append(f"an error of the tool: {error.diagnostics[0].code}")
    return found


def compare(file: str, check: typed.Check, most: int, found: Compared) -> None:
    """Adds to ``found`` what both say of ``check``."""
    graph = explore(spec_of(check), most)
    found.states = len(graph.states)
    judged(graph, check, found)
    if not check.prove:
        found.reasons.append("nothing but chance is asked")
    if found.verdicts:
        mode = "reference plain" if found.states < SMALL else "native plain"
        report = run_loaded(file, check, options(mode))
        answer = {
            v.property: (v.word, None if v.trace is None else v.trace.length)
            for v in report.verdicts
        }
        for each in [n for n in found.verdicts if answer[n][0] is Word.UNKNOWN]:
            del found.verdicts[each]
            found.reasons.append("the tool does not decide it")
        found.different = differences(graph, found.verdicts, {mode: answer})
    if found.states < SMALL:
        count_observed(graph, check, found)


def count_observed(graph: Graph, check: typed.Check, found: Compared) -> None:
    """Compares what can be seen in the states of both, and in their ends."""
    system = explore_once(check, options("reference plain"), None, None)[0].system
    if names := names_of(check, system):
        found.observed = of_the_definition(graph, names.values())
        told = of_the_tool(system, names)
        if told != found.observed:
            found.different.append(
                Disagreement("observed states, ends", "reference", found.observed, told)
            )


def judged(graph: Graph, check: typed.Check, found: Compared) -> None:
    """Adds the verdicts of the definition."""
    for asked in check.prove:
        try:
            found.verdicts[asked.name] = verdict(graph, Reader(check), asked)
        except Unsupported as error:
            found.reasons.append(str(error))


def summary(found: list[Compared]) -> str:
    """What was compared, and why something was not."""
    reasons = Counter(reason for one in found for reason in one.reasons)
    both = [one for one in found if one.verdicts]
    return "\n".join(
        (
            f"{len(found)} checks, {len(both)} compared, "
            f"{sum(bool(one.different) for one in found)} differ; "
            f"{sum(len(one.verdicts) for one in both)} verdicts, "
            f"{sum(v.violated for one in both for v in one.verdicts.values())} of them violated; "
            f"{sum(one.observed is not None for one in found)} numbers of observed states and ends",
            *(f"not compared: {times} x {reason}" for reason, times in reasons.most_common()),
        )
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="library", description=__doc__)
    parser.add_argument("paths", nargs="*", default=[str(SPECS)], help="FILE, FILE::CHECK, folder")
    parser.add_argument("--states", type=int, default=STATES, help="skip checks with more")
    parser.add_argument("--part", default="1/1", help="as 2/5: the second fifth of the checks")
    given = parser.parse_args()
    part, parts = map(int, given.part.split("/"))
    found = list[Compared]()
    for file, check in islice(named_checks(given.paths), part - 1, None, parts):
        found.append(compared(file, check, given.states))
        print(found[-1].line, flush=True)
    print(summary(found))
    return int(any(one.different for one in found))


if __name__ == "__main__":
    sys.exit(main())
