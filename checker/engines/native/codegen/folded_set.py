"""The set of visited states where rows are folded into trees whose nodes they share.

A row of *w* words is 2 *w* pieces of 32 bits, the leaves of a binary tree.  An inner node is a pair
of 32-bit references, each to a node or a piece; every pair is stored once, in one array, and its
number is the reference to it (Laarman, van de Pol, Weber, "Parallel Recursive State Compression for
Free", SPIN 2011).  The pair at the root is in the place of the row, and is not shared.  So a state
takes eight bytes, a slot, and the nodes that no earlier state has.

* A pair has one number: a slot of the nodes' table is claimed by compare and swap, as one of states
  is.  So two trees are equal just where their roots are, and subtrees where their numbers are.
* A worker knows the tree of the last row that it has folded.  Of the next one only the nodes above
  pieces that differ are looked for, or made.
* Slots have 32 bits: the reference to a root or a node, from 1 on, and above it as many bits of the
  fingerprint as there is room for.
* Which pieces are neighbours is data (``CHILDREN``), so that it can follow from the first states.

The fingerprint of the whole row selects its slot, as of rows that are not folded.  The newest rows
of a worker are whole still, and are folded together: a successor that is known already is often one
of them.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

from checker.engines.native.codegen.emit import Fn, Val, Var, const
from checker.engines.native.codegen.fields import LINE, MAX_WORKERS, Context, Worker
from checker.engines.native.codegen.record_access import address, field, get, put
from checker.engines.native.codegen.visited_set import INSIDE, OUTSIDE, VisitedSet

LEAST_WORDS, MOST_WORDS = 4, 32
"""The widths of rows, in words, that are folded: narrower rows would not become smaller, and wider
ones have more nodes than a word has bits."""
CHUNK = 256
"""The number of nodes that a worker takes at a time."""
TOGETHER = 32
"""The number of rows that are unfolded before they are looked for."""


class Fold(IntEnum):
    """Words of the record of folded rows; written while no worker runs, but for USED."""

    NODES = 0  # address of the nodes, 64 bits each
    INDEX = 1  # address of their table
    INDEX_SLOTS = 2  # its size in words
    CAP = 3  # how many nodes there may be
    NODE_BITS = 4  # bits of a reference in a slot of INDEX
    SLOT_BITS = 5  # bits of a reference in a slot of the visited set
    ROW_BITS = 6  # those of them that are the number of a row
    CHILDREN = 8  # for each node, from below: the positions of its parts, the second shifted by 8
    ANCESTORS = CHILDREN + 2 * MOST_WORDS  # for each piece: bit set, the nodes above it
    FROM = ANCESTORS + 2 * MOST_WORDS  # for each worker: its first row that is whole still
    END = FROM + MAX_WORKERS  # for each worker: up to where there is room for whole rows
    WHOLE = END + MAX_WORKERS  # for each worker: the address at which row 0 would be, were it whole
    USED = WHOLE + MAX_WORKERS  # how many nodes workers have taken; alone in its cache line
    SIZE = USED + LINE


class FoldedSet(VisitedSet):
    """A visited set that can have both: whole rows, and folded ones where ``Context.FOLD`` is not
    0.
    """

    chunk = CHUNK

    @property
    def pieces(self) -> int:
        """The number of leaves; they are the positions before those of the nodes."""
        return 2 * self.words

    @property
    def root(self) -> int:
        """The number of the root among the nodes of a tree."""
        return self.pieces - 2

    def functions(self) -> list[Fn]:
        both = [fn for fn in super().functions() if fn.name not in _OTHERWISE]
        choosing = [self._choose(of) for of in _OTHERWISE.values()]
        mine = [self.changed(), self.node_of(), self.fold(), self.unfold(), self.row_of()]
        mine += [self.insert_folded(), self.insert_folded_batch(), self.find_folded()]
        mine += [self.reinsert_folded(), self.fold_rows(), self.unfold_rows(), self.index_nodes()]
        return [*both, *(fn for pair in choosing for fn in pair), *mine]

    def _choose(self, of: Callable[[FoldedSet], Fn]) -> tuple[Fn, Fn]:
        """A function for whole rows under another name, and one that calls it, or that for folded
        rows.
        """
        whole = of(self)
        name, given = whole.name, [Val(f"%{n}", bits) for n, bits in whole.params]
        chosen = Fn(name, whole.params, whole.result, OUTSIDE)
        whole.name = name + "_whole"
        folded = chosen.ne(get(chosen, given[0], Context.FOLD), const(0))
        for condition, suffix in ((folded, "_folded"), (None, "_whole")):
            skip = chosen.label()
            if condition is not None:
                chosen.leave_if(chosen.xor(condition, const(1, 1)), skip)
            value = chosen.call(name + suffix, given, whole.result)
            chosen.ret(None if whole.result is None else value)
            if condition is not None:
                chosen.place_fresh(skip)
        return whole, chosen

    # -- trees ----------------------------------------------------------------------------------

    def _piece(self, fn: Fn, base: Val, position: Val) -> Val:
        """The content of a position: a piece, or the number of a node, in 32 bits."""
        return fn.load(fn.at(base, position, 32), 32)

    def _parts(self, fn: Fn, fold: Val, node: Val) -> tuple[Val, Val]:
        """The positions of both parts of a node."""
        pair = fn.load(fn.at(fold, fn.add(node, const(Fold.CHILDREN))), 64)
        return fn.and_(pair, const(255)), fn.lshr(pair, const(8))

    def _below(self, mask: Val, fn: Fn) -> Val:
        """``(1 << mask) - 1``."""
        return fn.sub(fn.shl(const(1), mask), const(1))

    def changed(self) -> Fn:
        """``changed(fold, worker, row)``: bit set, the nodes that differ from those of the worker's
        last row; with the root in any case.
        """
        fn = Fn("changed", [("fold", 0), ("worker", 0), ("row", 0)], 64, INSIDE)
        fold, worker, row = fn.args
        with fn.if_(fn.eq(get(fn, worker, Worker.KNOWN), const(0))):
            fn.ret(const((1 << self.root + 1) - 1))
        last, found = address(fn, worker, Worker.LAST), fn.var(const(1 << self.root))
        for i in range(self.words):
            differ = fn.xor(fn.load(fn.at(row, i), 64), fn.load(fn.at(last, i), 64))
            with fn.if_(fn.ne(differ, const(0))):
                halves = (fn.and_(differ, const(0xFFFFFFFF)), fn.lshr(differ, const(32)))
                for k, half in enumerate(halves):
                    above = get(fn, fold, Fold.ANCESTORS + 2 * i + k)
                    some = fn.select(fn.ne(half, const(0)), above, const(0))
                    found.set(fn.or_(found.get(), some))
        fn.ret(found.get())
        return fn

    def fold(self) -> Fn:
        """``fold(fold, worker, row, changed)``: makes the row's tree the worker's last one, and
        its root the worker's ROOT; 1 where there is no room for a node.
        """
        params = [("fold", 0), ("worker", 0), ("row", 0), ("changed", 64)]
        fn = Fn("fold", params, 64, OUTSIDE)
        fold, worker, row, changed = fn.args
        last = address(fn, worker, Worker.LAST)
        put(fn, worker, Worker.KNOWN, const(0))
        self.copy(fn, row, last)
        todo = fn.var(changed)
        with fn.forever() as done:
            node = fn.intrinsic("cttz", todo.get(), "i1 true")
            first, second = (
                fn.resize(self._piece(fn, last, p), 64) for p in self._parts(fn, fold, node)
            )
            pair = fn.or_(first, fn.shl(second, const(32)))
            with fn.if_(fn.eq(node, const(self.root))):
                put(fn, worker, Worker.ROOT, pair)
                fn.jump(done)
            number = fn.call("node_of", [fold, worker, pair], 64)
            with fn.if_(fn.eq(number, const(-1))):
                fn.ret(const(1))
            place = fn.at(last, fn.add(node, const(self.pieces)), 32)
            fn.store(fn.resize(number, 32), place)
            todo.set(fn.and_(todo.get(), fn.sub(todo.get(), const(1))))
        put(fn, worker, Worker.KNOWN, const(1))
        fn.ret(const(0))
        return fn

    def _either(self, fn: Fn, first: Val, a: Val, b: Val) -> Val:
        """One of two addresses."""
        return fn._new(0, f"select i1 {first.text}, ptr {a.text}, ptr {b.text}")

    def unfold(self) -> Fn:
        """``unfold(fold, root, out)``: writes the row of a tree, then the numbers of its nodes."""
        fn = Fn("unfold", [("fold", 0), ("root", 64), ("out", 0)], None, OUTSIDE)
        fold, root, out = fn.args
        nodes = address(fn, fold, Fold.NODES)
        for node in reversed(range(self.root + 1)):
            pair = root
            if node < self.root:
                number = self._piece(fn, out, const(self.pieces + node))
                pair = fn.load(fn.at(nodes, fn.resize(number, 64)), 64)
            halves = (fn.resize(pair, 32), fn.resize(fn.lshr(pair, const(32)), 32))
            for half, position in zip(halves, self._parts(fn, fold, const(node)), strict=True):
                fn.store(half, fn.at(out, position, 32))
        fn.ret()
        return fn

    # -- tables of 32-bit slots -----------------------------------------------------------------

    def _tag_and_mask(self, fn: Fn, mark: Val, bits: Val) -> tuple[Val, Val]:
        """The part of a slot above a reference of ``bits`` bits, and the mask of that part."""
        mask = fn.resize(fn.shl(const(0xFFFFFFFF), bits), 32)
        return fn.and_(fn.resize(fn.lshr(mark, const(32)), 32), mask), mask

    def _reference(self, fn: Fn, table: Val, index: Val, mask: Val) -> Val:
        """The reference in a slot; what it refers to can be read."""
        slot = fn.load(fn.at(table, index, 32), 32, "acquire")
        return fn.resize(fn.and_(slot, fn.xor(mask, const(-1, 32))), 64)

    def _in_line(self, fn: Fn, base: Val, which: Val) -> Val:
        """The first slot whose bit is set in ``which``, of the line at word ``base``."""
        first = fn.resize(fn.intrinsic("cttz", which, "i1 true"), 64)
        return fn.add(fn.shl(base, const(1)), first)

    def _start(self, fn: Fn, slots: Val, mark: Val) -> Val:
        """The word of a table at which the search for a fingerprint begins; the size of the table
        is in words."""
        turned = fn.or_(fn.shl(mark, const(32)), fn.lshr(mark, const(32)))
        product = fn.mul(fn.resize(turned, 128), fn.resize(slots, 128))
        return fn.and_(fn.resize(fn.lshr(product, const(64, 128)), 64), const(-LINE))

    def _onward(self, fn: Fn, base: Var, slots: Val) -> None:
        following = fn.add(base.get(), const(LINE))
        base.set(fn.select(fn.eq(following, slots), const(0), following))

    def _search(
        self,
        fn: Fn,
        table: Val,
        slots: Val,
        bits: Val,
        mark: Val,
        is_it: Callable[[Val], None],
        make: Callable[[], Val],
        claimed: Callable[[], None],
    ) -> None:
        """Emits a search for a fingerprint in a table.  ``is_it``: is given a reference, and
        returns from the function where it is what is looked for; ``make``: the reference to claim a
        free slot with; ``claimed``: what is done when it has it.
        """
        tag, mask = self._tag_and_mask(fn, mark, bits)
        base = fn.var(self._start(fn, slots, mark))
        with fn.forever():
            line = fn.line(fn.at(table, base.get()), 32)
            free = fn.among(line, const(0, 32))
            same = fn.and_(fn.among(line, tag, mask=mask), fn.xor(free, const(-1, 16)))
            alike = fn.var(same)
            with fn.forever() as none:
                some = alike.get()
                fn.leave_if(fn.eq(some, const(0, 16)), none)
                is_it(self._reference(fn, table, self._in_line(fn, base.get(), some), mask))
                alike.set(fn.and_(some, fn.sub(some, const(1, 16))))
            again, full = fn.label(), fn.label()
            fn.leave_if(fn.eq(free, const(0, 16)), full)
            key = fn.or_(tag, fn.resize(make(), 32))
            place = fn.at(table, self._in_line(fn, base.get(), free), 32)
            _, taken = fn.cmpxchg(place, const(0, 32), key)
            with fn.if_(taken):
                claimed()
            fn.jump(again)
            fn.place_fresh(full)
            self._onward(fn, base, slots)
            fn.place(again)

    def node_of(self) -> Fn:
        """``node_of(fold, worker, pair)``: the number of a pair, which it has from now on; -1 where
        there is no room.
        """
        fn = Fn("node_of", [("fold", 0), ("worker", 0), ("pair", 64)], 64, OUTSIDE)
        fold, worker, pair = fn.args
        nodes, table = address(fn, fold, Fold.NODES), address(fn, fold, Fold.INDEX)
        slots, bits = get(fn, fold, Fold.INDEX_SLOTS), get(fn, fold, Fold.NODE_BITS)

        def is_it(reference: Val) -> None:
            number = fn.sub(reference, const(1))
            with fn.if_(fn.eq(fn.load(fn.at(nodes, number), 64), pair)):
                fn.ret(number)

        def make() -> Val:
            with fn.if_(fn.eq(get(fn, worker, Worker.NODE), get(fn, worker, Worker.NODE_END))):
                self._take_nodes(fn, fold, worker)
            number = get(fn, worker, Worker.NODE)
            fn.store(pair, fn.at(nodes, number))
            return fn.add(number, const(1))

        def claimed() -> None:
            number = get(fn, worker, Worker.NODE)
            put(fn, worker, Worker.NODE, fn.add(number, const(1)))
            fn.ret(number)

        self._search(fn, table, slots, bits, self._mix(fn, pair), is_it, make, claimed)
        fn.ret(const(-1))
        return fn

    def _take_nodes(self, fn: Fn, fold: Val, worker: Val) -> None:
        """Gives a worker the next nodes; returns -1 from the function if none is left."""
        place = field(fn, fold, Fold.USED)
        with fn.forever() as done:
            used = fn.load(place, 64, "monotonic")
            end = fn.add(used, const(self.chunk))
            with fn.if_(fn.lt(get(fn, fold, Fold.CAP), end)):
                fn.ret(const(-1))
            _, taken = fn.cmpxchg(place, used, end)
            with fn.if_(taken):
                put(fn, worker, Worker.NODE, used)
                put(fn, worker, Worker.NODE_END, end)
                fn.jump(done)

    def _own(self, fn: Fn, fold: Val, worker: Val, row: Val) -> Val:
        """The reference to a row of a worker."""
        owner = fn.shl(get(fn, worker, Worker.ID), get(fn, fold, Fold.ROW_BITS))
        return fn.or_(owner, fn.add(row, const(1)))

    def _visited(self, fn: Fn, context: Val, fold: Val) -> tuple[Val, Val, Val]:
        return (
            address(fn, context, Context.TABLE),
            get(fn, context, Context.SLOTS),
            get(fn, fold, Fold.SLOT_BITS),
        )

    def insert_folded(self) -> Fn:
        """``insert_folded(context, worker, row, mark)``: 0, or 1 where a new state has no room.

        A new row is whole until :class:`Store` folds it.
        """
        params = [("context", 0), ("worker", 0), ("row", 0), ("mark", 64)]
        fn = Fn("insert_folded", params, 64, OUTSIDE)
        context, worker, row, mark = fn.args
        fold, out = address(fn, context, Context.FOLD), fn.alloca(64, self.pieces)

        def is_it(reference: Val) -> None:
            owner, local = self._meant(fn, fold, reference)
            found = fn.call("row_of", [context, owner, local, out], 0)
            with fn.if_(self.same(fn, found, row)):
                self._note_row(fn, context, worker, owner, local)
                fn.ret(const(0))

        def make() -> Val:
            count, mine = get(fn, worker, Worker.COUNT), get(fn, worker, Worker.ID)
            end = fn.load(fn.at(fold, fn.add(mine, const(Fold.END))), 64)
            cap = get(fn, worker, Worker.CAP)
            with fn.if_(fn.or_(fn.le(cap, count), fn.le(end, count))):
                fn.ret(const(1))
            self.copy(fn, row, self._whole_at(fn, fold, mine, count))
            return self._own(fn, fold, worker, count)

        def claimed() -> None:
            put(fn, worker, Worker.COUNT, fn.add(get(fn, worker, Worker.COUNT), const(1)))
            fn.ret(const(0))

        self._search(fn, *self._visited(fn, context, fold), mark, is_it, make, claimed)
        fn.ret(const(0))
        return fn

    def _meant(self, fn: Fn, fold: Val, reference: Val) -> tuple[Val, Val]:
        """The owner and the row that a reference means."""
        bits = get(fn, fold, Fold.ROW_BITS)
        row = fn.sub(fn.and_(reference, self._below(bits, fn)), const(1))
        return fn.lshr(reference, bits), row

    def _is_whole(self, fn: Fn, fold: Val, owner: Val, row: Val) -> Val:
        """Whether a row has not been folded yet."""
        return fn.le(fn.load(fn.at(fold, fn.add(owner, const(Fold.FROM))), 64), row)

    def _whole_at(self, fn: Fn, fold: Val, owner: Val, row: Val) -> Val:
        """The address of a row that is whole."""
        return self.row(fn, fn.load(fn.at(fold, fn.add(owner, const(Fold.WHOLE))), 0), row)

    def _root_at(self, fn: Fn, context: Val, owner: Val, row: Val) -> Val:
        """The address of the root of a row that is folded."""
        return fn.at(fn.load(fn.at(context, fn.add(const(Context.ROWS), owner)), 0), row)

    def row_of(self) -> Fn:
        """``row_of(context, owner, row, out)``: the address of a row: where it is whole, or
        ``out``, where it is unfolded.
        """
        params = [("context", 0), ("owner", 64), ("row", 64), ("out", 0)]
        fn = Fn("row_of", params, 0, INSIDE)
        context, owner, row, out = fn.args
        fold = address(fn, context, Context.FOLD)
        with fn.if_(self._is_whole(fn, fold, owner, row)):
            fn.ret(self._whole_at(fn, fold, owner, row))
        root = fn.load(self._root_at(fn, context, owner, row), 64)
        fn.call("unfold", [fold, root, out], None)
        fn.ret(out)
        return fn

    def _note_row(self, fn: Fn, context: Val, worker: Val, owner: Val, local: Val) -> None:
        """Sets BACK where a row that was found is not in the next level."""
        if self.tracks:
            start = fn.load(fn.at(context, fn.add(const(Context.NEXT_START), owner)), 64)
            with fn.if_(fn.lt(local, start)):
                put(fn, worker, Worker.BACK, const(1))

    def insert_folded_batch(self) -> Fn:
        """``insert_batch_folded(context, worker, count)``: see ``insert_batch``."""
        params = [("context", 0), ("worker", 0), ("count", 64)]
        fn = Fn("insert_batch_folded", params, None, OUTSIDE)
        context, worker, count = fn.args
        batch, hashes = (address(fn, worker, w) for w in (Worker.BATCH, Worker.HASHES))
        fold = address(fn, context, Context.FOLD)
        table, slots, bits = self._visited(fn, context, fold)
        with fn.count(count) as i:
            mark = fn.load(fn.at(hashes, i), 64)
            tag, mask = self._tag_and_mask(fn, mark, bits)
            base = self._start(fn, slots, mark)
            line = fn.line(fn.at(table, base), 32)
            some = fn.or_(fn.among(line, tag, mask=mask), const(1 << 15, 16))
            slot = fn.load(fn.at(table, self._in_line(fn, base, some), 32), 32)
            reference = fn.resize(fn.and_(slot, fn.xor(mask, const(-1, 32))), 64)
            owner, local = self._meant(fn, fold, reference)
            whole = self._whole_at(fn, fold, owner, local)
            root = self._root_at(fn, context, owner, local)
            fn.prefetch(self._either(fn, self._is_whole(fn, fold, owner, local), whole, root))
        with fn.count(count) as i:
            given = [context, worker, self.row(fn, batch, i), fn.load(fn.at(hashes, i), 64)]
            full = fn.call("insert_folded", given, 64)
            self._stop_if(fn, worker, fn.ne(full, const(0)))
        fn.ret()
        return fn

    def find_folded(self) -> Fn:
        """``find_folded(context, row, mark)``: a number that is not -1, or -1; see ``find``."""
        fn = Fn("find_folded", [("context", 0), ("row", 0), ("mark", 64)], 64, OUTSIDE)
        context, row, mark = fn.args
        fold, out = address(fn, context, Context.FOLD), fn.alloca(64, self.pieces)

        def is_it(reference: Val) -> None:
            found = fn.call("row_of", [context, *self._meant(fn, fold, reference), out], 0)
            with fn.if_(self.same(fn, found, row)):
                fn.ret(reference)

        def make() -> Val:
            fn.ret(const(-1))
            fn.place_fresh(fn.label())
            return const(0)

        self._search(fn, *self._visited(fn, context, fold), mark, is_it, make, lambda: None)
        fn.ret(const(-1))
        return fn

    def number_of(self, fn: Fn, context: Val, index: Val) -> Val:
        """The number of the state in a slot or, where rows are folded, of one that a reference
        means: ``find`` returns either."""
        fold, found, whole = address(fn, context, Context.FOLD), fn.var(const(0)), fn.label()
        folded = fn.ne(get(fn, context, Context.FOLD), const(0))
        fn.leave_if(fn.xor(folded, const(1, 1)), whole)
        owner, local = self._meant(fn, fold, index)
        prefix = fn.at(context, fn.add(const(Context.PREFIX), owner))
        found.set(fn.add(fn.load(prefix, 64), local))
        done = fn.label()
        fn.jump(done)
        fn.place_fresh(whole)
        found.set(super().number_of(fn, context, index))
        fn.place(done)
        return found.get()

    # -- whole tables ---------------------------------------------------------------------------

    def reinsert_folded(self) -> Fn:
        """``reinsert_folded(context, worker, begin, end, level)``: see ``reinsert``."""
        params = [("context", 0), ("worker", 0), ("begin", 64), ("end", 64), ("level", 64)]
        fn = Fn("reinsert_folded", params, None, OUTSIDE)
        context, worker, begin, end, _ = fn.args
        fold = address(fn, context, Context.FOLD)
        mine = get(fn, worker, Worker.ID)
        out, marks = fn.alloca(64, self.pieces), fn.alloca(64, TOGETHER)
        blocks = fn.lshr(fn.add(fn.sub(end, begin), const(TOGETHER - 1)), const(5))
        with fn.count(blocks) as block:
            first = fn.add(begin, fn.shl(block, const(5)))
            left = fn.sub(end, first)
            many = fn.select(fn.lt(left, const(TOGETHER)), left, const(TOGETHER))
            with fn.count(many) as i:
                row = fn.call("row_of", [context, mine, fn.add(first, i), out], 0)
                mark = fn.call("fingerprint", [row], 64)
                fn.store(mark, fn.at(marks, i))
                self.ask_for(fn, context, mark)
            with fn.count(many) as i:
                reference = self._own(fn, fold, worker, fn.add(first, i))
                table, slots, bits = self._visited(fn, context, fold)
                self._add(fn, table, slots, bits, fn.load(fn.at(marks, i), 64), reference)
        fn.ret()
        return fn

    def _add(self, fn: Fn, table: Val, slots: Val, bits: Val, mark: Val, reference: Val) -> None:
        """Emits what claims a slot for a fingerprint that is not in a table."""
        tag, _ = self._tag_and_mask(fn, mark, bits)
        key, base = fn.or_(tag, fn.resize(reference, 32)), fn.var(self._start(fn, slots, mark))
        with fn.forever() as done:
            free = fn.among(fn.line(fn.at(table, base.get()), 32), const(0, 32))
            again, full = fn.label(), fn.label()
            fn.leave_if(fn.eq(free, const(0, 16)), full)
            place = fn.at(table, self._in_line(fn, base.get(), free), 32)
            _, taken = fn.cmpxchg(place, const(0, 32), key)
            fn.leave_if(taken, done)
            fn.jump(again)
            fn.place_fresh(full)
            self._onward(fn, base, slots)
            fn.place(again)

    def index_nodes(self) -> Fn:
        """``index_nodes(fold, begin, end)``: puts nodes into a table that does not have them."""
        fn = Fn("index_nodes", [("fold", 0), ("begin", 64), ("end", 64)], None)
        fold, begin, end = fn.args
        nodes, table = address(fn, fold, Fold.NODES), address(fn, fold, Fold.INDEX)
        slots, bits = get(fn, fold, Fold.INDEX_SLOTS), get(fn, fold, Fold.NODE_BITS)
        with fn.count(end, begin) as i:
            mark = self._mix(fn, fn.load(fn.at(nodes, i), 64))
            self._add(fn, table, slots, bits, mark, fn.add(i, const(1)))
        fn.ret()
        return fn

    def fold_rows(self) -> Fn:
        """``fold_rows(fold, worker, rows, begin, end, roots)``: writes the roots of rows; returns
        where there was no room for a node, or ``end``.
        """
        params = [("fold", 0), ("worker", 0), ("rows", 0), ("begin", 64), ("end", 64), ("roots", 0)]
        fn = Fn("fold_rows", params, 64)
        fold, worker, rows, begin, end, roots = fn.args
        with fn.count(end, begin) as i:
            row = self.row(fn, rows, i)
            changed = fn.call("changed", [fold, worker, row], 64)
            with fn.if_(fn.ne(fn.call("fold", [fold, worker, row, changed], 64), const(0))):
                fn.ret(i)
            fn.store(get(fn, worker, Worker.ROOT), fn.at(roots, i))
        fn.ret(end)
        return fn

    def unfold_rows(self) -> Fn:
        """``unfold_rows(context, worker, begin, end, out)``: writes whole rows of a worker."""
        params = [("context", 0), ("worker", 0), ("begin", 64), ("end", 64), ("out", 0)]
        fn = Fn("unfold_rows", params, None)
        context, worker, begin, end, out = fn.args
        owner, tree = get(fn, worker, Worker.ID), fn.alloca(64, self.pieces)
        with fn.count(end, begin) as i:
            row = fn.call("row_of", [context, owner, i, tree], 0)
            self.copy(fn, row, self.row(fn, out, fn.sub(i, begin)))
        fn.ret()
        return fn


_OTHERWISE: dict[str, Callable[[FoldedSet], Fn]] = {
    "insert_batch": VisitedSet.insert_batch,
    "find": VisitedSet.find,
    "reinsert": VisitedSet.reinsert,
}
"""The functions that are others where rows are folded."""
