"""A step is a step: what keeps a promise keeps it whether or not the state is another one behind.

Specs in ``steps`` say what is expected; seeded random ones are compared by step size, engine and
reductions.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from checker.engines.options import Options
from checker.records import replace
from checker.results.answer import Limits
from checker.results.verdict import Report, Word
from checker.session.pipeline import run_check
from tests.finite_checks import finite_checks
from tests.selection import WHOLE, first_by_default

HERE = Path(__file__).parent / "steps"
CHECKS = [
    (path, name)
    for path in sorted(HERE.glob("*.bcast"))
    for name in finite_checks(path.read_text(encoding="utf-8"))
]
MODES = {
    "native": Options(threads=1, reduce="none"),
    "reduced": Options(threads=1, reduce="all"),
    "fine": Options(threads=1, fine_steps=True),
    "reference": Options(engine="reference"),
}


def words(report: Report) -> dict[str, Word]:
    """The verdicts, by the names of properties."""
    return {v.property: v.word for v in report.verdicts}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("path", "name"), CHECKS, ids=[f"{p.stem}-{c}" for p, c in CHECKS])
def test_what_is_expected_is_found(path: Path, name: str, mode: str) -> None:
    report = run_check(str(path), name, MODES[mode])
    assert report.expectations
    assert [e for e in report.expectations if not e.met] == []


def test_a_loop_of_one_step_is_shown_as_one() -> None:
    report = run_check(str(HERE / "choosing.bcast"), "skipped", MODES["native"])
    trace = report.verdicts[0].trace
    assert trace is not None and trace.closing is not None
    assert (trace.loop, trace.length, trace.ends) == (0, 1, False)


# ---- random specs -----------------------------------------------------------------------------

CONDITIONS = ("not h", "not b", "b", "h and not b", "c == 0", "c > 0", "true", "rank(self) == 1")
STATEMENTS = (
    "skip", "h := true", "b := true", "b := not b", "c := 0", "c := 1", "send M to self",
    "send M to Proc minus {self}", "if b { h := true }", "if flip() { h := true }",
)  # fmt: skip


def random_text(seed: int) -> str:
    """A protocol of conditions that may change nothing, and its verdict."""
    draw = random.Random(seed)

    def body(depth: int = 1) -> str:
        kind = draw.randrange(6)
        if kind == 0 and depth:
            return f"either {{ {body(0)} }} or {{ {body(0)} }}"
        if kind == 1:
            return "choose x in {0, 1}  c := x"
        return "  ".join(draw.sample(STATEMENTS, draw.choice((1, 1, 2))))

    handlers = [
        f"upon condition {draw.choice(CONDITIONS)} {{ {body()} }}"
        for _ in range(draw.randint(1, 3))
    ]
    receives = f"upon receive M {{ {body()} }}"
    links = draw.choice(("perfect", "stubborn", "fair_loss, bounded 1", "fifo, bounded 1"))
    faults = draw.choice(("", "", "  faults crash <= 1"))
    return "\n".join(
        [
            "protocol Random {",
            "  message M",
            "  state h = false",
            "  state b = false",
            "  state c : 0..1 = 0",
            *(f"  {handler}" for handler in [*handlers, receives]),
            '  property comes "It comes." : forall p in Proc: correct(p) => eventually p.h',
            '  property lasts "It lasts." : forall p in Proc: correct(p) => eventually always p.b',
            '  property again "It comes again." :',
            "    forall p in Proc: correct(p) => always eventually p.c == 0",
            "}",
            f"check c of Random {{ n = {draw.choice((1, 2))}  links {links}{faults}",
            "  allow unused  prove comes, lasts, again }",
        ]
    )


@pytest.mark.parametrize("shard", first_by_default(range(4), 1))
def test_random_specs_by_any_engine_and_step_size(shard: int, tmp_path: Path) -> None:
    decided, violated = 0, 0
    for seed in range(shard, 16, 4):
        path = tmp_path / f"random{seed}.bcast"
        path.write_text(random_text(seed), encoding="utf-8")
        found = {
            mode: run_check(str(path), "c", _limited(options)) for mode, options in MODES.items()
        }
        expected = found.pop("native")
        for mode, report in found.items():
            if expected.exhaustive and report.exhaustive:
                assert words(report) == words(expected), (seed, mode, path.read_text())
                decided += 1
                violated += Word.VIOLATED in words(report).values()
    assert decided and violated


def _limited(options: Options) -> Options:
    return replace(options, limits=Limits(max_states=3_000 if WHOLE else 1_000))
