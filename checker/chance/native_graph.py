"""Graph algorithms on decision processes as native code.

Branches, seen as edges, are in compressed rows: those of a state are contiguous, because its
choices are.  Strongly connected components: Tarjan (1972) with an explicit stack.  The closures are
those of Baier and Katoen (2008), 10.6.

Arrays have 64 bits for each entry unless stated otherwise.  Every function passes over its
arrays once, or takes each entry from a queue once: none has to be stopped.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from checker.engines.native.codegen.arrays import entry, put
from checker.engines.native.codegen.emit import FALSE, Fn, Label, Val, Var, const

NONE = 0xFFFFFFFF
"""Stands for no number in arrays of 32 bits."""
OUT, INSIDE, KEPT = 0, 1, 2
"""What a state is: left out, inside, or inside and never left out."""


def functions() -> list[Fn]:
    """Returns the code of all graph algorithms."""
    return [_invert(), _select(), _attract(), _count_choices(), _peel(), _components(), _split()]


def following(fn: Fn, value: Val) -> Val:
    """Returns the number after ``value``."""
    return fn.add(value, const(1))


def row(fn: Fn, first: Val, index: Val, bits: int = 64) -> tuple[Val, Val]:
    """Returns where a compressed row begins and ends."""
    return entry(fn, first, index, bits), entry(fn, first, following(fn, index), bits)


def begin(name: str, pointers: str, numbers: str = "") -> tuple[Fn, list[Val]]:
    """Returns a function that returns a word, and its arguments: pointers, then numbers."""
    params = [*((p, 0) for p in pointers.split()), *((n, 64) for n in numbers.split())]
    fn = Fn(name, params, 64)
    return fn, list(fn.args)


def end(fn: Fn, value: Val) -> Fn:
    """Completes a function that returns ``value``."""
    fn.ret(value)
    return fn


def increase(fn: Fn, var: Var) -> None:
    """Adds 1 to a variable."""
    var.set(following(fn, var.get()))


# ---- predecessors -----------------------------------------------------------------------------


def _invert() -> Fn:
    """``invert(first_choice, first_branch, target, owner, start, source, states, choices)``.

    ``owner`` (32 bits): the state of each choice.  The choices of which a branch leads to state
    ``s`` are ``source[start[s]] .. source[start[s + 1] - 1]`` (32 bits), once for each branch.
    ``start``: zeros, two more than there are states.
    """
    fn, args = begin(
        "invert", "first_choice first_branch target owner start source", "states choices"
    )
    first_choice, first_branch, target, owner, start, source, states, choices = args
    branches = entry(fn, first_branch, choices, 64)
    with fn.count(branches) as b:
        at = fn.add(entry(fn, target, b, 64), const(2))
        put(fn, start, at, following(fn, entry(fn, start, at, 64)), 64)
    with fn.count(following(fn, states)) as i:
        here = fn.add(entry(fn, start, i, 64), entry(fn, start, following(fn, i), 64))
        put(fn, start, following(fn, i), here, 64)
    with fn.count(states) as s:
        first, last = row(fn, first_choice, s)
        with fn.count(last, first) as c:
            put(fn, owner, c, s, 32)
            low, high = row(fn, first_branch, c)
            with fn.count(high, low) as b:
                slot = following(fn, entry(fn, target, b, 64))
                at = entry(fn, start, slot, 64)
                put(fn, source, at, c, 32)
                put(fn, start, slot, following(fn, at), 64)
    return end(fn, const(0))


@contextmanager
def _each_source(fn: Fn, start: Val, source: Val, allowed: Val, state: Val) -> Iterator[Val]:
    """Emits the block for each allowed choice that may lead to ``state``."""
    first, last = row(fn, start, state)
    with fn.count(last, first) as i:
        skip = fn.label()
        choice = entry(fn, source, i, 32)
        fn.leave_if(fn.eq(entry(fn, allowed, choice, 8), const(0)), skip)
        yield choice
        fn.place(skip)


def _select() -> Fn:
    """``select(status, queue, states, value)``: the states with this status (8 bits), in ``queue``
    (32 bits); returns their number."""
    fn, (status, queue, states, value) = begin("select", "status queue", "states value")
    written = fn.var(const(0))
    with fn.count(states) as s, fn.if_(fn.eq(entry(fn, status, s, 8), value)):
        put(fn, queue, written.get(), s, 32)
        increase(fn, written)
    return end(fn, written.get())


def _attract() -> Fn:
    """``attract(owner, start, source, allowed, status, how, queue, count)``: the states from which
    allowed choices lead to the ``count`` states in ``queue`` with positive probability.

    ``status`` (8 bits): those that are :data:`INSIDE` may be added, and become :data:`KEPT`;
    ``queue`` (32 bits) gets them in the order of their distance; ``how`` (32 bits): for each the
    choice that leads nearer.  Returns how many states are in ``queue`` now.
    """
    fn, args = begin("attract", "owner start source allowed status how queue", "count")
    owner, start, source, allowed, status, how, queue, count = args
    read, written = fn.var(const(0)), fn.var(count)
    with fn.forever() as over:
        fn.leave_if(fn.eq(read.get(), written.get()), over)
        state = entry(fn, queue, read.get(), 32)
        increase(fn, read)
        with _each_source(fn, start, source, allowed, state) as choice:
            before = entry(fn, owner, choice, 32)
            with fn.if_(fn.eq(entry(fn, status, before, 8), const(INSIDE))):
                put(fn, status, before, const(KEPT), 8)
                put(fn, how, before, choice, 32)
                put(fn, queue, written.get(), before, 32)
                increase(fn, written)
    return end(fn, written.get())


# ---- leaving out ------------------------------------------------------------------------------


def _count_choices() -> Fn:
    """``count_choices(first_choice, status, allowed, left, queue, states)``: how many choices of
    each state are allowed (``left``, 32 bits).

    States that are :data:`INSIDE` and have none are left out, and put into ``queue`` (32 bits).
    Returns their number.
    """
    fn, args = begin("count_choices", "first_choice status allowed left queue", "states")
    first_choice, status, allowed, left, queue, states = args
    written = fn.var(const(0))
    with fn.count(states) as s:
        total = fn.var(const(0))
        first, last = row(fn, first_choice, s)
        with fn.count(last, first) as c:
            total.set(fn.add(total.get(), entry(fn, allowed, c, 8)))
        put(fn, left, s, total.get(), 32)
        inside = fn.eq(entry(fn, status, s, 8), const(INSIDE))
        with fn.if_(fn.and_(inside, fn.eq(total.get(), const(0)))):
            _leave_out(fn, status, queue, written, s)
    return end(fn, written.get())


def _leave_out(fn: Fn, status: Val, queue: Val, written: Var, state: Val) -> None:
    put(fn, status, state, const(OUT), 8)
    put(fn, queue, written.get(), state, 32)
    increase(fn, written)


def _forbid(
    fn: Fn, status: Val, allowed: Val, left: Val, queue: Val, written: Var, state: Val, choice: Val
) -> None:
    """Forbids an allowed choice of ``state``; leaves the state out where it was the last one."""
    put(fn, allowed, choice, const(0), 8)
    now = fn.sub(entry(fn, left, state, 32), const(1))
    put(fn, left, state, now, 32)
    inside = fn.eq(entry(fn, status, state, 8), const(INSIDE))
    with fn.if_(fn.and_(inside, fn.eq(now, const(0)))):
        _leave_out(fn, status, queue, written, state)


def _peel() -> Fn:
    """``peel(owner, start, source, allowed, status, left, queue, count)``: forbids the choices that
    may lead to the ``count`` states in ``queue``, and leaves out the states without a choice, until
    nothing changes.

    Returns how many states are in ``queue`` now: all that are left out.
    """
    fn, args = begin("peel", "owner start source allowed status left queue", "count")
    owner, start, source, allowed, status, left, queue, count = args
    read, written = fn.var(const(0)), fn.var(count)
    with fn.forever() as over:
        fn.leave_if(fn.eq(read.get(), written.get()), over)
        state = entry(fn, queue, read.get(), 32)
        increase(fn, read)
        with _each_source(fn, start, source, allowed, state) as choice:
            before = entry(fn, owner, choice, 32)
            _forbid(fn, status, allowed, left, queue, written, before, choice)
    return end(fn, written.get())


def _split() -> Fn:
    """``split(first_choice, first_branch, target, component, allowed, status, left, queue, out,
    states)``: forbids the choices of states that are :data:`INSIDE` which may leave their
    component, and leaves out those without a choice.

    Returns how many states are left out: ``queue`` (32 bits) has them.  ``out``: a word that
    gets the number of choices that were.
    """
    pointers = "first_choice first_branch target component allowed status left queue"
    fn, args = begin("split", pointers + " out", "states")
    first_choice, first_branch, target, component, allowed, status, left, queue, out, states = args
    written, forbidden = fn.var(const(0)), fn.var(const(0))
    with fn.count(states) as s:
        skip = fn.label()
        fn.leave_if(fn.ne(entry(fn, status, s, 8), const(INSIDE)), skip)
        own = entry(fn, component, s, 32)
        first, last = row(fn, first_choice, s)
        with fn.count(last, first) as c:
            stays = fn.label()
            fn.leave_if(fn.eq(entry(fn, allowed, c, 8), const(0)), stays)
            low, high = row(fn, first_branch, c)
            leaves = fn.var(FALSE)
            with fn.count(high, low) as b:
                there = entry(fn, component, entry(fn, target, b, 64), 32)
                leaves.set(fn.or_(leaves.get(), fn.ne(there, own)))
            fn.leave_if(fn.not_(leaves.get()), stays)
            increase(fn, forbidden)
            _forbid(fn, status, allowed, left, queue, written, s, c)
            fn.place(stays)
        fn.place(skip)
    put(fn, out, const(0), forbidden.get(), 64)
    return end(fn, written.get())


# ---- strongly connected components ------------------------------------------------------------


class _Tarjan:
    """The code of one depth-first search; ``low`` has the number of each visit until a component is
    known, and then no meaning."""

    def __init__(self) -> None:
        pointers = "first_choice first_branch target allowed status component order"
        pointers += " index low stack frame_node frame_choice frame_branch"
        self.fn, args = begin("components", pointers, "states")
        fn = self.fn
        self.first_choice, self.first_branch, self.target, self.allowed, self.status = args[:5]
        self.component, self.order, self.index, self.low, self.stack = args[5:10]
        self.frame_node, self.frame_choice, self.frame_branch, self.states = args[10:]
        self.clock, self.top, self.depth = (fn.var(const(0)) for _ in range(3))
        self.found, self.ordered = fn.var(const(0)), fn.var(const(0))

    def emit(self) -> Fn:
        fn = self.fn
        with fn.count(self.states) as root:
            skip = fn.label()
            self.leave_if_done(root, skip)
            self.enter(root)
            with fn.forever() as over:
                self.advance()
                fn.leave_if(fn.eq(self.depth.get(), const(0)), over)
            fn.place(skip)
        return end(fn, self.found.get())

    def leave_if_done(self, node: Val, label: Label) -> None:
        """Jumps where the node is left out, or was visited before."""
        fn = self.fn
        fn.leave_if(fn.eq(entry(fn, self.status, node, 8), const(OUT)), label)
        fn.leave_if(fn.ne(entry(fn, self.index, node, 32), const(0)), label)

    def enter(self, node: Val) -> None:
        fn = self.fn
        increase(fn, self.clock)
        put(fn, self.index, node, self.clock.get(), 32)
        put(fn, self.low, node, self.clock.get(), 32)
        put(fn, self.stack, self.top.get(), node, 32)
        increase(fn, self.top)
        depth = self.depth.get()
        choice = entry(fn, self.first_choice, node, 64)
        put(fn, self.frame_node, depth, node, 32)
        put(fn, self.frame_choice, depth, choice, 64)
        put(fn, self.frame_branch, depth, entry(fn, self.first_branch, choice, 64), 64)
        increase(fn, self.depth)

    def advance(self) -> None:
        """Looks at the next branch of the node on top, or leaves the node."""
        fn = self.fn
        frame = fn.sub(self.depth.get(), const(1))
        node = entry(fn, self.frame_node, frame, 32)
        choice = entry(fn, self.frame_choice, frame, 64)
        after = fn.label()
        done = fn.eq(choice, entry(fn, self.first_choice, following(fn, node), 64))
        with fn.if_(done):
            self.leave(node, frame)
            fn.jump(after)
        branch = entry(fn, self.frame_branch, frame, 64)
        last = entry(fn, self.first_branch, following(fn, choice), 64)
        forbidden = fn.eq(entry(fn, self.allowed, choice, 8), const(0))
        with fn.if_(fn.or_(forbidden, fn.eq(branch, last))):
            put(fn, self.frame_choice, frame, following(fn, choice), 64)
            put(fn, self.frame_branch, frame, last, 64)
            fn.jump(after)
        put(fn, self.frame_branch, frame, following(fn, branch), 64)
        self.look(node, entry(fn, self.target, branch, 64), after)
        fn.place(after)

    def look(self, node: Val, there: Val, after: Label) -> None:
        """Follows an edge to ``there``."""
        fn = self.fn
        fn.leave_if(fn.eq(entry(fn, self.status, there, 8), const(OUT)), after)
        with fn.if_(fn.eq(entry(fn, self.index, there, 32), const(0))):
            self.enter(there)
            fn.jump(after)
        with fn.if_(fn.eq(entry(fn, self.component, there, 32), const(NONE))):
            self.lower(node, entry(fn, self.index, there, 32))

    def lower(self, node: Val, value: Val) -> None:
        fn = self.fn
        with fn.if_(fn.lt(value, entry(fn, self.low, node, 32))):
            put(fn, self.low, node, value, 32)

    def leave(self, node: Val, frame: Val) -> None:
        fn = self.fn
        self.depth.set(frame)
        low = entry(fn, self.low, node, 32)
        with fn.if_(fn.eq(low, entry(fn, self.index, node, 32))):
            with fn.forever() as over:
                self.top.set(fn.sub(self.top.get(), const(1)))
                member = entry(fn, self.stack, self.top.get(), 32)
                put(fn, self.component, member, self.found.get(), 32)
                put(fn, self.order, self.ordered.get(), member, 32)
                increase(fn, self.ordered)
                fn.leave_if(fn.eq(member, node), over)
            increase(fn, self.found)
        with fn.if_(fn.lt(const(0), frame)):
            self.lower(entry(fn, self.frame_node, fn.sub(frame, const(1)), 32), low)


def _components() -> Fn:
    """``components(first_choice, first_branch, target, allowed, status, component, order, index,
    low, stack, frame_node, frame_choice, frame_branch, states)``: the strongly connected
    components of the states that are not :data:`OUT`, by allowed choices.

    ``component`` (32 bits): :data:`NONE` for each state before, and the numbers after; a component
    has a larger number than all that can be reached from it.  ``order`` (32 bits): the states by
    component, those first that were found last.  ``index`` (32 bits): zeros; the others are room
    for one entry a state (32 bits; the last two: 64).  Returns the number of components.
    """
    return _Tarjan().emit()
