"""Says why operations have no order: which results contradict what had returned before.

The constraints are dropped one by one, as long as no order of the operations explains the results;
those that are left are told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from checker.diagnostics.english import listing
from checker.model.ir import Property, TransitionSystem
from checker.model.reading import Atom, Join, Node, Range, Specification, Timed
from checker.results.operations import Performed, performed
from checker.results.rerun import Run

Pair = tuple[int, int]
"""Of two operations: the first has returned before the second was called, or precedes it at its
process."""

MOST = 4
"""So many constraints are told; of more only how many there are."""


def operation_sentences(
    system: TransitionSystem, prop: Property, run: Run, title: str
) -> tuple[str, ...]:
    """Returns why the operations of ``run`` are not those of the object that ``prop`` names, which
    is called ``title``; empty where it is about something else."""
    of = None if prop.reading is None else _specification(prop.reading.root)
    if of is None:
        return ()
    found = performed(system, run)
    numbers = _numbers(of, found)
    if None in numbers or not any(one.returned is not None for one in found):
        return ()
    known = tuple(number for number in numbers if number is not None)
    return tuple(_Telling(system, of, found, known, title).told())


def _specification(node: Node) -> Specification | None:
    match node:
        case Atom():
            return node.of
        case Range():
            return _specification(node.body)
        case Join() | Timed():
            return next((of for part in node.parts if (of := _specification(part))), None)


def _numbers(of: Specification, found: Iterable[Performed]) -> list[int | None]:
    """Returns which call of the clients each operation is."""
    left = dict(enumerate(of.calls))
    numbers: list[int | None] = []
    for one in found:
        wanted = (one.process, one.op, one.args)
        number = next((n for n, call in left.items() if call == wanted), None)
        numbers.append(number)
        if number is not None:
            del left[number]
    return numbers


class _Telling(Struct, frozen=True):
    system: TransitionSystem
    of: Specification
    found: tuple[Performed, ...]
    numbers: tuple[int, ...]
    title: str

    def told(self) -> Iterator[str]:
        last = self._last()
        one = self.found[last]
        pairs = list(self._pairs())
        told = f"{self._name(last)} returned{self._result(one)}"
        if self._has_order(pairs):
            # A register of one writer: a read may return only what is written then.
            yield f"{self.title} fails: {told}."
            yield from self._of_one_writer(last)
            return
        if self._has_order(()):
            for pair in tuple(pairs):
                fewer = [other for other in pairs if other != pair]
                if not self._has_order(fewer):
                    pairs = fewer
            first, *rest = self._constraints(pairs, last, told)
            yield f"{self.title} fails: {first}."
            yield from rest
        else:
            none = f"no order of the operations gives it this result, nor any {self.of.object}"
            yield f"{self.title} fails: {told}, and {none}."

    def _constraints(self, pairs: list[Pair], last: int, told: str) -> list[str]:
        before = [a for a, b in pairs if b == last]
        others = [(a, b) for a, b in pairs if b != last]
        after = listing(self._had_returned(a) for a in before)
        first = f"{told} after {after}" if before else told
        if len(others) > MOST:
            return [first, f"So do {len(others)} more constraints on the order of the operations."]
        said = [f"{self._name(b)} was called after {self._had_returned(a)}" for a, b in others]
        results = self._others_results(pairs, last)
        more = [f"{_capital(listing(said))}."] if said else []
        return [first, *more, *results]

    def _others_results(self, pairs: list[Pair], last: int) -> list[str]:
        """Returns what further operations returned on which it depends."""
        told = {a for a, _ in pairs} | {last}
        needed = [
            i
            for i, one in enumerate(self.found)
            if i not in told
            and one.shown
            and not self._has_order(pairs)
            and self._has_order(pairs, without=i)
        ]
        said = [f"{self._name(i)} returned{self._result(self.found[i])}" for i in needed]
        return [f"{_capital(listing(said))}."] if said else []

    def _of_one_writer(self, last: int) -> Iterator[str]:
        written = [
            f"{self._name(i)} {self._standing(i, last)}"
            for i, one in enumerate(self.found)
            if i != last and one.op != self.found[last].op
        ]
        if written:
            yield f"{_capital(listing(written))}."

    def _standing(self, i: int, last: int) -> str:
        one, read = self.found[i], self.found[last]
        if one.end is not None and one.end < read.begin:
            return "had returned before it was called"
        return "overlaps it"

    # ---- words ----------------------------------------------------------------------------------

    def _name(self, i: int) -> str:
        one = self.found[i]
        return f"{one.call} of {self.system.processes[one.process]}"

    def _result(self, one: Performed) -> str:
        return f" {one.shown}" if one.shown else ""

    def _had_returned(self, i: int) -> str:
        one = self.found[i]
        if one.returned is None:
            return f"{self._name(i)}"
        return f"{self._name(i)} had returned{self._result(one)}"

    # ---- orders ---------------------------------------------------------------------------------

    def _last(self) -> int:
        returned = [(one.end, i) for i, one in enumerate(self.found) if one.end is not None]
        return max(returned)[1]

    def _pairs(self) -> Iterator[Pair]:
        """Yields the constraints on the order, those between neighbours last."""
        for i, a in enumerate(self.found):
            for j, b in enumerate(self.found):
                if self.of.kind == "sequentially_consistent":
                    if a.process == b.process and a.begin < b.begin:
                        yield i, j
                elif a.end is not None and a.end < b.begin:
                    yield i, j

    def _has_order(self, pairs: Iterable[Pair], without: int = -1) -> bool:
        """Tells whether some order of the operations that respects ``pairs`` gives their results;
        ``without``: the result of this one may be any."""
        before: dict[int, set[int]] = {}
        for a, b in pairs:
            before.setdefault(b, set()).add(a)
        due = frozenset(i for i, one in enumerate(self.found) if one.end is not None)
        todo = [(frozenset[int](), 0)]
        seen = set(todo)
        while todo:
            done, at = todo.pop()
            if due <= done:
                return True
            for i in range(len(self.found)):
                if i in done or before.get(i, set()) & due - done:
                    continue
                for after, result in self.of.outcomes.get((at, self.numbers[i]), ()):
                    wanted = self.found[i].result
                    if i != without and i in due and wanted != result:
                        continue
                    step = (done | {i}, after)
                    if step not in seen:
                        seen.add(step)
                        todo.append(step)
        return False


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
