"""Strongly connected components as native code, and their fairness.

Tarjan's algorithm (1972) with an explicit stack.  A component is judged as soon as it is known
(Emerson and Lei 1987, Lichtenstein and Pnueli 1985): it is unfair if a weakly fair constraint is
enabled in all its states and taken nowhere, or if a justice condition or accepting set holds
nowhere; states in which a strongly fair constraint is enabled that is taken nowhere are left out,
and the remainder is judged again.

See :mod:`checker.engines.native.codegen.graph_fields` for the record ``task``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from checker.engines.native.codegen.emit import FALSE, TRUE, Fn, Label, Val, Var, const
from checker.engines.native.codegen.graph_fields import NONE, STRONG, Member, QueryField
from checker.engines.native.codegen.record_access import address, get, put


class GraphCode:
    """Code of one function that reads its graph through the record ``task``."""

    def __init__(self, fn: Fn, product: bool) -> None:
        self.fn, self.product, self.task = fn, product, fn.args[0]
        self.start, self.targets = (
            address(fn, self.task, w) for w in (QueryField.START, QueryField.TARGETS)
        )
        self.states = get(fn, self.task, QueryField.STATES)

    def load(self, which: QueryField, index: Val, bits: int = 32) -> Val:
        """An entry of one of the arrays, as 64 bits."""
        fn = self.fn
        return fn.resize(fn.load(fn.at(address(fn, self.task, which), index, bits), bits), 64)

    def store(self, which: QueryField, index: Val, value: Val, bits: int = 32) -> None:
        """Changes an entry of one of the arrays."""
        fn = self.fn
        fn.store(fn.resize(value, bits), fn.at(address(fn, self.task, which), index, bits))

    def split(self, node: Val) -> tuple[Val, Val]:
        """Copy and state of a node."""
        if not self.product:
            return const(0), node
        copy = self.fn.udiv(node, self.states)
        return copy, self.fn.sub(node, self.fn.mul(copy, self.states))

    def node(self, copy: Val, state: Val) -> Val:
        return self.fn.add(self.fn.mul(copy, self.states), state)

    def bounds(self, state: Val) -> tuple[Val, Val]:
        """The edges of a state: from, up to but not including."""
        fn = self.fn
        begin = fn.load(fn.at(self.start, state), 64)
        return begin, fn.load(fn.at(self.start, fn.add(state, const(1))), 64)

    def target(self, edge: Val) -> Val:
        return self.fn.resize(self.fn.load(self.fn.at(self.targets, edge, 32), 32), 64)

    def label(self, edge: Val) -> Val:
        return self.load(QueryField.LABELS, edge)

    def ways(self, copy: Val, state: Val) -> tuple[Val, Val]:
        """The position in NEXT of the automaton's successors by reading ``state``."""
        fn = self.fn
        letter = self.load(QueryField.LETTERS, state, 16)
        row = fn.add(fn.mul(copy, get(fn, self.task, QueryField.ALPHABET)), letter)
        return self.load(QueryField.WAYS, row), self.load(QueryField.WAYS, fn.add(row, const(1)))

    @contextmanager
    def each_node(self, copy: Val, state: Val) -> Iterator[tuple[Val, Label]]:
        """Emits the block for each node that the step into ``state`` leads to."""
        fn = self.fn
        if not self.product:
            following = fn.label()
            yield state, following
            fn.place(following)
            return
        begin, end = self.ways(copy, state)
        with fn.count(end, begin) as way:
            following = fn.label()
            yield self.node(self.load(QueryField.NEXT, way), state), following
            fn.place(following)

    @contextmanager
    def each_step(self, node: Val) -> Iterator[tuple[Val, Val, Label]]:
        """Emits the block for each edge of ``node`` and each node that it leads to."""
        fn = self.fn
        copy, state = self.split(node)
        begin, end = self.bounds(state)
        with fn.count(end, begin) as edge:
            following = fn.label()
            target = self.target(edge)
            fn.leave_if(fn.eq(target, const(NONE)), following)
            with self.each_node(copy, target) as (successor, inner):
                yield edge, successor, inner
            fn.place(following)

    def member(self, node: Val) -> Val:
        fn = self.fn
        return fn.load(fn.at(address(fn, self.task, QueryField.MEMBER), node, 8), 8)

    def is_member(self, node: Val, kind: Member) -> Val:
        return self.fn.eq(self.member(node), const(kind, 8))

    def make(self, node: Val, kind: Member) -> None:
        self.store(QueryField.MEMBER, node, const(kind), 8)


def functions() -> list[Fn]:
    """The code for fair components; plain graphs, which are most, have code of their own."""
    return [f for product in (False, True) for f in (_weigh(product), _components(product))]


def _suffix(product: bool) -> str:
    return "product" if product else "plain"


# -- components ---------------------------------------------------------------------------------


def _components(product: bool) -> Fn:
    """``components_<kind>(task, roots, count)``: judges all components that can be reached.

    ``roots``: the candidates; where it is null, all nodes with smaller numbers than ``count`` that
    are marked as such.
    """
    params = [("task", 0), ("roots", 0), ("count", 64)]
    fn = Fn(f"components_{_suffix(product)}", params, None)
    _, roots, count = fn.args
    graph = GraphCode(fn, product)
    clock, top = fn.var(const(0)), fn.var(const(0))
    put(fn, graph.task, QueryField.LEFT_COUNT, const(0))
    listed = fn.ne(roots, Val("null", 0))
    with fn.if_(listed), fn.count(count) as i:
        node = fn.resize(fn.load(fn.at(roots, i, 32), 32), 64)
        graph.make(node, Member.CANDIDATE)
        graph.store(QueryField.INDEX, node, const(0))
    with fn.count(count) as i:
        root, following = fn.var(i), fn.label()
        with fn.if_(listed):
            root.set(fn.resize(fn.load(fn.at(roots, i, 32), 32), 64))
        node = root.get()
        fn.leave_if(fn.not_(graph.is_member(node, Member.CANDIDATE)), following)
        clock.set(fn.add(clock.get(), const(1)))
        _Walk(graph, clock, top).walk(node)
        fn.place(following)
    fn.ret()
    return fn


class _Walk:
    """Depth first from one node; ``clock`` counts nodes, ``top`` is the height of the stack.

    The frame of the current node is in variables, those below it in memory.
    """

    def __init__(self, graph: GraphCode, clock: Var, top: Var) -> None:
        self.graph, self.fn, self.clock, self.top = graph, graph.fn, clock, top
        zero = const(0)
        self.depth, self.current, self.low = (self.fn.var(zero) for _ in range(3))
        self.edge, self.end, self.way = (self.fn.var(zero) for _ in range(3))

    def walk(self, root: Val) -> None:
        """Emits the walk."""
        fn = self.fn
        self.depth.set(const(0))
        self._enter(root)
        with fn.forever() as done:
            more = fn.label()
            fn.leave_if(fn.lt(self.edge.get(), self.end.get()), more)
            self._finish()
            fn.leave_if(fn.eq(self.depth.get(), const(0)), done)
            self._leave()
            following = fn.label()
            fn.jump(following)
            fn.place_fresh(more)
            self._advance(following)
            fn.place(following)

    def _enter(self, node: Val) -> None:
        fn, graph = self.fn, self.graph
        _, state = graph.split(node)
        begin, end = graph.bounds(state)
        for var, value in (
            (self.current, node),
            (self.low, self.clock.get()),
            (self.edge, begin),
            (self.end, end),
            (self.way, const(0)),
        ):
            var.set(value)
        graph.store(QueryField.INDEX, node, self.clock.get())
        graph.store(QueryField.STACK, self.top.get(), node)
        self.top.set(fn.add(self.top.get(), const(1)))

    def _advance(self, following: Label) -> None:
        """One step along an edge, or to its next node."""
        fn, graph = self.fn, self.graph
        edge = self.edge.get()
        target = graph.target(edge)
        if not graph.product:
            self.edge.set(fn.add(edge, const(1)))
            fn.leave_if(fn.eq(target, const(NONE)), following)
            node = target
        else:
            skip, go = fn.label(), fn.label()
            fn.leave_if(fn.eq(target, const(NONE)), skip)
            copy, _ = graph.split(self.current.get())
            begin, end = graph.ways(copy, target)
            way = fn.add(begin, self.way.get())
            fn.leave_if(fn.lt(way, end), go)
            fn.place(skip)
            self.edge.set(fn.add(edge, const(1)))
            self.way.set(const(0))
            fn.jump(following)
            fn.place_fresh(go)
            self.way.set(fn.add(self.way.get(), const(1)))
            node = graph.node(graph.load(QueryField.NEXT, way), target)
        fn.leave_if(fn.not_(graph.is_member(node, Member.CANDIDATE)), following)
        visited = graph.load(QueryField.INDEX, node)
        with fn.if_(fn.ne(visited, const(0))):
            self._lower(visited)
            fn.jump(following)
        depth = self.depth.get()
        graph.store(QueryField.FRAME_NODE, depth, self.current.get())
        graph.store(QueryField.FRAME_LOW, depth, self.low.get())
        graph.store(QueryField.FRAME_EDGE, depth, self.edge.get(), 64)
        if graph.product:
            graph.store(QueryField.FRAME_WAY, depth, self.way.get())
        self.depth.set(fn.add(depth, const(1)))
        self.clock.set(fn.add(self.clock.get(), const(1)))
        self._enter(node)

    def _lower(self, value: Val) -> None:
        low = self.low.get()
        self.low.set(self.fn.select(self.fn.lt(value, low), value, low))

    def _leave(self) -> None:
        """Back to the node from which the current one was entered."""
        fn, graph = self.fn, self.graph
        found = self.low.get()
        depth = fn.sub(self.depth.get(), const(1))
        self.depth.set(depth)
        node = graph.load(QueryField.FRAME_NODE, depth)
        _, state = graph.split(node)
        self.current.set(node)
        self.low.set(graph.load(QueryField.FRAME_LOW, depth))
        self.edge.set(graph.load(QueryField.FRAME_EDGE, depth, 64))
        self.end.set(graph.bounds(state)[1])
        if graph.product:
            self.way.set(graph.load(QueryField.FRAME_WAY, depth))
        self._lower(found)

    def _finish(self) -> None:
        """Ends the current node, which has no edges left: judges its component if it is the first
        of it.
        """
        fn, graph = self.fn, self.graph
        node = self.current.get()
        with fn.if_(fn.eq(self.low.get(), graph.load(QueryField.INDEX, node))):
            high = self.top.get()
            base = fn.var(fn.sub(high, const(1)))
            with fn.forever() as found:
                fn.leave_if(fn.eq(graph.load(QueryField.STACK, base.get()), node), found)
                base.set(fn.sub(base.get(), const(1)))
            self.top.set(base.get())
            alone = fn.eq(fn.add(base.get(), const(1)), high)
            fn.if_else(
                alone,
                lambda: graph.make(node, Member.OUTSIDE),
                lambda: self._judge(base.get(), high),
            )

    def _judge(self, base: Val, high: Val) -> None:
        name = f"weigh_{_suffix(self.graph.product)}"
        self.fn.call(name, [self.graph.task, base, high], None)


# -- fairness -----------------------------------------------------------------------------------


def _weigh(product: bool) -> Fn:
    """``weigh_<kind>(task, base, top)``: judges the component on this part of the stack."""
    params = [("task", 0), ("base", 64), ("top", 64)]
    fn = Fn(f"weigh_{_suffix(product)}", params, None)
    task, base, top = fn.args
    graph = GraphCode(fn, product)
    component = fn.add(get(fn, task, QueryField.COMPONENT), const(1))
    put(fn, task, QueryField.COMPONENT, component)
    with fn.count(top, base) as i:
        graph.make(graph.load(QueryField.STACK, i), Member.HERE)
    touched, held = fn.var(const(0)), fn.var(const(0))
    with fn.count(top, base) as i:
        node = graph.load(QueryField.STACK, i)
        copy, state = graph.split(node)
        held.set(fn.or_(held.get(), _unmet_sets(graph, copy, state)))
        visit = fn.add(get(fn, task, QueryField.VISIT), const(1))
        put(fn, task, QueryField.VISIT, visit)
        begin, end = graph.bounds(state)
        with fn.count(end, begin) as edge:
            following = fn.label()
            label = graph.label(edge)
            fn.leave_if(fn.eq(label, const(0)), following)
            _count_enabled(graph, label, component, visit, touched)
            taken = fn.eq(graph.load(QueryField.TAKEN, label), component)
            fn.leave_if(taken, following)
            target = graph.target(edge)
            fn.leave_if(fn.eq(target, const(NONE)), following)
            with (
                graph.each_node(copy, target) as (successor, _),
                fn.if_(graph.is_member(successor, Member.HERE)),
            ):
                graph.store(QueryField.TAKEN, label, component)
            fn.place(following)
    unfair, dropped = fn.var(FALSE), fn.var(FALSE)
    full = get(fn, task, QueryField.REQUIRED_BITS)
    unfair.set(fn.ne(fn.and_(held.get(), full), full))
    size = fn.sub(top, base)
    with fn.count(touched.get()) as i:
        following = fn.label()
        label = graph.load(QueryField.TOUCHED, i)
        fn.leave_if(fn.eq(graph.load(QueryField.TAKEN, label), component), following)
        strong = fn.eq(graph.load(QueryField.KINDS, label, 8), const(STRONG))
        everywhere = fn.eq(graph.load(QueryField.COUNT, label), size)
        dropped.set(fn.or_(dropped.get(), strong))
        unfair.set(fn.or_(unfair.get(), everywhere))
        fn.place(following)
    fair = fn.and_(fn.not_(unfair.get()), fn.not_(dropped.get()))
    with fn.if_(fair):
        put(fn, task, QueryField.FAIR, fn.add(get(fn, task, QueryField.FAIR), const(1)))
    with fn.count(top, base) as i:
        node = graph.load(QueryField.STACK, i)
        fate = fn.var(fn.select(fair, const(Member.FAIR, 8), const(Member.OUTSIDE, 8)))
        with fn.if_(fair):
            graph.store(QueryField.INDEX, node, component)
        with fn.if_(fn.and_(fn.not_(unfair.get()), dropped.get())):
            _drop(graph, node, component, fate)
        fn.store(fate.get(), fn.at(address(fn, task, QueryField.MEMBER), node, 8))
    fn.ret()
    return fn


def _unmet_sets(graph: GraphCode, copy: Val, state: Val) -> Val:
    """The justice conditions and accepting sets of a node."""
    fn, found = graph.fn, graph.fn.var(const(0))
    states = address(fn, graph.task, QueryField.STATE_BITS)
    with fn.if_(fn.ne(states, Val("null", 0))):
        found.set(fn.load(fn.at(states, state), 64))
    if graph.product:
        found.set(fn.or_(found.get(), graph.load(QueryField.COPY_BITS, copy, 64)))
    return found.get()


def _count_enabled(graph: GraphCode, label: Val, component: Val, visit: Val, touched: Var) -> None:
    """Counts the nodes in which a constraint is enabled."""
    fn = graph.fn
    with fn.if_(fn.ne(graph.load(QueryField.COUNTED, label), component)):
        graph.store(QueryField.COUNTED, label, component)
        graph.store(QueryField.COUNT, label, const(0))
        graph.store(QueryField.TOUCHED, touched.get(), label)
        touched.set(fn.add(touched.get(), const(1)))
    with fn.if_(fn.ne(graph.load(QueryField.LAST, label, 64), visit)):
        graph.store(QueryField.LAST, label, visit, 64)
        graph.store(QueryField.COUNT, label, fn.add(graph.load(QueryField.COUNT, label), const(1)))


def _drop(graph: GraphCode, node: Val, component: Val, fate: Var) -> None:
    """Keeps a node to be judged again, unless a strongly fair constraint that is never taken is
    enabled.
    """
    fn = graph.fn
    keep = fn.var(TRUE)
    _, state = graph.split(node)
    begin, end = graph.bounds(state)
    with fn.count(end, begin) as edge:
        label = graph.label(edge)
        strong = fn.eq(graph.load(QueryField.KINDS, label, 8), const(STRONG))
        missed = fn.ne(graph.load(QueryField.TAKEN, label), component)
        keep.set(fn.and_(keep.get(), fn.not_(fn.and_(strong, missed))))
    with fn.if_(keep.get()):
        count = get(fn, graph.task, QueryField.LEFT_COUNT)
        graph.store(QueryField.LEFT, count, node)
        put(fn, graph.task, QueryField.LEFT_COUNT, fn.add(count, const(1)))
        fate.set(const(Member.AGAIN, 8))
