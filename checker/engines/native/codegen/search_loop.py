"""The search loop as native code: the loop over a frontier and the handling of successors.

A worker's batch holds successors that have not been looked up yet, so that memory is prefetched.
"""

from __future__ import annotations

from checker.engines.native.codegen.actions import GIVEN_UP
from checker.engines.native.codegen.ample import emit_ample
from checker.engines.native.codegen.emit import Fn, Val, const
from checker.engines.native.codegen.fields import Context, Mode, RecordLayout, Worker
from checker.engines.native.codegen.record_access import address, field, get, put
from checker.engines.native.codegen.routing import Routing, settle
from checker.engines.native.codegen.shard_queries import ShardQueries, number_or_none
from checker.engines.native.codegen.visited_set import INSIDE, OUTSIDE, VisitedSet
from checker.model.ir import PropertyKind, TransitionSystem
from checker.properties.persistence import persistence
from checker.reductions.reduction_plan import AmpleAction


class SearchLoop:
    """Emits the code that all systems have in common; ``seen`` is made for the layout of this one.

    ``eager``: where it is not empty there is a function ``ample``.
    """

    def __init__(
        self,
        system: TransitionSystem,
        shape: RecordLayout,
        seen: VisitedSet,
        eager: tuple[AmpleAction, ...] = (),
    ) -> None:
        self.system, self.shape, self.seen, self.eager = system, shape, seen, eager
        self.live = any(p.kind is PropertyKind.LIVENESS for p in system.properties)

    def functions(self) -> list[Fn]:
        """All functions but those of actions and predicates."""
        found = [*self.seen.functions(), *Routing(self.seen).functions()]
        found += [self.add(), self.flush(), self.absorb(), self.judge(), self.run()]
        if self.live:
            found += [self.link(), *ShardQueries(self.seen).functions()]
        return found

    # -- batches --------------------------------------------------------------------------------

    def add(self) -> Fn:
        """``add(context, worker, row)``: puts an initial state into the batch; room is needed."""
        fn = Fn("add", [("context", 0), ("worker", 0), ("row", 0)], None)
        context, worker, row = fn.args
        batch = address(fn, worker, Worker.BATCH)
        self.seen.copy(fn, row, batch)
        fn.call("normal", [worker, batch], None)
        put(fn, worker, Worker.PENDING, const(1))
        fn.call("flush", [context, worker], None)
        fn.ret()
        return fn

    def begin(self) -> Fn:
        """``begin(context, worker, source)``: adds the initial states, by ``start``.

        Sets FAULTED where one has a runtime error.  What OVERFLOW and STOPPED report as ended early
        has to be repeated.
        """
        fn = Fn("begin", [("context", 0), ("worker", 0), ("source", 0)], None)
        for which in (Worker.PENDING, Worker.FAULTED, Worker.STOPPED):
            put(fn, fn.args[1], which, const(0))
        fn.call("start", [*fn.args, const(0)], 1)
        fn.call("flush", list(fn.args[:2]), None)
        fn.ret()
        return fn

    def flush(self) -> Fn:
        """``flush(context, worker)``: handles the batch according to the mode; empties it."""
        fn = Fn("flush", [("context", 0), ("worker", 0)], None, OUTSIDE)
        self.flush_first(fn)
        context, worker = fn.args
        mode, count = get(fn, worker, Worker.MODE), get(fn, worker, Worker.PENDING)
        put(fn, worker, Worker.PENDING, const(0))
        with fn.if_(fn.eq(mode, const(Mode.SEARCH))):
            fn.call("absorb", [context, worker, count], None)
            fn.ret()
        with fn.if_(fn.eq(mode, const(Mode.ROUTE))):
            fn.call("route", [context, worker, count], None)
            fn.ret()
        if self.live:
            with fn.if_(fn.eq(mode, const(Mode.EDGES))):
                fn.call("link", [context, worker, count], None)
                fn.ret()
            asking = (fn.eq(mode, const(each)) for each in (Mode.ASK, Mode.LINK))
            with fn.if_(fn.or_(*asking)):
                fn.call("ask", [context, worker, count], None)
                fn.ret()
            with fn.if_(fn.eq(mode, const(Mode.ENDS))):
                fn.ret()
        batch = address(fn, worker, Worker.BATCH)
        with fn.count(count) as i:
            row, following = self.seen.row(fn, batch, i), fn.label()
            with fn.if_(fn.eq(mode, const(Mode.PARENTS))):
                target = address(fn, worker, Worker.TARGET)
                with fn.if_(self.seen.same(fn, row, target)):
                    best = field(fn, worker, self.shape.parent)
                    fn.call("note", [best, address(fn, worker, Worker.SOURCE)], None)
                fn.jump(following)
            index = fn.call("lookup", [context, row], 64)
            with fn.if_(fn.eq(index, const(-1))):
                put(fn, worker, Worker.FOUND, const(1))
            fn.place(following)
        fn.ret()
        return fn

    def flush_first(self, fn: Fn) -> None:
        """Emits what ``flush`` does in other modes than those of a search: there are none."""

    def link(self) -> Fn:
        """``link(context, worker, count)``: writes edges to the states in the batch.

        Those that are not in the visited set have no number: NONE.
        """
        fn = Fn("link", [("context", 0), ("worker", 0), ("count", 64)], None, OUTSIDE)
        context, worker, count = fn.args
        batch, hashes = (address(fn, worker, w) for w in (Worker.BATCH, Worker.HASHES))
        self._fingerprints(fn, context, batch, hashes, count)
        if self.seen.words == 1:
            vals = address(fn, context, Context.VALS)
            with fn.count(count) as i:
                mark = fn.load(fn.at(hashes, i), 64)
                fn.prefetch(fn.at(vals, self.seen.home(fn, context, mark), 32))
        given = address(fn, worker, Worker.BATCH_LABELS)
        targets, labels = (address(fn, context, w) for w in (Context.TARGETS, Context.LABELS))
        first = get(fn, worker, Worker.EDGES)
        with fn.count(count) as i:
            mark = fn.load(fn.at(hashes, i), 64)
            index = fn.call("find", [context, self.seen.row(fn, batch, i), mark], 64)
            target = number_or_none(fn, self.seen, context, index)
            at = fn.add(first, i)
            fn.store(target, fn.at(targets, at, 32))
            fn.store(fn.load(fn.at(given, i, 32), 32), fn.at(labels, at, 32))
        put(fn, worker, Worker.EDGES, fn.add(first, count))
        fn.ret()
        return fn

    def _fingerprints(self, fn: Fn, context: Val, batch: Val, hashes: Val, count: Val) -> None:
        """Writes the fingerprints of the batch, and prefetches their slots."""
        with fn.count(count) as i:
            mark = self.seen.mark(fn, self.seen.row(fn, batch, i))
            fn.store(mark, fn.at(hashes, i))
            self.seen.ask_for(fn, context, mark)

    def absorb(self) -> Fn:
        """``absorb(context, worker, count)``: inserts the batch into the visited set."""
        fn = Fn("absorb", [("context", 0), ("worker", 0), ("count", 64)], None, OUTSIDE)
        context, worker, count = fn.args
        with fn.if_(fn.ne(get(fn, worker, Worker.OVERFLOW), const(0))):
            fn.ret()
        batch, hashes = (address(fn, worker, w) for w in (Worker.BATCH, Worker.HASHES))
        self._fingerprints(fn, context, batch, hashes, count)
        fn.call("insert_batch", [context, worker, count], None)
        with fn.if_(fn.eq(get(fn, worker, Worker.OVERFLOW), const(0))):
            settle(fn, worker)
        fn.ret()
        return fn

    # -- the loop -------------------------------------------------------------------------------

    def judge(self) -> Fn:
        """``judge(context, worker, source, end)``: evaluates premises and violations in one
        state; counts it where it is beyond a bound.
        """
        params = [("context", 0), ("worker", 0), ("source", 0), ("end", 1)]
        fn = Fn("judge", params, None, INSIDE)
        context, worker, source, end = fn.args
        count, beyond = len(self.system.properties), fn.var(const(0))
        for i, prop in enumerate(self.system.properties):
            known = get(fn, context, Context.FLAGS + i)
            with fn.if_(fn.eq(known, const(0))):
                value = fn.call(f"premise_{i}", [source], 64)
                with fn.if_(fn.eq(value, const(1))):
                    put(fn, worker, self.shape.premise + i, const(1))
                self._note_unevaluable(fn, worker, source, value)
            if prop.kind is PropertyKind.LIVENESS and persistence(prop) is None:
                continue
            wanted = fn.eq(get(fn, context, Context.FLAGS + count + i), const(0))
            if prop.kind is not PropertyKind.INVARIANT:
                wanted = fn.and_(wanted, end)
            with fn.if_(const(1, 1) if prop.is_bound else wanted):
                value = fn.call(f"bad_{i}", [source], 64)
                with fn.if_(fn.eq(value, const(1))):
                    if prop.is_bound:
                        beyond.set(const(1))
                    fn.call("note", [field(fn, worker, self.shape.best(i)), source], None)
                self._note_unevaluable(fn, worker, source, value)
        put(fn, worker, Worker.BEYOND, fn.add(get(fn, worker, Worker.BEYOND), beyond.get()))
        fn.ret()
        return fn

    def _note_unevaluable(self, fn: Fn, worker: Val, source: Val, value: Val) -> None:
        with fn.if_(fn.eq(value, const(2))):
            fn.call("note", [field(fn, worker, self.shape.unevaluable), source], None)
        with fn.if_(fn.eq(value, const(GIVEN_UP))):
            put(fn, worker, Worker.STOPPED, const(1))

    def run(self) -> Fn:
        """``run(context, worker, rows, begin, end, first)``: expands rows; returns the position
        reached.

        ``first``: the number of row 0.  Where there is no room, or where it was stopped, the rest
        has to be run again.
        """
        params = [("context", 0), ("worker", 0), ("rows", 0), ("begin", 64), ("end", 64)]
        fn = Fn("run", [*params, ("first", 64)], 64)
        context, worker, rows, begin, end, first = fn.args
        mode = get(fn, worker, Worker.MODE)
        searching = fn.or_(fn.eq(mode, const(Mode.SEARCH)), fn.eq(mode, const(Mode.ROUTE)))
        judged = fn.or_(searching, fn.eq(mode, const(Mode.NEWCOMERS)))
        self._safe(fn, worker, begin)
        put(fn, worker, Worker.STOPPED, const(0))
        with fn.count(end, begin) as i:
            source, following = self.seen.row(fn, rows, i), fn.label()
            number = fn.add(first, i)
            if self.live:
                linking = fn.eq(mode, const(Mode.EDGES))
                self._open_edges(fn, context, worker, linking, number)
            self._expand(fn, context, worker, source, i)
            self._return_if_abandoned(fn, context, worker, i, number)
            with fn.if_(judged):
                ended = self._just(fn, worker, source, self._quiet(fn, context, worker, source))
                self._return_if_abandoned(fn, context, worker, i, number)
                if self.live:
                    total = fn.add(get(fn, worker, Worker.ENDS), fn.resize(ended, 64))
                    put(fn, worker, Worker.ENDS, total)
                fn.call("judge", [context, worker, source, ended], None)
                with fn.if_(fn.ne(get(fn, worker, Worker.FAULTED), const(0))):
                    fn.call("note", [field(fn, worker, self.shape.fault), source], None)
            self._return_if_abandoned(fn, context, worker, i, number)
            fn.leave_if(searching, following)
            fn.call("flush", [context, worker], None)
            if self.live:
                with fn.if_(linking):
                    self._close_edges(fn, context, worker, number, i)
                full = fn.ne(get(fn, worker, Worker.OVERFLOW), const(0))
                asking = (fn.eq(mode, const(each)) for each in (Mode.ASK, Mode.LINK))
                with fn.if_(fn.and_(fn.or_(*asking), full)):
                    fn.ret(i)
            fn.place(following)
        put(fn, worker, Worker.CURRENT, end)
        put(fn, worker, Worker.STARTED, get(fn, worker, Worker.TRANSITIONS))
        fn.call("flush", [context, worker], None)
        with fn.if_(fn.ne(get(fn, worker, Worker.OVERFLOW), const(0))):
            self._give_up(fn, worker)
        fn.ret(end)
        return fn

    def _return_if_abandoned(self, fn: Fn, context: Val, worker: Val, i: Val, number: Val) -> None:
        """Emits a return of ``i`` if the expansion of state ``i`` is abandoned: there is no room
        for a new state, or it was stopped; its results are not complete then.
        """
        mode = get(fn, worker, Worker.MODE)
        searching = fn.or_(fn.eq(mode, const(Mode.SEARCH)), fn.eq(mode, const(Mode.ROUTE)))
        full = fn.and_(searching, fn.ne(get(fn, worker, Worker.OVERFLOW), const(0)))
        given_up = fn.ne(get(fn, worker, Worker.STOPPED), const(0))
        with fn.if_(fn.or_(fn.or_(full, given_up), fn.is_stopped())):
            with fn.if_(searching):
                self._give_up(fn, worker)
            put(fn, worker, Worker.PENDING, const(0))
            if self.live:
                with fn.if_(fn.eq(mode, const(Mode.EDGES))):
                    self._without_edges(fn, context, worker, number)
            fn.ret(i)

    def _quiet(self, fn: Fn, context: Val, worker: Val, source: Val) -> Val:
        """Whether staying in a state may take every enabled fairness constraint; where nobody asks:
        no."""
        left, stayed = (get(fn, worker, w) for w in (Worker.LEFT, Worker.STAYED))
        elsewhere = fn.or_(get(fn, worker, Worker.PROGRESS), fn.and_(left, fn.not_(stayed)))
        asked = fn.eq(get(fn, context, Context.NO_ENDS), const(0))
        quiet = fn.var(fn.and_(asked, fn.eq(elsewhere, const(0))))
        if self.live:
            with fn.if_(fn.and_(quiet.get(), fn.ne(left, const(0)))):
                quiet.set(fn.call("kept", [context, worker, source], 1))
        return quiet.get()

    def _just(self, fn: Fn, worker: Val, source: Val, quiet: Val) -> Val:
        """Whether a state in which an execution might stay is an end: all justice conditions hold
        there.
        """
        if not (self.live and self.system.justice):
            return quiet
        at_end = fn.var(quiet)
        with fn.if_(quiet):
            value = fn.call("just", [source], 64)
            self._note_unevaluable(fn, worker, source, value)
            at_end.set(fn.eq(value, const(1)))
        return at_end.get()

    def _open_edges(self, fn: Fn, context: Val, worker: Val, linking: Val, number: Val) -> None:
        with fn.if_(linking):
            place = fn.at(address(fn, context, Context.START), number)
            fn.store(get(fn, worker, Worker.EDGES), place)

    def _close_edges(self, fn: Fn, context: Val, worker: Val, number: Val, i: Val) -> None:
        """Takes the state's edges back where there was no room for a constraint."""
        with fn.if_(fn.ne(get(fn, worker, Worker.OVERFLOW), const(0))):
            self._without_edges(fn, context, worker, number)
            fn.ret(i)

    def _without_edges(self, fn: Fn, context: Val, worker: Val, number: Val) -> None:
        place = fn.at(address(fn, context, Context.START), number)
        put(fn, worker, Worker.EDGES, fn.load(place, 64))

    def _safe(self, fn: Fn, worker: Val, begin: Val) -> None:
        put(fn, worker, Worker.SAFE, begin)
        put(fn, worker, Worker.SAFE_TRANSITIONS, get(fn, worker, Worker.TRANSITIONS))
        put(fn, worker, Worker.SAFE_ENDS, get(fn, worker, Worker.ENDS))
        put(fn, worker, Worker.SAFE_LONE, get(fn, worker, Worker.LONE))
        put(fn, worker, Worker.SAFE_BEYOND, get(fn, worker, Worker.BEYOND))

    def _give_up(self, fn: Fn, worker: Val) -> None:
        put(fn, worker, Worker.TRANSITIONS, get(fn, worker, Worker.SAFE_TRANSITIONS))
        put(fn, worker, Worker.ENDS, get(fn, worker, Worker.SAFE_ENDS))
        put(fn, worker, Worker.LONE, get(fn, worker, Worker.SAFE_LONE))
        put(fn, worker, Worker.BEYOND, get(fn, worker, Worker.SAFE_BEYOND))
        put(fn, worker, Worker.PENDING, const(0))
        fn.ret(get(fn, worker, Worker.SAFE))

    def _expand(self, fn: Fn, context: Val, worker: Val, source: Val, i: Val) -> None:
        put(fn, worker, Worker.CURRENT, i)
        put(fn, worker, Worker.STARTED, get(fn, worker, Worker.TRANSITIONS))
        fn.store(source, field(fn, worker, Worker.SOURCE))
        for which in (Worker.PROGRESS, Worker.FAULTED, Worker.LEFT, Worker.STAYED):
            put(fn, worker, which, const(0))
        done = fn.label()
        if self.eager:
            fn.leave_if(emit_ample(fn, context, worker, source), done)
        for k in range(len(self.system.actions)):
            fn.call(f"action_{k}", [context, worker, source, const(0)], 1)
        if self.eager:
            fn.place(done)
