"""Quotients of decision processes and sweeps over them, as native code.

**Numbers** are integers: a value ``x`` stands for ``x / 2**scale``, and a probability ``p`` for ``p
/ 2**62``, rounded down.  So the sum over the branches of a choice is below by rounding down, and
above with ``p + 1`` in place of ``p`` by rounding up: no floating point, no rounding mode, and the
same digits on every machine.  A value is below ``2**62``, so products have at most 124 bits, and
sums of values at most 63: nothing wraps.

Arrays of the quotient have 32 bits for each entry where they hold numbers of states, choices and
branches, and 64 where they hold probabilities, rewards and values.
"""

from __future__ import annotations

from checker.chance.native_graph import NONE, begin, end, following, increase, row
from checker.engines.native.codegen.arrays import entry, put
from checker.engines.native.codegen.emit import Fn, Val, Var, const

ONE = 62
"""A probability is a multiple of ``2**-62``."""
MOST = (1 << 62) - 1
"""The largest value."""
TOP = (1 << 63) - 1
"""No choice is worth so much."""
NULL = Val("null", 0)


def functions() -> list[Fn]:
    """Returns the code of quotients and sweeps."""
    made = (_improve, _solve, _residual, _greedy)
    senses = [make(sense) for sense in ("max", "min") for make in made]
    return [_fill(), _classify(), _gather(), _collapse(), _evaluate(), *senses]


# ---- the quotient -----------------------------------------------------------------------------


def _fill() -> Fn:
    """``fill(status, classes, states, value, number)``: gives the states with this status (8 bits)
    a number (32 bits)."""
    fn, args = begin("fill", "status classes", "states value number")
    status, classes, states, value, number = args
    with fn.count(states) as s, fn.if_(fn.eq(entry(fn, status, s, 8), value)):
        put(fn, classes, s, number, 32)
    return end(fn, const(0))


def _classify() -> Fn:
    """``classify(order, component, part, named, classes, bounds, count)``: numbers the states of
    the quotient, those that are reached last first.

    ``order``, ``component``: ``count`` states in the order of their strongly connected components;
    ``part`` (32 bits): the end component that a state is in, or :data:`NONE`; ``named`` (32 bits):
    :data:`NONE` for each end component; ``classes`` (32 bits): gets the number of each state;
    ``bounds`` (32 bits): gets the first number of each component, and the number of all.  Returns
    that.
    """
    fn, args = begin("classify", "order component part named classes bounds", "count")
    order, component, part, named, classes, bounds, count = args
    numbered, bounded, last = fn.var(const(0)), fn.var(const(0)), fn.var(const(NONE))
    with fn.count(count) as i:
        state = entry(fn, order, i, 32)
        with fn.if_(fn.ne(entry(fn, component, state, 32), last.get())):
            last.set(entry(fn, component, state, 32))
            put(fn, bounds, bounded.get(), numbered.get(), 32)
            increase(fn, bounded)
        own, after = entry(fn, part, state, 32), fn.label()
        with fn.if_(fn.ne(own, const(NONE))):
            known = entry(fn, named, own, 32)
            with fn.if_(fn.ne(known, const(NONE))):
                put(fn, classes, state, known, 32)
                fn.jump(after)
            put(fn, named, own, numbered.get(), 32)
        put(fn, classes, state, numbered.get(), 32)
        increase(fn, numbered)
        fn.place(after)
    put(fn, bounds, bounded.get(), numbered.get(), 32)
    return end(fn, numbered.get())


def _gather() -> Fn:
    """``gather(order, classes, start, members, count, numbered)``: the states of each class.

    Those of class ``k`` are ``members[start[k]] .. members[start[k + 1] - 1]`` (both 32 bits);
    ``start``: zeros, two more than there are classes.
    """
    fn, args = begin("gather", "order classes start members", "count numbered")
    order, classes, start, members, count, numbered = args
    with fn.count(count) as i:
        at = fn.add(entry(fn, classes, entry(fn, order, i, 32), 32), const(2))
        put(fn, start, at, following(fn, entry(fn, start, at, 32)), 32)
    with fn.count(following(fn, numbered)) as k:
        here = fn.add(entry(fn, start, k, 32), entry(fn, start, following(fn, k), 32))
        put(fn, start, following(fn, k), here, 32)
    with fn.count(count) as i:
        state = entry(fn, order, i, 32)
        slot = following(fn, entry(fn, classes, state, 32))
        at = entry(fn, start, slot, 32)
        put(fn, members, at, state, 32)
        put(fn, start, slot, following(fn, at), 32)
    return end(fn, const(0))


class _Collapse:
    """The code that makes the choices and branches of the quotient."""

    def __init__(self) -> None:
        pointers = "first_choice first_branch target weight allowed classes start members"
        pointers += " first branch_first successor probability origin"
        self.fn, args = begin("collapse", pointers, "numbered keep_self")
        fn = self.fn
        self.first_choice, self.first_branch, self.target, self.weight = args[:4]
        self.allowed, self.classes, self.start, self.members = args[4:8]
        self.first, self.branch_first, self.successor, self.probability = args[8:12]
        self.origin, self.numbered, self.keep_self = args[12:]
        self.chosen, self.branched = fn.var(const(0)), fn.var(const(0))

    def emit(self) -> Fn:
        fn = self.fn
        with fn.count(self.numbered) as k:
            put(fn, self.first, k, self.chosen.get(), 32)
            begin_, end_ = row(fn, self.start, k, 32)
            with fn.count(end_, begin_) as i:
                first, last = row(fn, self.first_choice, entry(fn, self.members, i, 32))
                with fn.count(last, first) as choice:
                    self.add(k, choice)
        put(fn, self.first, self.numbered, self.chosen.get(), 32)
        put(fn, self.branch_first, self.chosen.get(), self.branched.get(), 32)
        return end(fn, self.chosen.get())

    def add(self, own: Val, choice: Val) -> None:
        """Adds a choice of class ``own``, unless it stays there."""
        fn, skip = self.fn, self.fn.label()
        fn.leave_if(fn.eq(entry(fn, self.allowed, choice, 8), const(0)), skip)
        low, high = row(fn, self.first_branch, choice)
        total, others = fn.var(const(0)), fn.var(const(0))
        with fn.count(high, low) as b:
            weight = entry(fn, self.weight, b, 64)
            total.set(fn.add(total.get(), weight))
            with fn.if_(fn.ne(self.class_of(b), own)):
                others.set(fn.add(others.get(), weight))
        fn.leave_if(fn.eq(others.get(), const(0)), skip)
        with fn.if_(fn.ne(self.keep_self, const(0))):
            others.set(total.get())
        put(fn, self.origin, self.chosen.get(), choice, 64)
        put(fn, self.branch_first, self.chosen.get(), self.branched.get(), 32)
        increase(fn, self.chosen)
        with fn.count(high, low) as b:
            self.add_branch(own, b, others.get())
        fn.place(skip)

    def class_of(self, branch: Val) -> Val:
        return entry(self.fn, self.classes, entry(self.fn, self.target, branch, 64), 32)

    def add_branch(self, own: Val, branch: Val, total: Val) -> None:
        fn, skip = self.fn, self.fn.label()
        there = self.class_of(branch)
        stays = fn.and_(fn.eq(there, own), fn.eq(self.keep_self, const(0)))
        fn.leave_if(stays, skip)
        put(fn, self.successor, self.branched.get(), there, 32)
        quotient = self.divide(entry(fn, self.weight, branch, 64), total)
        put(fn, self.probability, self.branched.get(), quotient, 64)
        increase(fn, self.branched)
        fn.place(skip)

    def divide(self, weight: Val, total: Val) -> Val:
        """Returns ``weight * 2**62 / total``, rounded down, bit by bit."""
        fn, done = self.fn, self.fn.label()
        quotient = fn.var(const(1 << ONE))
        fn.leave_if(fn.eq(weight, total), done)
        quotient.set(const(0))
        rest = fn.var(weight)
        with fn.count(const(ONE)):
            rest.set(fn.shl(rest.get(), const(1)))
            quotient.set(fn.shl(quotient.get(), const(1)))
            with fn.if_(fn.le(total, rest.get())):
                rest.set(fn.sub(rest.get(), total))
                quotient.set(fn.add(quotient.get(), const(1)))
        fn.place(done)
        return quotient.get()


def _collapse() -> Fn:
    """``collapse(first_choice, first_branch, target, weight, allowed, classes, start, members,
    first, branch_first, successor, probability, origin, numbered, keep_self)``: the allowed choices
    that may leave their class, as those of the quotient, which ``origin`` names.

    ``keep_self`` 0: branches that stay in their class are left out, and the others get their
    probability in proportion.  Returns the number of choices.
    """
    return _Collapse().emit()


# ---- sweeps -----------------------------------------------------------------------------------

ARRAYS = "first branch_first successor probability reward values"


def _worth(fn: Fn, arrays: list[Val], choice: Val, given: list[Val], up: bool) -> Val:
    """Returns what a choice is worth: its reward, and what its branches lead to.

    ``given``: ``constant`` and ``shift``; the reward is ``constant``, and ``reward[choice] *
    2**shift`` where there are rewards.
    """
    branch_first, successor, probability, reward, values = arrays[1:]
    constant, shift = given
    total = fn.var(constant)
    with fn.if_(fn.ne(reward, NULL)):
        total.set(fn.add(constant, fn.shl(entry(fn, reward, choice, 64), shift)))
    first, last = row(fn, branch_first, choice, 32)
    with fn.count(last, first) as b:
        value = fn.resize(entry(fn, values, entry(fn, successor, b, 32), 64), 128)
        chance = entry(fn, probability, b, 64)
        if up:
            product = fn.mul(value, fn.resize(following(fn, chance), 128))
            product = fn.add(product, const((1 << ONE) - 1, 128))
        else:
            product = fn.mul(value, fn.resize(chance, 128))
        total.set(fn.add(total.get(), fn.resize(fn.lshr(product, const(ONE, 128)), 64)))
    return total.get()


def _best(
    fn: Fn, arrays: list[Val], state: Val, given: list[Val], sense: str, up: bool
) -> tuple[Val, Val]:
    """Returns the value of the best choice of a state, and that choice, the first of them;
    ``sense``: the largest or smallest one."""
    largest = sense == "max"
    first, last = row(fn, arrays[0], state, 32)
    best, which = fn.var(const(0 if largest else TOP)), fn.var(first)
    with fn.count(last, first) as choice:
        worth = _worth(fn, arrays, choice, given, up)
        better = fn.lt(best.get(), worth) if largest else fn.lt(worth, best.get())
        best.set(fn.select(better, worth, best.get()))
        which.set(fn.select(better, choice, which.get()))
    return best.get(), which.get()


def _difference(fn: Fn, a: Val, b: Val) -> Val:
    """Returns by how much ``a`` is larger than ``b``; 0 where it is not."""
    return fn.select(fn.lt(b, a), fn.sub(a, b), const(0))


def _kept(fn: Fn, values: Val, state: Val, found: Val) -> Val:
    """Gives a state a value, or :data:`MOST` where that is larger, and returns the change."""
    before = entry(fn, values, state, 64)
    now = fn.select(fn.lt(const(MOST), found), const(MOST), found)
    put(fn, values, state, now, 64)
    return fn.add(_difference(fn, now, before), _difference(fn, before, now))


def _raise_to(fn: Fn, largest: Var, value: Val) -> None:
    largest.set(fn.select(fn.lt(largest.get(), value), value, largest.get()))


def _improve(sense: str) -> Fn:
    """``improve_<sense>(first, branch_first, successor, probability, reward, values, chosen, begin,
    end, constant, shift)``: gives each of these states, one after the other, the value of its best
    choice, rounded down, and notes that choice (``chosen``, 32 bits).  Returns the largest change.
    """
    fn, args = begin(f"improve_{sense}", f"{ARRAYS} chosen", "begin end constant shift")
    arrays, chosen, (first, last, *given) = args[:6], args[6], args[7:]
    largest = fn.var(const(0))
    with fn.count(last, first) as state:
        found, which = _best(fn, arrays, state, given, sense, False)
        put(fn, chosen, state, which, 32)
        _raise_to(fn, largest, _kept(fn, arrays[5], state, found))
    return end(fn, largest.get())


def _evaluate() -> Fn:
    """``evaluate(first, branch_first, successor, probability, reward, values, chosen, begin, end,
    constant, shift)``: the same with the choices that are noted."""
    fn, args = begin("evaluate", f"{ARRAYS} chosen", "begin end constant shift")
    arrays, chosen, (first, last, *given) = args[:6], args[6], args[7:]
    largest = fn.var(const(0))
    with fn.count(last, first) as state:
        found = _worth(fn, arrays, entry(fn, chosen, state, 32), given, False)
        _raise_to(fn, largest, _kept(fn, arrays[5], state, found))
    return end(fn, largest.get())


def _solve(sense: str) -> Fn:
    """``solve_<sense>(first, branch_first, successor, probability, reward, values, chosen, bounds,
    begin, end, constant, shift, limit, repeats, quota)``: improves each of these components until
    nothing changes by more than ``limit``, and evaluates the choices so found ``repeats`` times in
    between, or until nothing changes so (modified policy iteration).

    ``bounds`` (32 bits): where each component begins.  Returns the component that is not done when
    ``quota`` states were visited, or it is told to stop, or ``end``.  It goes on from there as if
    it had not stopped.
    """
    numbers = "begin end constant shift limit repeats quota"
    fn, args = begin(f"solve_{sense}", f"{ARRAYS} chosen bounds", numbers)
    arrays, bounds = args[:7], args[7]
    start, count, constant, shift, limit, repeats, quota = args[8:]
    spent, at = fn.var(const(0)), fn.var(start)
    with fn.forever() as over:
        fn.leave_if(fn.le(count, at.get()), over)
        first, last = row(fn, bounds, at.get(), 32)
        given = [*arrays, first, last, constant, shift]
        with fn.forever() as settled:
            fn.leave_if(fn.is_stopped(), over)
            fn.leave_if(fn.le(quota, spent.get()), over)
            change = fn.call(f"improve_{sense}", given, 64)
            spent.set(fn.add(spent.get(), fn.sub(last, first)))
            fn.leave_if(fn.le(change, limit), settled)
            evaluated = fn.label()
            with fn.count(repeats):
                fn.leave_if(fn.is_stopped(), over)
                change = fn.call("evaluate", given, 64)
                spent.set(fn.add(spent.get(), fn.sub(last, first)))
                fn.leave_if(fn.le(change, limit), evaluated)
            fn.place(evaluated)
        increase(fn, at)
    return end(fn, at.get())


def _residual(sense: str) -> Fn:
    """``residual_<sense>(first, branch_first, successor, probability, reward, values, out, begin,
    end, constant, shift)``: how far the values are from being those of the best choice.

    ``out``: gets two words, by how much that is larger than the value of a state at most, rounded
    up, and by how much it is smaller at most, rounded up.
    """
    fn, args = begin(f"residual_{sense}", f"{ARRAYS} out", "begin end constant shift")
    arrays, out, (first, last, *given) = args[:6], args[6], args[7:]
    above, below = fn.var(const(0)), fn.var(const(0))
    with fn.count(last, first) as state:
        value = entry(fn, arrays[5], state, 64)
        highest, _ = _best(fn, arrays, state, given, sense, True)
        lowest, _ = _best(fn, arrays, state, given, sense, False)
        _raise_to(fn, above, _difference(fn, highest, value))
        _raise_to(fn, below, _difference(fn, value, lowest))
    put(fn, out, const(0), above.get(), 64)
    put(fn, out, const(1), below.get(), 64)
    return end(fn, const(0))


def _greedy(sense: str) -> Fn:
    """``greedy_<sense>(first, branch_first, successor, probability, reward, values, chosen, begin,
    end, constant, shift)``: the best choice of each of these states, the first of them (32 bits).
    """
    fn, args = begin(f"greedy_{sense}", f"{ARRAYS} chosen", "begin end constant shift")
    arrays, chosen, (start, stop, *given) = args[:6], args[6], args[7:]
    with fn.count(stop, start) as state:
        _, which = _best(fn, arrays, state, given, sense, False)
        put(fn, chosen, state, which, 32)
    return end(fn, const(0))
