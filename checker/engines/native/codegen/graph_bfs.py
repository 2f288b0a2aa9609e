"""Breadth-first search on the state graph as native code, subgraphs, and searches for lassos.

See :mod:`checker.engines.native.codegen.graph_fields` for the record ``task``.  Nodes that are
found are written to OUT, and their number is the result.
"""

from __future__ import annotations

from checker.engines.native.codegen.emit import FALSE, TRUE, Fn, Label, Val, Var, const
from checker.engines.native.codegen.fair_components import GraphCode
from checker.engines.native.codegen.graph_fields import NONE, Member, QueryField
from checker.engines.native.codegen.record_access import address, get, put


def functions() -> list[Fn]:
    return [
        _select(),
        _compress(),
        _seed(),
        _spread(),
        _parents(),
        _find(),
        _quiet(),
        _stays(),
        _emit_chosen(),
        _emit_reached(),
        _relabel(),
        _leading(),
        _turning(),
    ]


def _select() -> Fn:
    """``select(task, local, core)``: the numbers of the fair states, and how many there are."""
    fn = Fn("select", [("task", 0), ("local", 0), ("core", 0)], 64)
    _, local, core = fn.args
    graph = GraphCode(fn, False)
    total = fn.var(const(0))
    with fn.count(graph.states) as state, fn.if_(graph.is_member(state, Member.FAIR)):
        count = total.get()
        fn.store(fn.resize(count, 32), fn.at(local, state, 32))
        fn.store(fn.resize(state, 32), fn.at(core, count, 32))
        total.set(fn.add(count, const(1)))
    fn.ret(total.get())
    return fn


def _compress() -> Fn:
    """``compress(task, local, start, targets, labels)``: the graph of the fair states.

    Of edges that leave it only the constraints are kept; where ``targets`` is null they are only
    counted.  Returns the number of edges.
    """
    names = ("task", "local", "start", "targets", "labels")
    fn = Fn("compress", [(name, 0) for name in names], 64)
    _, local, start, targets, labels = fn.args
    graph = GraphCode(fn, False)
    row, total = fn.var(const(0)), fn.var(const(0))
    writing = fn.ne(targets, Val("null", 0))
    with fn.count(graph.states) as state, fn.if_(graph.is_member(state, Member.FAIR)):
        fn.store(total.get(), fn.at(start, row.get()))
        row.set(fn.add(row.get(), const(1)))
        begin, end = graph.bounds(state)
        with fn.count(end, begin) as edge:
            following = fn.label()
            target, label = graph.target(edge), graph.label(edge)
            within = fn.var(FALSE)
            with fn.if_(fn.ne(target, const(NONE))):
                within.set(graph.is_member(target, Member.FAIR))
            inside = within.get()
            useless = fn.and_(fn.not_(inside), fn.eq(label, const(0)))
            fn.leave_if(useless, following)
            count = total.get()
            with fn.if_(writing):
                there = fn.var(const(NONE, 32))
                with fn.if_(inside):
                    there.set(fn.load(fn.at(local, target, 32), 32))
                fn.store(there.get(), fn.at(targets, count, 32))
                fn.store(fn.resize(label, 32), fn.at(labels, count, 32))
            total.set(fn.add(count, const(1)))
            fn.place(following)
    fn.store(total.get(), fn.at(start, row.get()))
    fn.ret(total.get())
    return fn


# -- breadth first ------------------------------------------------------------------------------


def _push(graph: GraphCode, node: Val, following: Label) -> None:
    """Puts a node into the queue unless it has been there; only inside INSIDE, if that is set."""
    fn, task = graph.fn, graph.task
    spreading = get(fn, task, QueryField.SPREADING)
    fn.leave_if(fn.eq(graph.load(QueryField.SEEN, node), spreading), following)
    inside = get(fn, task, QueryField.INSIDE)
    with fn.if_(fn.ne(inside, const(0))):
        fn.leave_if(fn.not_(_inside(graph, node, inside)), following)
    graph.store(QueryField.SEEN, node, spreading)
    count = get(fn, task, QueryField.QUEUED)
    graph.store(QueryField.QUEUE, count, node)
    put(fn, task, QueryField.QUEUED, fn.add(count, const(1)))


def _inside(graph: GraphCode, node: Val, inside: Val) -> Val:
    fn = graph.fn
    here = fn.eq(graph.load(QueryField.INDEX, node), inside)
    return fn.and_(graph.is_member(node, Member.FAIR), here)


def _seed() -> Fn:
    """``seed(task, begin, end)``: executions may start in these states, or have waited until
    then.
    """
    fn = Fn("seed", [("task", 0), ("begin", 64), ("end", 64)], None)
    _, begin, end = fn.args
    graph = GraphCode(fn, True)
    with fn.count(end, begin) as state, graph.each_node(const(0), state) as (node, following):
        _push(graph, node, following)
    fn.ret()
    return fn


def _spread() -> Fn:
    """``spread(task, begin, end)``: expands this part of the queue by one step."""
    fn = Fn("spread", [("task", 0), ("begin", 64), ("end", 64)], None)
    _, begin, end = fn.args
    graph = GraphCode(fn, True)
    with (
        fn.count(end, begin) as i,
        graph.each_step(graph.load(QueryField.QUEUE, i)) as (_, node, following),
    ):
        _push(graph, node, following)
    fn.ret()
    return fn


def _report(graph: GraphCode, total: Var, node: Val) -> None:
    graph.store(QueryField.OUT, total.get(), node)
    total.set(graph.fn.add(total.get(), const(1)))


def _parents() -> Fn:
    """``parents(task, begin, end, node)``: those in this part of the queue with an edge to it."""
    fn = Fn("parents", [("task", 0), ("begin", 64), ("end", 64), ("node", 64)], 64)
    _, begin, end, wanted = fn.args
    graph = GraphCode(fn, True)
    _, state = graph.split(wanted)
    total = fn.var(const(0))
    with fn.count(end, begin) as i:
        found, node = fn.label(), graph.load(QueryField.QUEUE, i)
        copy, own = graph.split(node)
        first, last = graph.bounds(own)
        hit = fn.var(FALSE)
        with fn.count(last, first) as edge:
            following = fn.label()
            fn.leave_if(fn.ne(graph.target(edge), state), following)
            with graph.each_node(copy, state) as (successor, _):
                hit.set(fn.or_(hit.get(), fn.eq(successor, wanted)))
            fn.leave_if(hit.get(), found)
            fn.place(following)
        fn.place(found)
        with fn.if_(hit.get()):
            _report(graph, total, node)
    fn.ret(total.get())
    return fn


def _find() -> Fn:
    """``find_wanted(task, begin, end)``: the nodes in this part of the queue that satisfy something
    wanted.

    That is: something of WANTED_BITS holds there; or an edge inside takes a constraint of WANTED;
    or one of those that may also be disabled is disabled.
    """
    fn = Fn("find_wanted", [("task", 0), ("begin", 64), ("end", 64)], 64)
    task, begin, end = fn.args
    graph = GraphCode(fn, True)
    inside = get(fn, task, QueryField.INSIDE)
    total = fn.var(const(0))
    with fn.count(end, begin) as i:
        good, bad = fn.label(), fn.label()
        node = graph.load(QueryField.QUEUE, i)
        copy, state = graph.split(node)
        copy_bits = graph.load(QueryField.COPY_BITS, copy, 64)
        states = address(fn, task, QueryField.STATE_BITS)
        held = fn.var(copy_bits)
        with fn.if_(fn.ne(states, Val("null", 0))):
            held.set(fn.or_(copy_bits, fn.load(fn.at(states, state), 64)))
        wish = fn.and_(held.get(), get(fn, task, QueryField.WANTED_BITS))
        fn.leave_if(fn.ne(wish, const(0)), good)
        visit = fn.add(get(fn, task, QueryField.VISIT), const(1))
        put(fn, task, QueryField.VISIT, visit)
        present = fn.var(const(0))
        first, last = graph.bounds(state)
        with fn.count(last, first) as edge:
            following = fn.label()
            label = graph.label(edge)
            kind = graph.load(QueryField.WANTED, label, 8)
            fn.leave_if(fn.eq(kind, const(0)), following)
            fresh = fn.ne(graph.load(QueryField.LAST, label, 64), visit)
            graph.store(QueryField.LAST, label, visit, 64)
            optional = fn.and_(fresh, fn.eq(kind, const(2)))
            present.set(fn.add(present.get(), fn.resize(optional, 64)))
            target = graph.target(edge)
            fn.leave_if(fn.eq(target, const(NONE)), following)
            with graph.each_node(copy, target) as (successor, _):
                fn.leave_if(_inside(graph, successor, inside), good)
            fn.place(following)
        fn.leave_if(fn.ne(present.get(), get(fn, task, QueryField.WANTED_COUNT)), good)
        fn.jump(bad)
        fn.place_fresh(good)
        _report(graph, total, node)
        fn.place(bad)
    fn.ret(total.get())
    return fn


# -- ends ---------------------------------------------------------------------------------------


def _quiet() -> Fn:
    """``quiet(task, begin, end)``: writes ENDS for these states.

    An execution may stay where an edge to the state itself takes each constraint that is enabled
    there, and all justice conditions hold.
    """
    fn = Fn("quiet", [("task", 0), ("begin", 64), ("end", 64)], None)
    task, first, last = fn.args
    graph = GraphCode(fn, False)
    states, full = address(fn, task, QueryField.STATE_BITS), get(fn, task, QueryField.REQUIRED_BITS)
    with fn.count(last, first) as state:
        visit = fn.add(get(fn, task, QueryField.VISIT), const(1))
        put(fn, task, QueryField.VISIT, visit)
        begin, end = graph.bounds(state)
        with fn.count(end, begin) as edge, fn.if_(fn.eq(graph.target(edge), state)):
            graph.store(QueryField.LAST, graph.label(edge), visit, 64)
        ended = fn.var(TRUE)
        with fn.count(end, begin) as edge:
            label = graph.label(edge)
            kept = fn.eq(graph.load(QueryField.LAST, label, 64), visit)
            ended.set(fn.and_(ended.get(), fn.or_(kept, fn.eq(label, const(0)))))
        with fn.if_(fn.ne(states, Val("null", 0))):
            held = fn.and_(fn.load(fn.at(states, state), 64), full)
            ended.set(fn.and_(ended.get(), fn.eq(held, full)))
        graph.store(QueryField.ENDS, state, ended.get(), 8)
    fn.ret()
    return fn


def _stays() -> Fn:
    """``stays(task, begin, end)``: nodes in this part of the queue where an accepted execution
    ends.
    """
    fn = Fn("stays", [("task", 0), ("begin", 64), ("end", 64)], 64)
    task, begin, end = fn.args
    graph = GraphCode(fn, True)
    total = fn.var(const(0))
    with fn.count(end, begin) as i:
        following, node = fn.label(), graph.load(QueryField.QUEUE, i)
        copy, state = graph.split(node)
        fn.leave_if(fn.eq(graph.load(QueryField.ENDS, state, 8), const(0)), following)
        letter = graph.load(QueryField.LETTERS, state, 16)
        row = fn.add(fn.mul(copy, get(fn, task, QueryField.ALPHABET)), letter)
        fn.leave_if(fn.eq(graph.load(QueryField.STAYS, row, 8), const(0)), following)
        _report(graph, total, node)
        fn.place(following)
    fn.ret(total.get())
    return fn


# -- parts --------------------------------------------------------------------------------------


def _emit_chosen() -> Fn:
    """``chosen(numbers, letters, count, good, out)``: the numbers whose letter is a good one."""
    params = [("numbers", 0), ("letters", 0), ("count", 64), ("good", 0), ("out", 0)]
    fn = Fn("chosen", params, 64)
    numbers, letters, count, good, out = fn.args
    total = fn.var(const(0))
    with fn.count(count) as i:
        letter = fn.resize(fn.load(fn.at(letters, i, 16), 16), 64)
        with fn.if_(fn.ne(fn.load(fn.at(good, letter, 8), 8), const(0, 8))):
            fn.store(fn.load(fn.at(numbers, i, 32), 32), fn.at(out, total.get(), 32))
            total.set(fn.add(total.get(), const(1)))
    fn.ret(total.get())
    return fn


def _emit_reached() -> Fn:
    """``reached(task, first, core, count, base, out)``: nodes ``base + i`` of a smaller graph.

    Those for which the search has reached node ``first + core[i]`` of this one.
    """
    params = [("task", 0), ("first", 64), ("core", 0), ("count", 64), ("base", 64), ("out", 0)]
    fn = Fn("reached", params, 64)
    task, first, core, count, base, out = fn.args
    graph = GraphCode(fn, False)
    total, spreading = fn.var(const(0)), get(fn, task, QueryField.SPREADING)
    with fn.count(count) as i:
        state = fn.resize(fn.load(fn.at(core, i, 32), 32), 64)
        seen = graph.load(QueryField.SEEN, fn.add(first, state))
        with fn.if_(fn.eq(seen, spreading)):
            fn.store(fn.resize(fn.add(base, i), 32), fn.at(out, total.get(), 32))
            total.set(fn.add(total.get(), const(1)))
    fn.ret(total.get())
    return fn


def _relabel() -> Fn:
    """``relabel(labels, begin, end, names)``: replaces each label by the name it has."""
    fn = Fn("relabel", [("labels", 0), ("begin", 64), ("end", 64), ("names", 0)], None)
    labels, begin, end, names = fn.args
    with fn.count(end, begin) as i:
        place = fn.at(labels, i, 32)
        label = fn.resize(fn.load(place, 32), 64)
        fn.store(fn.load(fn.at(names, label, 32), 32), place)
    fn.ret()
    return fn


def _leading() -> Fn:
    """``leading(start, targets, begin, end, wanted, out)``: those of these states from which an
    edge leads to the state ``wanted``.  Returns their number; ``out``: their numbers."""
    params = [("start", 0), ("targets", 0), ("begin", 64), ("end", 64), ("wanted", 64), ("out", 0)]
    fn = Fn("leading", params, 64)
    start, targets, first, last, wanted, out = fn.args
    total, goal = fn.var(const(0)), fn.resize(wanted, 32)
    with fn.count(last, first) as state:
        found, begin = fn.label(), fn.load(fn.at(start, state), 64)
        end, no = fn.load(fn.at(start, fn.add(state, const(1))), 64), fn.label()
        with fn.count(end, begin) as edge:
            fn.leave_if(fn.eq(fn.load(fn.at(targets, edge, 32), 32), goal), found)
        fn.jump(no)
        fn.place_fresh(found)
        fn.store(fn.resize(state, 32), fn.at(out, total.get(), 32))
        total.set(fn.add(total.get(), const(1)))
        fn.place(no)
    fn.ret(total.get())
    return fn


def _turning() -> Fn:
    """``turning(task, out)``: the states with an edge to themselves, and how many there are."""
    fn = Fn("turning", [("task", 0), ("out", 0)], 64)
    graph, out = GraphCode(fn, False), fn.args[1]
    total = fn.var(const(0))
    with fn.count(graph.states) as state:
        begin, end = graph.bounds(state)
        turns = fn.var(FALSE)
        with fn.count(end, begin) as edge:
            turns.set(fn.or_(turns.get(), fn.eq(graph.target(edge), state)))
        with fn.if_(turns.get()):
            fn.store(fn.resize(state, 32), fn.at(out, total.get(), 32))
            total.set(fn.add(total.get(), const(1)))
    fn.ret(total.get())
    return fn
