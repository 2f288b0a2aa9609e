"""The smallest witness of a violation as a trace: what really happened, for the views of runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
from msgspec import Struct

from checker.audit.columns import Kind, Role, roles_of
from checker.audit.engine import Engine
from checker.audit.judge import Answer, Finding
from checker.audit.processes import EVENTS, ProcessState
from checker.audit.relations import col
from checker.audit.tables import FAIL, VIOLATED
from checker.audit.wording import Words, told
from checker.diagnostics.english import count
from checker.language.syntax.typed import Interface, Operator
from checker.language.typecheck.types import PROC
from checker.polling import poll
from checker.resources import version
from checker.results import events as ev
from checker.results.trace import RECORDED, START, Explanation, Header, Step, StepKind, Trace

OTHERS = 2
"""How many processes are drawn at most that a witness is not about."""
ALIKE = 2
"""How many equal events of a process are drawn at most, besides those that a witness names."""

_ABOUT = (Kind.REQUEST, Kind.INDICATION, Kind.PERFORM)
_STEPS: dict[Kind, StepKind] = {
    Kind.REQUEST: "request",
    Kind.INDICATION: "step",
    Kind.PERFORM: "step",
    Kind.CRASH: "crash",
    Kind.RECOVER: "recover",
    Kind.NOTICE: "step",
}
"""The kind of the step that an event of a log is drawn as."""

_SHOWN = ("partition", "offset", "generation")
"""Columns of arguments that are drawn beside the message."""

_PLACES = (("", ""), ("", "2"), ("2", "2"))
"""Which process of a finding each of its positions may be of."""


class Witnesses(Struct):
    """Makes traces of the first finding of each kind.

    ``file``: what the log is called; ``states``: its processes.
    """

    engine: Engine
    interface: Interface
    words: Words
    states: list[ProcessState]
    file: str

    def of(self, answer: Answer) -> list[Trace]:
        """Returns a trace for each kind of violation of a property, those of few events first."""
        found = [self._trace(answer, finding) for finding in answer.violating]
        return sorted((trace for trace in found if trace is not None), key=lambda t: t.length)

    def _trace(self, answer: Answer, finding: Finding) -> Trace | None:
        poll()
        rows = finding.shown(VIOLATED)
        said = told(finding.kind, rows, self.words.about(answer.question.roles))
        involved = self._processes(rows)
        every = self._events(rows, involved)
        events = _telling(every, rows)
        if not involved and not events:
            return None
        drawn = self._drawn(involved, events)
        steps = self._steps([event for event in events if event["process"] in drawn])
        left_out = len(every) - len(events)
        more = (f"{count(left_out, 'more row')} like these: not drawn.",) if left_out else ()
        names = tuple(self.engine.process(value)[1] for value in drawn)
        question = answer.question
        start = Step(0, START, START, "", (), (), {})
        header = Header(version(), self.file, self.interface.name, settings={RECORDED: self.file})
        return Trace(
            header,
            question.name,
            question.definition,
            "violated",
            said,
            names,
            (),
            (start, *steps),
            explanation=Explanation((f"{said}.", *more)),
        )

    def _processes(self, rows: list[dict[str, Any]]) -> list[Any]:
        """Returns the processes that a finding names."""
        named = (row.get(name) for row in rows for name in ("process", "process2"))
        return list(dict.fromkeys(value for value in named if value is not None))

    def _events(self, rows: list[dict[str, Any]], involved: list[Any]) -> list[dict[str, Any]]:
        """Returns what happened to what a finding is about, and the crashes of its processes, in
        the order of each process."""
        found: list[dict[str, Any]] = []
        for name, keys in (("entry", ("entry", "entry2")), ("message", ("message",))):
            values = dict.fromkeys(v for r in rows for k in keys if (v := r.get(k)) is not None)
            if values:
                wanted = self.engine.column(name, list(values))
                about = EVENTS.where(col("status") != FAIL).join(wanted, name, how="semi")
                found += self._rows(about)
        found += self._notices(rows)
        fates = EVENTS.where(
            (col("kind") == int(Kind.CRASH)) | (col("kind") == int(Kind.RECOVER))
        ).join(self.engine.processes_table(involved), "process", how="semi")
        found += self._rows(fates)
        places = self.engine.places(pa.Table.from_pylist(found)) if found else []
        for row, (file, number) in zip(found, places, strict=True):
            row["place"] = file if number is None else f"{file}, row {number:,}"
        return sorted(found, key=lambda row: (str(row["process"]), row["pos"]))

    def _notices(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Returns the events without a message that ``rows``, a finding, name."""
        if "operator" not in self.engine.columns:
            return []
        named = {(row.get(f"process{n}"), row.get(f"pos{m}")) for row in rows for n, m in _PLACES}
        owners = self.engine.processes_table([p for p in {p for p, _ in named} if p is not None])
        notices = EVENTS.where(col("kind") == int(Kind.NOTICE)).join(owners, "process", how="semi")
        return [row for row in self._rows(notices) if (row["process"], row["pos"]) in named]

    def _rows(self, relation: Any) -> list[dict[str, Any]]:
        more = [name for name in ("operator", *_SHOWN) if name in self.engine.columns]
        more = more if "operator" in more else []
        columns = relation.select("process", "pos", "kind", "entry", "message", *more)
        rows: list[dict[str, Any]] = self.engine.rows(columns).to_pylist()
        return [row for row in rows if Kind(row["kind"]) in _STEPS]

    def _drawn(self, involved: list[Any], events: list[dict[str, Any]]) -> list[Any]:
        """Returns the processes that are drawn: those involved, those that requested it, and some
        others that have to do with it."""
        asked = [e["process"] for e in events if e["kind"] == Kind.REQUEST]
        others = [e["process"] for e in events if e["kind"] in _ABOUT]
        asked = [value for value in dict.fromkeys(asked) if value not in involved]
        few = [*involved, *asked[:OTHERS]]
        if len(involved) < 2:
            few += [value for value in dict.fromkeys(others) if value not in few][:OTHERS]
        return sorted(few, key=lambda value: self.engine.process(value))

    def _steps(self, events: list[dict[str, Any]]) -> Iterable[Step]:
        for number, row in enumerate(_in_causal_order(events), start=1):
            kind = Kind(row["kind"])
            process = self.engine.process(row["process"])[1]
            event = self._event(kind, process, row)
            match event:
                case ev.Requested(call) | ev.Indicated(call):
                    action = str(call)
                case ev.Performed(act):
                    action = act
                case _:
                    action = ev.kind_name(event)
            yield Step(number, action, _STEPS[kind], process, (event,), (), {})

    def _event(self, kind: Kind, process: str, row: dict[str, Any]) -> ev.Event:
        match kind:
            case Kind.CRASH:
                return ev.Crashed(process=process)
            case Kind.RECOVER:
                return ev.Recovered(process=process)
            case Kind.PERFORM if row["entry"] is None:  # an act names no sender
                return ev.Performed(self.engine.message(row["message"]), process=process)
            case Kind.PERFORM:
                return ev.Performed(self.engine.entry(row["entry"])[1], process=process)
            case Kind.REQUEST | Kind.INDICATION | Kind.NOTICE if row.get("operator") is not None:
                role = roles_of(self.interface)[row["operator"]]
                call = self._call_of(role, row)
                asks = role.number < len(self.interface.requests)
                return (ev.Requested if asks else ev.Indicated)(call, process=process)
            case Kind.REQUEST:
                call = self._call(self.interface.requests, row, with_sender=False)
                return ev.Requested(call, process=process)
            case _:
                call = self._call(self.interface.indications, row, with_sender=True)
                return ev.Indicated(call, process=process)

    def _call_of(self, role: Role, row: dict[str, Any]) -> ev.Call:
        """Returns a request or an indication with those of its arguments that the row has."""
        known = {name: row.get(name) for name in _SHOWN}
        if known["partition"] is not None:
            known["partition"] = self.engine.partition(known["partition"])
        if row["entry"] is not None:
            known["sender"], known["msg"] = self.engine.entry(row["entry"])
        shown = [known.get(name) for name in role.columns]
        return ev.Call(role.name, tuple(str(value) for value in shown if value is not None))

    def _call(
        self, operators: tuple[Operator, ...], row: dict[str, Any], *, with_sender: bool
    ) -> ev.Call:
        """Returns a request or an indication as the interface writes it; without an operator if
        the interface has none."""
        sender, message = None, ""
        if row["entry"] is None:
            message = self.engine.message(row["message"])
        else:
            sender, message = self.engine.entry(row["entry"])
        if not operators or row["entry"] is None:
            return ev.Call("", (message,))
        operator = operators[0]
        of_sender = any(given == PROC for _, given in operator.fields)
        shown = with_sender and of_sender and sender is not None
        return ev.Call(operator.name, (str(sender), message) if shown else (message,))


def _telling(events: list[dict[str, Any]], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the events that ``rows``, a finding, name, and of all others the first of those that
    are equal at a process."""
    named = {(row.get(f"process{n}"), row.get(f"pos{m}")) for row in rows for n, m in _PLACES}
    seen: Counter[tuple[Any, ...]] = Counter()
    found = []
    for event in events:
        alike = tuple(event[name] for name in ("process", "kind", "entry", "message"))
        seen[alike] += 1
        if seen[alike] <= ALIKE or (event["process"], event["pos"]) in named:
            found.append(event)
    return found


def _in_causal_order(events: list[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    """Yields events in an order that agrees with those of all processes, and in which what is
    delivered was requested before, if there is such a one."""
    lines: dict[Any, list[dict[str, Any]]] = {}
    for row in events:
        lines.setdefault(row["process"], []).append(row)
    waiting = [row["message"] for row in events if row["kind"] == Kind.REQUEST]
    while lines:
        ready = [
            process
            for process, line in lines.items()
            if line[0]["kind"] != Kind.INDICATION or line[0]["message"] not in waiting
        ]
        process = ready[0] if ready else next(iter(lines))
        row = lines[process].pop(0)
        if not lines[process]:
            del lines[process]
        if row["kind"] == Kind.REQUEST:
            waiting.remove(row["message"])
        yield row
