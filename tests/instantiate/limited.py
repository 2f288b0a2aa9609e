"""Specs whose phases take longer than anybody waits, and what they are asked with."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from checker.engines.options import Options
from checker.polling import poll
from checker.results.answer import Limits
from checker.results.verdict import Report
from checker.session.pipeline import run_check

SOON = 20.0
"""Seconds in which something ends whose time is one second."""

LONG_HANDLER = """\
protocol P {
  state x : 0..1000000000 = 0
  upon condition true {
    while some v in (0..1) when x < 1000000000 { x := x + 1 }
  }
  property q "always" : always true
}
check c of P { n = 1  prove q }
"""

MANY_STARTS = """\
protocol P {
  state x : set<0..30> = {}
  init choose x
  upon condition true { x := {} }
  property q "always" : always true
}
check c of P { n = 4  prove q }
"""

LONG_GUARD = """\
protocol P {
  state x : 0..3 = 0
  upon condition x < 3 and exists s in subsets((0..60)): 99 in s { x := x + 1 }
  property q "always" : always true
}
check c of P { n = 1  prove q }
"""

LONG_PROPERTY = """\
protocol P {
  state x : 0..3 = 0
  upon condition x < 3 { x := x + 1 }
  property q "always" : always forall p in Proc: not (exists s in subsets((0..60)): p.x + 90 in s)
}
check c of P { n = 1  prove q }
"""

MANY_STEPS = """\
protocol P {
  state x : set<0..30> = {}
  upon condition true {
    choose v in subsets((0..30))
    x := v
  }
  property q "always" : always true
}
check c of P { n = 1  prove q }
"""

SLOW = {
    "handler": LONG_HANDLER,
    "initial states": MANY_STARTS,
    "guard": LONG_GUARD,
    "property": LONG_PROPERTY,
}

SHORT = """\
protocol P {
  state x : 0..3 = 0
  upon condition x < 3 { x := x + 1 }
  property low "low" : always forall p in Proc: p.x < 2
  property q "always" : always true
}
check c of P { n = 2  expect low violated  prove q }
"""


def written(spec: str, folder: Path) -> str:
    """The path of a file with ``spec``, whose check is ``c``."""
    path = folder / "p.bcast"
    path.write_text(spec)
    return str(path)


def asked(
    spec: str, folder: Path, engine: str = "native", *, fine: bool = False, **limits: Any
) -> Report:
    """The report on check ``c`` of ``spec`` within ``limits``."""
    options = Options(
        engine=engine, threads=1, limits=Limits(**limits), explain=1.0, fine_steps=fine
    )
    return run_check(written(spec, folder), "c", options)


@contextmanager
def soon() -> Iterator[None]:
    """What is done in the block is over within :data:`SOON`."""
    started = time.monotonic()
    yield
    assert time.monotonic() - started < SOON


@contextmanager
def interrupting(after: float | None = 1.0) -> Iterator[None]:
    """Somebody presses Ctrl-C, so many seconds later; ``None``: nobody does."""
    if after is None:
        yield
        return
    timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        with suppress(KeyboardInterrupt):  # it was on its way
            timer.join()


def for_ever(*_: Any, **__: Any) -> Any:
    """What Python does without end, and polls meanwhile."""
    while True:
        poll()
        sum(range(100))


def for_long(*_: Any, **__: Any) -> Any:
    """What can't be ended, as a compiler, ends some time."""
    time.sleep(3.0)
    raise RuntimeError("nobody waits for this")


def greedy(*_: Any, **__: Any) -> Any:
    """What wants more memory than any test allows, and ends where nobody ends it."""
    kept: list[bytes] = []
    for _ in range(1000):
        poll()
        kept.append(b"x" * (1 << 20))
        time.sleep(0.005)
    raise AssertionError("no memory limit was in force")
