"""The properties of logs once more: plain definitions over lists, by all pairs and all triples.

Written from `docs/audit.md` and the texts of `specs/interfaces/` alone: nothing here knows plans.
Each function takes a :class:`Run` and returns ``violated``, ``unknown`` or ``pending``, or ``""``
where nothing is wrong.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

VIOLATED, UNKNOWN, PENDING, FINE = "violated", "unknown", "pending", ""


@dataclass
class Event:
    kind: str  # request, deliver, perform
    msg: str
    sender: str | None = None
    status: str = "ok"
    offset: int | None = None
    effect: bool = True


@dataclass
class Process:
    name: str
    events: list[tuple[int, Event]] = field(default_factory=list)
    crashed: bool = False
    complete: bool = True
    delivers: bool = True

    def delivered(self) -> list[tuple[int, tuple[str | None, str]]]:
        return [
            (pos, (e.sender, e.msg))
            for pos, e in self.events
            if e.kind == "deliver" and e.status == "ok"
        ]

    def maybe_delivered(self) -> set[tuple[str | None, str]]:
        return {
            (e.sender, e.msg) for _, e in self.events if e.kind == "deliver" and e.status == "maybe"
        }

    @property
    def whole(self) -> bool:
        return (
            self.complete
            and not self.lacks_lines
            and not any(e.status == "maybe" and e.kind != "request" for _, e in self.events)
        )

    @property
    def lacks_lines(self) -> bool:
        """Whether it numbers its lines from 1 on one by one, and one is missing."""
        positions = [pos for pos, _ in self.events]
        started = any(e.kind == "start" and pos == 1 for pos, e in self.events)
        return started and positions != list(range(1, len(positions) + 1))


@dataclass
class Run:
    processes: list[Process]
    named: bool  # deliveries name the sender
    grace: int = 0

    def entry(self, process: Process, event: Event) -> tuple[str | None, str]:
        return (process.name if self.named else None), event.msg

    def requests(self, *statuses: str) -> list[tuple[Process, int, tuple[str | None, str]]]:
        return [
            (p, pos, self.entry(p, e))
            for p in self.processes
            for pos, e in p.events
            if e.kind == "request" and e.status in statuses
        ]

    def late(self, process: Process, pos: int) -> bool:
        return pos in [at for at, _ in process.events][-self.grace :] if self.grace else False

    @property
    def everybody(self) -> list[Process]:
        return [p for p in self.processes if not p.crashed and p.delivers]

    @property
    def whole(self) -> bool:
        return all(p.whole for p in self.processes)


def worst(found: list[str]) -> str:
    for word in (VIOLATED, UNKNOWN, PENDING):
        if word in found:
            return word
    return FINE


def first(process: Process) -> dict[tuple[str | None, str], int]:
    found: dict[tuple[str | None, str], int] = {}
    for pos, entry in process.delivered():
        found.setdefault(entry, pos)
    return found


def lacks(run: Run, process: Process, entry: tuple[str | None, str], early: bool) -> str:
    if entry in first(process):
        return FINE
    if not process.whole or entry in process.maybe_delivered():
        return UNKNOWN
    return VIOLATED if early else PENDING


def no_duplication(run: Run) -> str:
    for p in run.processes:
        entries = [entry for _, entry in p.delivered()]
        if len(set(entries)) < len(entries):
            return VIOLATED
    return FINE


def no_creation(run: Run) -> str:
    found = []
    known = {entry for _, _, entry in run.requests("ok", "maybe")}
    by_name = {p.name: p for p in run.processes}
    for p in run.processes:
        for entry in first(p):
            if entry not in known:
                owner = by_name.get(entry[0]) if run.named else None
                whole = owner.whole if owner else (run.whole and not run.named)
                found.append(VIOLATED if whole else UNKNOWN)
    if not is_execution(run):
        found.append(VIOLATED)
    return worst(found)


def is_execution(run: Run, by_message: bool = False) -> bool:
    """Whether there is an order of all events in which each delivery of what somebody requests is
    behind a request of it: goes on as long as any process can."""

    def key(entry: tuple[str | None, str]) -> object:
        return entry[1] if by_message else entry

    asked = {key(entry) for _, _, entry in run.requests("ok", "maybe")}
    made: set[object] = set()
    lines = []
    for p in run.processes:
        line: list[tuple[bool, object]] = []
        for _, e in p.events:
            if e.kind == "request" and e.status != "fail":
                line.append((True, key(run.entry(p, e))))
            elif e.kind == "deliver" and e.status == "ok":
                line.append((False, key((e.sender, e.msg))))
            if e.kind == "request" and e.offset is not None:
                made.add(line[-1][1] if e.status != "fail" else None)
        lines.append(line)
    moved = True
    while moved:
        moved = False
        for line in lines:
            while line and (line[0][0] or line[0][1] in made or line[0][1] not in asked):
                asks, what = line.pop(0)
                moved = True
                if asks:
                    made.add(what)
    return not any(lines)


def delivered_before_requested(process: Process) -> bool:
    """Whether a process delivers something before its own request of it."""
    asked = {e.msg: pos for pos, e in reversed(process.events) if e.kind == "request"}
    return any(e.kind == "deliver" and asked.get(e.msg, -1) > pos for pos, e in process.events)


def validity_own(run: Run) -> str:
    found = []
    seen = set()
    for p, pos, entry in run.requests("ok"):
        if p in run.everybody and (p.name, entry) not in seen:
            seen.add((p.name, entry))
            found.append(lacks(run, p, entry, not run.late(p, pos)))
    return worst(found)


def validity_all(run: Run) -> str:
    early: dict[tuple[str | None, str], bool] = {}
    seen = set()
    for p, pos, entry in run.requests("ok"):
        if not p.crashed and (p.name, entry) not in seen:
            seen.add((p.name, entry))
            early[entry] = early.get(entry, False) or not run.late(p, pos)
    return worst([lacks(run, q, e, in_time) for e, in_time in early.items() for q in run.everybody])


def agreement(run: Run) -> str:
    return _agreement(run, [p for p in run.processes if not p.crashed])


def uniform_agreement(run: Run) -> str:
    return _agreement(run, run.processes)


def _agreement(run: Run, deliverers: list[Process]) -> str:
    early: dict[tuple[str | None, str], bool] = {}
    for p in deliverers:
        for entry, pos in first(p).items():
            early[entry] = early.get(entry, False) or not run.late(p, pos)
    return worst([lacks(run, q, e, in_time) for e, in_time in early.items() for q in run.everybody])


def _made(run: Run) -> dict[str, list[tuple[int, tuple[str | None, str]]]]:
    """What was requested, the first time each: for sure, or since it was delivered."""
    seen = {entry for p in run.processes for entry in first(p)}
    found: dict[str, dict[tuple[str | None, str], int]] = {}
    for p, pos, entry in run.requests("ok", "maybe"):
        sure = any(q is p and at == pos for q, at, _ in run.requests("ok"))
        if sure or entry in seen:
            mine = found.setdefault(p.name, {})
            mine[entry] = min(pos, mine.get(entry, pos))
    return {n: sorted((pos, entry) for entry, pos in mine.items()) for n, mine in found.items()}


def fifo_order(run: Run) -> str:
    found = []
    for made in _made(run).values():
        for (_, m1), (_, m2) in itertools.combinations(made, 2):
            for p in run.processes:
                at = first(p)
                if p.crashed or m2 not in at or at.get(m1, 1 << 60) < at[m2]:
                    continue
                found.append(VIOLATED if m1 in at or p.whole else UNKNOWN)
    return worst(found)


def causal_order(run: Run) -> str:
    """All causes: the closure of what was requested or delivered before by the same process."""
    causes = _causes(run)
    found = []
    for m2, all_before in causes.items():
        for m1 in all_before:
            for p in run.processes:
                at = first(p)
                if m2 in at and not at.get(m1, 1 << 60) < at[m2]:
                    found.append(VIOLATED if m1 in at or p.whole else UNKNOWN)
    return worst(found)


def _causes(run: Run) -> dict[tuple[str | None, str], set[tuple[str | None, str]]]:
    made = _made(run)
    known = {entry for mine in made.values() for _, entry in mine}
    direct: dict[tuple[str | None, str], set[tuple[str | None, str]]] = {}
    for p in run.processes:
        for pos, m2 in made.get(p.name, []):
            before = {m1 for at, m1 in made.get(p.name, []) if at < pos}
            before |= {m1 for m1, at in first(p).items() if at < pos and m1 in known}
            direct.setdefault(m2, set()).update(before - {m2})
    changed = True
    while changed:
        changed = False
        for mine in direct.values():
            more = set().union(*(direct.get(m, set()) for m in mine)) - mine
            if more:
                mine |= more
                changed = True
    return direct


def total_order(run: Run) -> str:
    return _pairwise([p for p in run.processes if not p.crashed])


def uniform_total_order(run: Run) -> str:
    return _pairwise(run.processes)


def _pairwise(processes: list[Process]) -> str:
    for p, q in itertools.combinations(processes, 2):
        mine, theirs = first(p), first(q)
        for m1, m2 in itertools.permutations(set(mine) & set(theirs), 2):
            if mine[m1] < mine[m2] and theirs[m2] < theirs[m1]:
                return VIOLATED
    return FINE


def global_order(run: Run) -> str:
    """Whether all first deliveries have one order: nothing is before itself in the closure."""
    before: dict[object, set[object]] = {}
    for p in run.processes:
        line = sorted(first(p).items(), key=lambda item: item[1])
        for (m1, _), (m2, _) in itertools.combinations(line, 2):
            before.setdefault(m1, set()).add(m2)
    reached = {m: set(after) for m, after in before.items()}
    for _ in reached:
        for after in reached.values():
            after |= set().union(*(reached.get(m, set()) for m in after))
    return VIOLATED if any(m in after for m, after in reached.items()) else FINE


def prefix_order(run: Run) -> str:
    lines = [[entry for _, entry in p.delivered()] for p in run.processes if p.whole]
    for one, other in itertools.combinations(lines, 2):
        if any(x != y for x, y in zip(one, other, strict=False)):
            return VIOLATED
    return FINE


# ---- queues, counts, consensus, offsets ---------------------------------------------------------


def by_message(run: Run) -> dict[str, list[Process]]:
    found: dict[str, list[Process]] = {}
    for p in run.processes:
        for _, (_, msg) in p.delivered():
            found.setdefault(msg, []).append(p)
    return found


def requested_by_some(run: Run) -> str:
    asked = {msg for _, _, (_, msg) in run.requests("ok", "maybe")}
    created = set(by_message(run)) - asked
    found = [] if is_execution(run, by_message=True) else [VIOLATED]
    if created:
        found.append(VIOLATED if run.whole else UNKNOWN)
    return worst(found)


def single_delivery(run: Run) -> str:
    return VIOLATED if any(len(ps) > 1 for ps in by_message(run).values()) else FINE


def _never(run: Run, happened: set[str]) -> str:
    found, seen = [], set()
    for p, pos, entry in run.requests("ok"):
        if p.crashed or (p.name, entry) in seen:
            continue
        seen.add((p.name, entry))
        if entry[1] not in happened:
            late = run.late(p, pos)
            found.append(UNKNOWN if not run.whole else PENDING if late else VIOLATED)
    return worst(found)


def queue_delivery(run: Run) -> str:
    return _never(run, set(by_message(run)))


def _performed(run: Run, effects: bool) -> list[str]:
    return [
        e.msg
        for p in run.processes
        for _, e in p.events
        if e.kind == "perform" and e.status == "ok" and (e.effect or not effects)
    ]


def once(times: str, over: str):
    def asked(run: Run) -> str:
        found = []
        if over == "deliveries":
            most, happened = no_duplication(run), set(by_message(run))
        else:
            done = _performed(run, over == "effects")
            most, happened = (VIOLATED if len(set(done)) < len(done) else FINE), set(done)
        if times != "at_least_once":
            found.append(most)
        if times != "at_most_once":
            found.append(_never(run, happened))
        return worst(found)

    return asked


def _decided(run: Run, correct: bool) -> list[tuple[Process, str]]:
    return [
        (p, msg)
        for p in run.processes
        if not (correct and p.crashed)
        for _, (_, msg) in p.delivered()
    ]


def consensus_agreement(run: Run) -> str:
    return VIOLATED if len({v for _, v in _decided(run, True)}) > 1 else FINE


def uniform_consensus_agreement(run: Run) -> str:
    return VIOLATED if len({v for _, v in _decided(run, False)}) > 1 else FINE


def consensus_integrity(run: Run) -> str:
    return VIOLATED if any(len(p.delivered()) > 1 for p in run.processes) else FINE


def termination(run: Run) -> str:
    found = []
    for p in run.everybody:
        if not p.delivered():
            had_time = not run.late(p, p.events[0][0])
            found.append(UNKNOWN if not p.whole else VIOLATED if had_time else PENDING)
    return worst(found)


def log_agreement(run: Run) -> str:
    at: dict[int | None, set[tuple[str | None, str]]] = {}
    for _, _, entry, offset in _learned(run):
        at.setdefault(offset, set()).add(entry)
    for _, _, entry, offset in _acknowledged(run):
        at.setdefault(offset, set()).add(entry)
    return VIOLATED if any(len(entries) > 1 for entries in at.values()) else FINE


def _learned(run: Run) -> list[tuple[Process, int, tuple[str | None, str], int]]:
    return [
        (p, pos, (e.sender, e.msg), e.offset)
        for p in run.processes
        for pos, e in p.events
        if e.kind == "deliver" and e.status == "ok" and e.offset is not None
    ]


def _acknowledged(run: Run) -> list[tuple[Process, int, tuple[str | None, str], int]]:
    return [
        (p, pos, (None, e.msg), e.offset)
        for p in run.processes
        for pos, e in p.events
        if e.kind == "request" and e.status == "ok" and e.offset is not None
    ]


def log_without_gaps(run: Run) -> str:
    found = []
    for p in run.processes:
        mine = [(entry, offset) for q, _, entry, offset in _learned(run) if q is p]
        for number, (entry, offset) in enumerate(mine):
            if (entry, offset) in mine[:number]:
                found.append(VIOLATED)
            if offset > 0 and offset - 1 not in [o for _, o in mine[:number]]:
                found.append(VIOLATED if p.whole else UNKNOWN)
    return worst(found)


def no_lost_writes(run: Run) -> str:
    found = []
    for p in run.processes:
        mine = [(msg, offset) for q, _, (_, msg), offset in _learned(run) if q is p]
        if not mine:
            continue
        most = max(o for _, o in mine)
        read = {msg for _, (_, msg) in p.delivered()}
        for _, _, (_, msg), offset in _acknowledged(run):
            if offset < most and msg not in read:
                found.append(VIOLATED if p.whole else UNKNOWN)
    return worst(found)


def appends_in_order(run: Run) -> str:
    sent = [(p.name, pos, offset) for p, pos, _, offset in _acknowledged(run)]
    back = [1 for p, a, one in sent for q, b, other in sent if p == q and a < b and one > other]
    return VIOLATED if back else FINE


def log_progress(run: Run) -> str:
    found, seen = [], set()
    for p, pos, entry in run.requests("ok"):
        if p.crashed or (p.name, entry) in seen:
            continue
        seen.add((p.name, entry))
        for q in run.everybody:
            if entry[1] in {msg for _, (_, msg) in q.delivered()}:
                continue
            late = run.late(p, pos)
            found.append(UNKNOWN if not q.whole else PENDING if late else VIOLATED)
    return worst(found)
