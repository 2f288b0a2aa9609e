"""What a schedule is made of.

Each act is a step of the trace.  Values are texts, as the trace prints them: ``"p1"``, ``"3"``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Message:
    """A message of the spec: its name, and its fields by name."""

    name: str
    fields: Mapping[str, str]

    def __str__(self) -> str:
        """Returns ``DATA(p1, a)``, and ``ACK`` without fields, as the trace prints them."""
        return f"{self.name}({', '.join(self.fields.values())})" if self.fields else self.name


@dataclass(frozen=True)
class Sends:
    """``message`` is sent to the processes ``to``."""

    message: Message
    to: Sequence[str]


@dataclass(frozen=True)
class Line:
    """A line that the process's log has after the step.

    ``kind``: ``request``, ``indicate``, ``receive``, ``handler``, ``timeout``, ``perform`` or
    ``recover``; ``name``: of the request, indication, message, handler or timer; ``sender``: of a
    message.
    """

    kind: str
    name: str = ""
    values: Mapping[str, str] | Sequence[str] = ()
    sender: str = ""

    def __str__(self) -> str:
        """Returns ``deliver(p1, a)``, or ``receive DATA(p1, a) from p2``."""
        values = self.values.values() if isinstance(self.values, Mapping) else self.values
        named = f"{self.name}({', '.join(values)})" if values else self.name
        word = "" if self.kind in ("request", "indicate") else self.kind
        return " ".join(filter(None, [word, named, self.sender and f"from {self.sender}"]))


@dataclass(frozen=True)
class Act:
    """A step of the trace.

    ``number``: of the step; ``process``: whose step it is, empty for the network's; ``lines``: what
    the process's log has then; ``sends``: the messages that it has sent then; ``beyond``: what the
    harness can't bring about, in words.
    """

    number: int
    process: str
    lines: Sequence[Line] = ()
    sends: Sequence[Sends] = ()
    beyond: str = ""


@dataclass(frozen=True)
class Request(Act):
    """A client makes the request ``name``, with ``values``."""

    name: str = ""
    values: Sequence[str] = ()


@dataclass(frozen=True)
class Receive(Act):
    """``process`` receives ``message`` from ``sender``: it was held, and is released.

    ``with_step``: released only in that later step, together with its message: both are being
    handled at the same time.  ``again``: it was received before; a duplicate.  ``taken``: a handler
    takes it, so that the log says something.
    """

    message: Message = Message("", {})
    sender: str = ""
    with_step: int = 0
    again: bool = False
    taken: bool = True


@dataclass(frozen=True)
class Forge(Act):
    """The Byzantine process ``sender`` makes ``process`` receive ``message``, in the name of
    ``claimed``."""

    message: Message = Message("", {})
    sender: str = ""
    claimed: str = ""


@dataclass(frozen=True)
class Lose(Act):
    """``message`` from ``sender`` to ``receiver`` is lost: it is never released."""

    message: Message = Message("", {})
    sender: str = ""
    receiver: str = ""


@dataclass(frozen=True)
class Stay(Lose):
    """``message`` stays on its way to the end: it is never released."""


@dataclass(frozen=True)
class Crash(Act):
    """``process`` is killed (SIGKILL).  ``cut``: what it would have done next in the same step."""

    cut: str = ""


@dataclass(frozen=True)
class Recover(Act):
    """``process`` is started again."""


@dataclass(frozen=True)
class Pause(Act):
    """``process`` is stopped (SIGSTOP)."""


@dataclass(frozen=True)
class Resume(Act):
    """``process`` goes on (SIGCONT)."""


@dataclass(frozen=True)
class Fire(Act):
    """A timer of ``process`` expires."""

    timer: str = ""


@dataclass(frozen=True)
class Cut(Act):
    """The links between ``apart`` and ``others`` are cut: nothing on them is released."""

    apart: Sequence[str] = ()
    others: Sequence[str] = ()
    one_way: bool = False


@dataclass(frozen=True)
class Mend(Cut):
    """These links work again."""


@dataclass(frozen=True)
class Break(Act):
    """The connections between ``first`` and ``second`` break."""

    first: str = ""
    second: str = ""


@dataclass(frozen=True)
class Learn(Act):
    """``process`` learns that its connection to ``peer`` is gone."""

    peer: str = ""


@dataclass(frozen=True)
class Await(Act):
    """``process`` takes a step of its own accord."""
