"""The search itself as native code: fingerprints, the seen set, and the loop over a frontier.

The seen set is one table of 64-bit slots, open addressing, linear probing, zero where free; slots
are claimed by compare and swap, so that any number of workers may insert.

* One word per state: a slot is ``state | 1 << bits | level << bits + 1``: the state itself, exact.
* More words: a slot is ``1 | 23 bits of the fingerprint | worker (6) | row (34)``; the row decides,
  so this is exact too.

A worker's batch holds successors that have not been looked up yet, to give the memory time.
"""

from __future__ import annotations

from checker.kernels import fields
from checker.kernels.actions import address, field, get, put
from checker.kernels.emit import FALSE, Fn, Label, Val, const
from checker.kernels.fields import Context, Mode, Shape, Worker
from checker.system.ir import PropertyKind, TransitionSystem

FACTOR = 0xD6E8FEB86659FD93
AHEAD = 16
"""So many rows ahead the table is asked for its slots while it is filled again."""
INSIDE = "alwaysinline"
OUTSIDE = "noinline"


class Runtime:
    """Emits the runtime for states of ``shape.words`` words.

    ``bits``: bits of a state of one word; ``level_bits``: bits for the level in a key, or 0.
    """

    def __init__(self, system: TransitionSystem, shape: Shape, bits: int, levels: int) -> None:
        self.system, self.shape, self.words = system, shape, shape.words
        self.bits, self.level_bits = bits, levels
        self.ends = any(p.kind is PropertyKind.AT_END for p in system.properties)

    def functions(self) -> list[Fn]:
        """Everything but the actions and the questions."""
        found = [
            self.fingerprint(), self.note(), self.insert(), self.lookup(), self.flush(),
            self.absorb(), self.judge(), self.run(), self.reinsert(), self.number(), self.add(),
        ]
        for i, prop in enumerate(self.system.properties):
            if prop.kind is PropertyKind.AT_END:
                found.append(self.classify(i))
        return found

    # -- states ---------------------------------------------------------------------------------

    def fingerprint(self) -> Fn:
        """``fingerprint(row)``: 64 well mixed bits; a bijection for one word."""
        fn = Fn("fingerprint", [("row", 0)], 64, INSIDE)
        total = const(0)
        for i in range(self.words):
            word = fn.load(fn.at(fn.args[0], i), 64)
            total = fn.xor(total, word) if i == 0 else fn.add(fn.mul(total, const(FACTOR)), word)
            total = self._mixed(fn, total)
        fn.ret(total)
        return fn

    def _mixed(self, fn: Fn, word: Val) -> Val:
        for _ in range(2):
            word = fn.mul(fn.xor(word, fn.lshr(word, const(32))), const(FACTOR))
        return fn.xor(word, fn.lshr(word, const(32)))

    def _same(self, fn: Fn, a: Val, b: Val) -> Val:
        other = const(0)
        for i in range(self.words):
            words = (fn.load(fn.at(row, i), 64) for row in (a, b))
            other = fn.or_(other, fn.xor(*words))
        return fn.eq(other, const(0))

    def _copy(self, fn: Fn, have: Val, want: Val) -> None:
        for i in range(self.words):
            fn.store(fn.load(fn.at(have, i), 64), fn.at(want, i))

    def _row(self, fn: Fn, rows: Val, index: Val) -> Val:
        return fn.at(rows, fn.mul(index, const(self.words)))

    def note(self) -> Fn:
        """``note(best, row)``: keeps the smaller of the two states."""
        fn = Fn("note", [("best", 0), ("row", 0)], None, OUTSIDE)
        best, row = fn.args
        mark = fn.call("fingerprint", [row], 64)
        take, leave = fn.label(), fn.label()
        fn.leave_if(fn.eq(get(fn, best, 0), const(0)), take)
        old = get(fn, best, 1)
        fn.leave_if(fn.lt(mark, old), take)
        fn.leave_if(fn.lt(old, mark), leave)
        for i in range(self.words):
            here, there = fn.load(fn.at(row, i), 64), get(fn, best, 2 + i)
            fn.leave_if(fn.lt(here, there), take)
            fn.leave_if(fn.lt(there, here), leave)
        fn.jump(leave)
        fn.place_fresh(take)
        put(fn, best, 0, const(1))
        put(fn, best, 1, mark)
        self._copy(fn, row, field(fn, best, 2))
        fn.place(leave)
        fn.ret()
        return fn

    # -- the seen set ---------------------------------------------------------------------------

    def _key(self, fn: Fn, row: Val, level: Val) -> Val:
        return fn.or_(fn.or_(fn.load(row, 64), const(1 << self.bits)), level)

    def _matches(self, fn: Fn, context: Val, slot: Val, row: Val, mark: Val) -> Val:
        """Whether a slot that is in use stands for the state at ``row``."""
        if self.words == 1:
            mine = fn.and_(slot, const((1 << self.bits + 1) - 1))
            return fn.eq(mine, self._key(fn, row, const(0)))
        result = fn.var(FALSE)
        with fn.if_(fn.eq(fn.lshr(slot, const(40)), self._tag(fn, mark))):
            rows = fn.load(fn.at(context, fn.add(const(Context.ROWS), self._owner(fn, slot))), 0)
            result.set(self._same(fn, self._row(fn, rows, self._local(fn, slot)), row))
        return result.get()

    def _tag(self, fn: Fn, mark: Val) -> Val:
        return fn.or_(fn.lshr(mark, const(41)), const(1 << 23))

    def _owner(self, fn: Fn, slot: Val) -> Val:
        return fn.and_(fn.lshr(slot, const(fields.LOCAL_BITS)), const(fields.MAX_WORKERS - 1))

    def _local(self, fn: Fn, slot: Val) -> Val:
        return fn.and_(slot, const((1 << fields.LOCAL_BITS) - 1))

    def _note_level(self, fn: Fn, context: Val, worker: Val, slot: Val, level: Val) -> None:
        """BACK where the state found is not in the next level."""
        if not self.ends:
            return
        if self.words == 1:
            if not self.level_bits:
                return
            ours = fn.lshr(level, const(self.bits + 1))
            back = fn.ne(fn.lshr(slot, const(self.bits + 1)), ours)
        else:
            owner = self._owner(fn, slot)
            start = fn.load(fn.at(context, fn.add(const(Context.NEXT_START), owner)), 64)
            back = fn.lt(self._local(fn, slot), start)
        with fn.if_(back):
            put(fn, worker, Worker.BACK, const(1))

    def insert(self) -> Fn:
        """``insert(context, worker, row, mark)``: 0, or 1 where there is no room for a new state."""
        fn = Fn("insert", [("context", 0), ("worker", 0), ("row", 0), ("mark", 64)], 64, INSIDE)
        context, worker, row, mark = fn.args
        table, mask = address(fn, context, Context.TABLE), get(fn, context, Context.MASK)
        level = get(fn, context, Context.LEVEL)
        index, mine = fn.var(fn.and_(mark, mask)), fn.label()
        with fn.forever() as done:
            place = fn.at(table, index.get())
            slot = fn.load(place, 64, "acquire")
            with fn.if_(fn.eq(slot, const(0))):
                count = get(fn, worker, Worker.COUNT)
                full = fn.le(get(fn, worker, Worker.CAP), count)
                with fn.if_(full):
                    fn.ret(const(1))
                rows_at = fn.at(context, fn.add(const(Context.ROWS), get(fn, worker, Worker.ID)))
                self._copy(fn, row, self._row(fn, fn.load(rows_at, 0), count))
                key = self._claim(fn, worker, row, mark, count, level)
                _, taken = fn.cmpxchg(place, const(0), key)
                fn.leave_if(taken, mine)
            with fn.if_(fn.ne(slot, const(0))):
                with fn.if_(self._matches(fn, context, slot, row, mark)):
                    self._note_level(fn, context, worker, slot, level)
                    fn.jump(done)
                index.set(fn.and_(fn.add(index.get(), const(1)), mask))
        fn.ret(const(0))
        fn.place_fresh(mine)
        put(fn, worker, Worker.COUNT, fn.add(get(fn, worker, Worker.COUNT), const(1)))
        fn.ret(const(0))
        return fn

    def _claim(self, fn: Fn, worker: Val, row: Val, mark: Val, count: Val, level: Val) -> Val:
        if self.words == 1:
            return self._key(fn, row, level)
        owner = fn.shl(get(fn, worker, Worker.ID), const(fields.LOCAL_BITS))
        return fn.or_(fn.shl(self._tag(fn, mark), const(40)), fn.or_(owner, count))

    def lookup(self) -> Fn:
        """``lookup(context, row)``: the slot of a state, or -1."""
        fn = Fn("lookup", [("context", 0), ("row", 0)], 64, OUTSIDE)
        context, row = fn.args
        mark = fn.call("fingerprint", [row], 64)
        table, mask = address(fn, context, Context.TABLE), get(fn, context, Context.MASK)
        index = fn.var(fn.and_(mark, mask))
        with fn.forever():
            slot = fn.load(fn.at(table, index.get()), 64)
            with fn.if_(fn.eq(slot, const(0))):
                fn.ret(const(-1))
            with fn.if_(self._matches(fn, context, slot, row, mark)):
                fn.ret(index.get())
            index.set(fn.and_(fn.add(index.get(), const(1)), mask))
        fn.ret(const(-1))
        return fn

    def _number_of(self, fn: Fn, context: Val, index: Val) -> Val:
        """The number of the state in slot ``index``."""
        if self.words == 1:
            vals = address(fn, context, Context.VALS)
            return fn.resize(fn.load(fn.at(vals, index, 32), 32), 64)
        slot = fn.load(fn.at(address(fn, context, Context.TABLE), index), 64)
        prefix = fn.at(context, fn.add(const(Context.PREFIX), self._owner(fn, slot)))
        return fn.add(fn.load(prefix, 64), self._local(fn, slot))

    def reinsert(self) -> Fn:
        """``reinsert(context, worker, begin, end)``: puts rows into a new table, unseen before."""
        params = [("context", 0), ("worker", 0), ("begin", 64), ("end", 64)]
        fn = Fn("reinsert", params, None)
        context, worker, begin, end = fn.args
        table, mask = address(fn, context, Context.TABLE), get(fn, context, Context.MASK)
        level = get(fn, context, Context.LEVEL)
        rows = fn.load(fn.at(context, fn.add(const(Context.ROWS), get(fn, worker, Worker.ID))), 0)
        with fn.count(end, begin) as i:
            later = fn.add(i, const(AHEAD))
            ahead = self._row(fn, rows, fn.select(fn.lt(later, end), later, i))
            soon = fn.call("fingerprint", [ahead], 64)
            fn.prefetch(fn.at(table, fn.and_(soon, mask)))
            row = self._row(fn, rows, i)
            mark = fn.call("fingerprint", [row], 64)
            key = self._claim(fn, worker, row, mark, i, level)
            index = fn.var(fn.and_(mark, mask))
            with fn.forever() as done:
                place = fn.at(table, index.get())
                with fn.if_(fn.eq(fn.load(place, 64, "monotonic"), const(0))):
                    _, taken = fn.cmpxchg(place, const(0), key)
                    fn.leave_if(taken, done)
                index.set(fn.and_(fn.add(index.get(), const(1)), mask))
        fn.ret()
        return fn

    def number(self) -> Fn:
        """``number(context, worker)``: writes the numbers of a worker's states to VALS."""
        fn = Fn("number", [("context", 0), ("worker", 0)], None)
        context, worker = fn.args
        who = get(fn, worker, Worker.ID)
        rows = fn.load(fn.at(context, fn.add(const(Context.ROWS), who)), 0)
        first = fn.load(fn.at(context, fn.add(const(Context.PREFIX), who)), 64)
        vals = address(fn, context, Context.VALS)
        with fn.count(get(fn, worker, Worker.COUNT)) as i:
            index = fn.call("lookup", [context, self._row(fn, rows, i)], 64)
            fn.store(fn.resize(fn.add(first, i), 32), fn.at(vals, index, 32))
        fn.ret()
        return fn

    # -- batches --------------------------------------------------------------------------------

    def add(self) -> Fn:
        """``add(context, worker, row)``: puts an initial state into the batch; room is needed."""
        fn = Fn("add", [("context", 0), ("worker", 0), ("row", 0)], None)
        context, worker, row = fn.args
        self._copy(fn, row, address(fn, worker, Worker.BATCH))
        put(fn, worker, Worker.PENDING, const(1))
        fn.call("flush", [context, worker], None)
        fn.ret()
        return fn

    def flush(self) -> Fn:
        """``flush(context, worker)``: does with the batch what the mode asks for; empties it."""
        fn = Fn("flush", [("context", 0), ("worker", 0)], None, OUTSIDE)
        context, worker = fn.args
        mode, count = get(fn, worker, Worker.MODE), get(fn, worker, Worker.PENDING)
        put(fn, worker, Worker.PENDING, const(0))
        with fn.if_(fn.eq(mode, const(Mode.SEARCH))):
            fn.call("absorb", [context, worker, count], None)
            fn.ret()
        batch = address(fn, worker, Worker.BATCH)
        with fn.count(count) as i:
            row, following = self._row(fn, batch, i), fn.label()
            with fn.if_(fn.eq(mode, const(Mode.PARENTS))):
                target = address(fn, worker, Worker.TARGET)
                with fn.if_(self._same(fn, row, target)):
                    best = field(fn, worker, self.shape.parent)
                    fn.call("note", [best, address(fn, worker, Worker.SOURCE)], None)
                fn.jump(following)
            index = fn.call("lookup", [context, row], 64)
            with fn.if_(fn.eq(mode, const(Mode.NEWCOMERS))):
                with fn.if_(fn.eq(index, const(-1))):
                    put(fn, worker, Worker.FOUND, const(1))
                fn.jump(following)
            self._edge(fn, context, mode, index)
            fn.place(following)
        fn.ret()
        return fn

    def _edge(self, fn: Fn, context: Val, mode: Val, index: Val) -> None:
        """Counts, or takes away, an edge to a state inside."""
        number = self._number_of(fn, context, index)
        alive = fn.load(fn.at(address(fn, context, Context.ALIVE), number, 8), 8)
        with fn.if_(fn.eq(alive, const(1, 8))):
            place = fn.at(address(fn, context, Context.INDEGREE), number, 32)
            step = fn.select(fn.eq(mode, const(Mode.TRIM)), const(-1, 32), const(1, 32))
            fn.store(fn.add(fn.load(place, 32), step), place)

    def absorb(self) -> Fn:
        """``absorb(context, worker, count)``: the batch goes into the seen set."""
        fn = Fn("absorb", [("context", 0), ("worker", 0), ("count", 64)], None, OUTSIDE)
        context, worker, count = fn.args
        with fn.if_(fn.ne(get(fn, worker, Worker.OVERFLOW), const(0))):
            fn.ret()
        batch, hashes = (address(fn, worker, w) for w in (Worker.BATCH, Worker.HASHES))
        table, mask = address(fn, context, Context.TABLE), get(fn, context, Context.MASK)
        with fn.count(count) as i:
            mark = fn.call("fingerprint", [self._row(fn, batch, i)], 64)
            fn.store(mark, fn.at(hashes, i))
            fn.prefetch(fn.at(table, fn.and_(mark, mask)))
        with fn.count(count) as i:
            mark = fn.load(fn.at(hashes, i), 64)
            full = fn.call("insert", [context, worker, self._row(fn, batch, i), mark], 64)
            with fn.if_(fn.ne(full, const(0))):
                put(fn, worker, Worker.OVERFLOW, const(1))
                fn.ret()
        put(fn, worker, Worker.SAFE, get(fn, worker, Worker.CURRENT))
        put(fn, worker, Worker.SAFE_TRANSITIONS, get(fn, worker, Worker.STARTED))
        put(fn, worker, Worker.SAFE_ENDS, get(fn, worker, Worker.ENDS))
        fn.ret()
        return fn

    # -- the loop -------------------------------------------------------------------------------

    def judge(self) -> Fn:
        """``judge(context, worker, source, end)``: premises and violations of one state."""
        params = [("context", 0), ("worker", 0), ("source", 0), ("end", 1)]
        fn = Fn("judge", params, None, INSIDE)
        context, worker, source, end = fn.args
        count = len(self.system.properties)
        for i, prop in enumerate(self.system.properties):
            known = get(fn, context, Context.FLAGS + i)
            with fn.if_(fn.eq(known, const(0))):
                value = fn.call(f"premise_{i}", [source], 64)
                with fn.if_(fn.eq(value, const(1))):
                    put(fn, worker, self.shape.premise + i, const(1))
                self._lost(fn, worker, source, value)
            wanted = fn.eq(get(fn, context, Context.FLAGS + count + i), const(0))
            if prop.kind is PropertyKind.AT_END:
                wanted = fn.and_(wanted, end)
            with fn.if_(wanted):
                value = fn.call(f"bad_{i}", [source], 64)
                with fn.if_(fn.eq(value, const(1))):
                    fn.call("note", [field(fn, worker, self.shape.best(i)), source], None)
                self._lost(fn, worker, source, value)
        fn.ret()
        return fn

    def _lost(self, fn: Fn, worker: Val, source: Val, value: Val) -> None:
        with fn.if_(fn.eq(value, const(2))):
            fn.call("note", [field(fn, worker, self.shape.lost), source], None)

    def run(self) -> Fn:
        """``run(context, worker, rows, begin, end, first)``: expands rows; gives how far it came.

        ``first``: the number of row 0.  Where there is no room the rest has to be run again.
        """
        params = [("context", 0), ("worker", 0), ("rows", 0), ("begin", 64), ("end", 64)]
        fn = Fn("run", [*params, ("first", 64)], 64)
        context, worker, rows, begin, end, first = fn.args
        mode = get(fn, worker, Worker.MODE)
        judged = fn.or_(fn.eq(mode, const(Mode.SEARCH)), fn.eq(mode, const(Mode.NEWCOMERS)))
        self._safe(fn, worker, begin)
        with fn.count(end, begin) as i:
            source, following = self._row(fn, rows, i), fn.label()
            number = fn.add(first, i)
            with fn.if_(fn.eq(mode, const(Mode.INDEGREE))):
                fn.leave_if(fn.ne(self._alive(fn, context, number), const(1, 8)), following)
            with fn.if_(fn.eq(mode, const(Mode.TRIM))):
                self._trim(fn, context, worker, number, following)
            self._expand(fn, context, worker, source, i)
            at_end = fn.eq(get(fn, worker, Worker.PROGRESS), const(0))
            with fn.if_(judged):
                if self.ends:
                    total = fn.add(get(fn, worker, Worker.ENDS), fn.resize(at_end, 64))
                    put(fn, worker, Worker.ENDS, total)
                fn.call("judge", [context, worker, source, at_end], None)
                with fn.if_(fn.ne(get(fn, worker, Worker.FAULTED), const(0))):
                    fn.call("note", [field(fn, worker, self.shape.fault), source], None)
            with fn.if_(fn.eq(mode, const(Mode.SEARCH))):
                fn.leave_if(fn.eq(get(fn, worker, Worker.OVERFLOW), const(0)), following)
                self._give_up(fn, worker)
            fn.call("flush", [context, worker], None)
            loop = fn.and_(fn.ne(get(fn, worker, Worker.SELF), const(0)), fn.not_(at_end))
            with fn.if_(loop):
                put(fn, worker, Worker.CYCLE, const(1))
            fn.place(following)
        put(fn, worker, Worker.CURRENT, end)
        put(fn, worker, Worker.STARTED, get(fn, worker, Worker.TRANSITIONS))
        fn.call("flush", [context, worker], None)
        with fn.if_(fn.ne(get(fn, worker, Worker.OVERFLOW), const(0))):
            self._give_up(fn, worker)
        fn.ret(end)
        return fn

    def _safe(self, fn: Fn, worker: Val, begin: Val) -> None:
        put(fn, worker, Worker.SAFE, begin)
        put(fn, worker, Worker.SAFE_TRANSITIONS, get(fn, worker, Worker.TRANSITIONS))
        put(fn, worker, Worker.SAFE_ENDS, get(fn, worker, Worker.ENDS))

    def _give_up(self, fn: Fn, worker: Val) -> None:
        put(fn, worker, Worker.TRANSITIONS, get(fn, worker, Worker.SAFE_TRANSITIONS))
        put(fn, worker, Worker.ENDS, get(fn, worker, Worker.SAFE_ENDS))
        put(fn, worker, Worker.PENDING, const(0))
        fn.ret(get(fn, worker, Worker.SAFE))

    def _expand(self, fn: Fn, context: Val, worker: Val, source: Val, i: Val) -> None:
        put(fn, worker, Worker.CURRENT, i)
        put(fn, worker, Worker.STARTED, get(fn, worker, Worker.TRANSITIONS))
        fn.store(source, field(fn, worker, Worker.SOURCE))
        for which in (Worker.PROGRESS, Worker.SELF, Worker.FAULTED):
            put(fn, worker, which, const(0))
        for k in range(len(self.system.actions)):
            fn.call(f"action_{k}", [context, worker, source], None)
        if (self.ends and self.words == 1 and self.level_bits) or (self.ends and self.words > 1):
            with fn.if_(fn.ne(get(fn, worker, Worker.SELF), const(0))):
                with fn.if_(fn.ne(get(fn, worker, Worker.PROGRESS), const(0))):
                    put(fn, worker, Worker.BACK, const(1))

    def _alive(self, fn: Fn, context: Val, number: Val) -> Val:
        return fn.load(fn.at(address(fn, context, Context.ALIVE), number, 8), 8)

    def _trim(self, fn: Fn, context: Val, worker: Val, number: Val, following: Label) -> None:
        """Goes on only for states inside to which no edge is left, and takes them out."""
        place = fn.at(address(fn, context, Context.ALIVE), number, 8)
        fn.leave_if(fn.ne(fn.load(place, 8), const(1, 8)), following)
        degree = fn.load(fn.at(address(fn, context, Context.INDEGREE), number, 32), 32)
        fn.leave_if(fn.ne(degree, const(0, 32)), following)
        fn.store(const(2, 8), place)
        put(fn, worker, Worker.FOUND, fn.add(get(fn, worker, Worker.FOUND), const(1)))

    def classify(self, prop: int) -> Fn:
        """``classify_<p>(rows, count, out)``: a byte for each state, ``bad`` of property ``p``."""
        fn = Fn(f"classify_{prop}", [("rows", 0), ("count", 64), ("out", 0)], None)
        rows, count, out = fn.args
        with fn.count(count) as i:
            value = fn.call(f"bad_{prop}", [self._row(fn, rows, i)], 64)
            fn.store(fn.resize(value, 8), fn.at(out, i, 8))
        fn.ret()
        return fn


