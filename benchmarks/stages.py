"""One pass over checks of the library: the processor time of each stage before the search.

This is a process of its own, started by :mod:`benchmarks.planning`, so that it can have the tool
of another checkout: what is imported is the ``checker`` of the folder that it is run in.
"""

from __future__ import annotations

import gc
import hashlib
import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from checker.records import fields, is_record

sys.path.insert(0, str(Path.cwd()))

from checker.engines.native.codegen.image import build
from checker.engines.native.codegen.jit import Effort, compile_image
from checker.instantiate.assemble import instantiate
from checker.instantiate.capacity_estimation import estimate_capacities
from checker.instantiate.instantiated import Instantiated
from checker.model.ir import TransitionSystem
from checker.model.memo import a_run
from checker.properties.formula import ask
from checker.reductions.choose import VERDICTS, choose
from checker.reductions.reduction_plan import ReductionPlan
from checker.resources import specs
from checker.results.answer import Unsupported
from checker.session.load import load_check
from tests.agreement.alike import Alike
from tests.agreement.generator import Generator
from tests.agreement.keeping import Keeping
from tests.finite_checks import finite_checks
from tests.properties.test_buchi_automaton import random_formula

R = TypeVar("R")
MODES = ("auto", "all")
RANDOM = 200
"""Random systems of which the plans are compared, too."""


def plain(value: Any) -> Any:
    """``value`` as nested lists: equal values give equal text, in every process."""
    if isinstance(value, frozenset | set):
        return ["set", *sorted((plain(one) for one in value), key=repr)]
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    if is_record(value):
        return [type(value).__name__, *(plain(getattr(value, f.name)) for f in fields(value))]
    return repr(value)


def digest(value: Any) -> str:
    return hashlib.sha256(repr(plain(value)).encode()).hexdigest()[:20]


def plans_of(system: TransitionSystem) -> str:
    return digest([choose(system, mode, VERDICTS) for mode in MODES])


def random_system(seed: int) -> TransitionSystem:
    """A small system of one of the generators of the agreement tests."""
    draw = random.Random(seed)
    formula = random_formula(draw, 3) if seed % 2 else None
    return (Alike, Generator, Keeping)[seed % 3](draw.randrange).system(formula)


def checks(every: int) -> Iterator[tuple[Path, str]]:
    found = [
        (path, name)
        for path in sorted(specs().rglob("*.bcast"))
        for name in finite_checks(path.read_text(encoding="utf-8"))
    ]
    yield from found[::every]


def timed(stage: Callable[[], R]) -> tuple[float, R]:
    gc.collect()
    begun = time.process_time()
    made = stage()
    return time.process_time() - begun, made


def instantiated(check: Any) -> Instantiated:
    return estimate_capacities(lambda sizes: instantiate(check, {}, ask, capacities=sizes))


def machine_code(system: TransitionSystem, plan: ReductionPlan) -> dict[str, float]:
    """Seconds for the LLVM of a system, and for its first machine code; none where it is too large
    for them."""
    try:
        generating, image = timed(lambda: build(system, plan))
    except Unsupported:
        return {}
    compiling, _ = timed(lambda: compile_image(image, Effort.QUICK, cache=False))
    return {"generate": generating, "compile": compiling}


def one_pass(every: int, digests: bool) -> dict[str, Any]:
    """By the name of the check: seconds of the processor by stage, and the digest of its plans."""
    found: dict[str, Any] = {}
    for path, name in checks(every):
        with a_run():
            loading, check = timed(lambda p=path, n=name: load_check(str(p), n, {}))
            making, made = timed(lambda c=check: instantiated(c))
            planning, plan = timed(lambda m=made: choose(m.system, "auto", VERDICTS))
            row = {"load": loading, "instantiate": making, "plan": planning}
            if digests:
                row["digest"] = plans_of(made.system)
            row |= machine_code(made.system, plan)
        found[f"{path.parent.name}/{path.stem} {name}"] = row
    if digests:
        for seed in range(RANDOM):
            found[f"random {seed}"] = {"digest": plans_of(random_system(seed))}
    return found


if __name__ == "__main__":
    json.dump(one_pass(int(sys.argv[1]), sys.argv[2] == "digests"), sys.stdout)
