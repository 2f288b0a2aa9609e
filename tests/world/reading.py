"""Reads a check of a spec, as the tool has typed it, as what the second definition runs.

Nothing is instantiated here: sizes get their values, and every construct its counterpart in
:mod:`tests.world.spec`.  What has none raises :class:`tests.world.values.Unsupported`.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Any

from checker.language.syntax import typed
from checker.language.syntax.stack import given_for, layers_of, stands_for
from tests.world import spec as s
from tests.world.protocol import (
    CONDITION,
    DISCONNECTED,
    INDICATION,
    INIT,
    RECEIVE,
    RECOVER,
    REQUEST,
    TIMEOUT,
    Handler,
    Protocol,
    Question,
    Request,
    Spec,
    Uses,
    Variable,
    World,
)
from tests.world.system import called
from tests.world.values import Expressions, Unsupported, named, walked

DETECTORS = {"suspect": "fd", "trust": "leader"}
"""What the layers of detectors are called, by what they say."""


def spec_of(check: typed.Check) -> Spec:
    """The protocol and the world of ``check``, without its questions; raises
    :class:`Unsupported`."""
    if check.every:
        raise Unsupported("a check for all sizes")
    if check.view is not None:
        raise Unsupported("a view")
    reader = Reader(check)
    return Spec(reader.protocol(check.protocol), reader.world(), ())


def sizes_of(check: typed.Check) -> dict[str, Any]:
    """The values of all parameters, in whatever order they depend on each other."""
    below = [stands_for(layer, check.given) for layer in layers_of(check.protocol, check.given)]
    parameters = [p for q in (*below, check.protocol) if q is not None for p in q.parameters]
    sources: dict[str, typed.Expr] = {p.name: p.default for p in parameters if p.default}
    sources |= {setting.name: setting.value for setting in check.settings}
    values: dict[str, Any] = {} if "n" in sources else {"n": 3}
    for _ in sources:
        for name in sources.keys() - values.keys():
            try:
                values[name] = Expressions(values).size(sources[name])
            except Unsupported:
                continue
    if "f" not in values:
        bounds = (check.crash, check.omission, check.byzantine)
        values["f"] = sum(Expressions({**values, "f": 0}).size(each) for each in bounds)
    roles = [role.name for role in check.protocol.roles]
    first = called(roles)[roles[0]] + "1"
    unset = (p.name for p in parameters if isinstance(p.type, typed.Proc) and p.default is None)
    return {**dict.fromkeys(unset, first), **values}


class Reader(Expressions):
    """Reads the parts of ``check``."""

    def __init__(self, check: typed.Check) -> None:
        super().__init__(sizes_of(check))
        self.check, self.numbers = check, count(1)

    # -- the world ------------------------------------------------------------------------------

    def most(self, bound: typed.Expr | None, there: bool) -> int:
        """How often something happens; -1: any number of times."""
        return self.size(bound, -1) if there else 0

    def world(self) -> World:
        check, timing, detector = self.check, self.check.timing, self.check.detector
        if any(fault.bound is None for fault in check.role_faults):
            raise Unsupported("a fault of a role without a bound")
        clients = [each for client in check.clients for each in self.client(client)]
        nodes = [*walked(check.clients), *walked(check.prove), *walked(check.bounds)]
        payloads = {n.name for n in nodes if isinstance(n, typed.Named) and _is_payload(n)}
        handlers = [b for b in check.budgets if not b.alternative]
        if len(handlers) > 1:
            raise Unsupported("several budgets of handlers")
        return World(
            n=self.sizes["n"],
            crash=self.size(check.kill), power=self.size(check.power), wipe=self.size(check.wipe),
            recover=check.recover, recovering=check.recovering, sync=self.size(check.sync),
            byzantine=self.size(check.byzantine), omission=self.size(check.omission),
            partition=self.most(check.partitions, check.splits),
            pause=self.most(check.pauses, check.pausing),
            cuts=tuple((*(c.way or ("", "")), self.size(c.bound, -1)) for c in check.cuts),
            reset=self.size(check.resets),
            links=tuple(k.name for k in check.links if k.name != "bounded"), bound=check.capacity,
            rules=tuple(map(self.rule, check.link_rules)),
            timing=timing.kind if timing else "",
            early=self.size(timing.noise) if timing and timing.noise else None,
            drift=self.size(timing.drift) if timing and timing.kind == "clocks" else None,
            until=self.size(timing.until) if timing and timing.until else None,
            detector=_detector(detector) if detector else "",
            noise=self.size(detector.noise) if detector and detector.noise else None,
            oracles=tuple(self.oracles()),
            between_handlers=check.crash_points == "between_handlers",
            clients=tuple(clients), payloads=tuple(sorted(payloads)), limit=self.limit(),
            of_roles=tuple((f.kind, f.role, self.size(f.bound)) for f in check.role_faults),
            alone=frozenset(f.kind for f in check.role_faults if f.alone),
            budget=self.size(handlers[0].bound) if handlers else None,
            each=bool(handlers) and handlers[0].per_process,
            counted=handlers[0].handler if handlers else "",
            fair=tuple((clause.handler, clause.strongly) for clause in check.fair),
            taken=tuple(
                (b.handler, self.size(b.bound), b.per_process)
                for b in check.budgets if b.alternative
            ),
        )  # fmt: skip

    def rule(self, rule: typed.LinkRule) -> tuple[str, str, tuple[str, ...]]:
        if rule.capacity is not None:
            raise Unsupported("a link of roles with a bound")
        return rule.sender, rule.receiver, tuple(kind.name for kind in rule.kinds)

    def client(self, client: typed.Client) -> Iterable[tuple[str, Any]]:
        """What ``client`` asks for; ``all`` are all processes, whether they take it or not."""
        roles = self.check.protocol.roles
        names = called([role.name for role in roles])
        everybody = [
            f"{names[role.name]}{i + 1}"
            for role in roles
            for i in range(self.size(role.size, self.sizes["n"]))
        ]
        if client.process not in (*everybody, "all"):
            raise Unsupported("a client by another name")
        asked = self.wish(client)
        return [(p, asked) for p in (everybody if client.process == "all" else [client.process])]

    def wish(self, client: typed.Client) -> tuple[tuple[Request, ...]]:
        ways = client.alternatives or (() if client.domain is not None else (client.args,))
        if client.domain is not None:
            values = self.size(client.domain)
            requests = [Request(client.op, (value,)) for value in sorted(values)]
        else:
            requests = [Request(client.op, tuple(map(self.size, way))) for way in ways]
        return (tuple(requests),)

    def oracles(self) -> Iterable[str]:
        known = ("BestEffort", "Reliable", "UniformReliable")
        known = (*(f"{each}Broadcast" for each in known), "Consensus", "UniformConsensus")
        for layer in layers_of(self.check.protocol, self.check.given):
            given = given_for(layer, self.check.given)
            if given is not None and given.protocol is None:
                if layer.interface is None or layer.interface.name not in known:
                    raise Unsupported("an oracle of another interface")
                yield layer.name

    def limit(self) -> Question | None:
        """All bounds as one."""
        formulas = [b.formula.args[0] for b in self.check.bounds if hasattr(b.formula, "args")]
        if not formulas:
            return None
        whole = typed.Operation(typed.Bool(), "and", tuple(formulas), self.check.span)
        return Question("bound", "always", self.expr(whole), processes=())

    # -- protocols ------------------------------------------------------------------------------

    def protocol(self, protocol: typed.Protocol, top: bool = True) -> Protocol:
        names = tuple(role.name for role in protocol.roles)
        if not top and names != ("",):
            raise Unsupported("a layer below with roles")
        roles = [(r.name, self.size(r.size, self.sizes["n"])) for r in protocol.roles if r.name]
        variables = [self.variable(v, "", protocol.choices, shared=True) for v in protocol.shared]
        handlers, together = list[Handler](), list[tuple[str, str]]()
        called = [n.body for n in walked(protocol.roles) if isinstance(n, typed.Inlined)]
        for role in protocol.roles:
            variables += [self.variable(v, role.name, role.choices) for v in role.states]
            handlers += [self.handler(h, role.name) for h in role.handlers]
            together += [(role.name, role.lead)] if role.lead else []
        messages = tuple(
            (m.name, tuple(self.sort(type_) for _, type_ in m.fields)) for m in protocol.messages
        )
        return Protocol(
            protocol.name, "", messages, tuple(variables), tuple(handlers),
            tuple(self.uses(layer, top) for layer in protocol.layers), tuple(roles),
            tuple(each.text for body in called for each in self.block(body)),
            together=tuple(together),
        )  # fmt: skip

    def uses(self, layer: typed.Layer, top: bool) -> Uses:
        interface = layer.interface.name if layer.interface else ""
        if layer.index is None:
            indices: int | None = None
        elif isinstance(layer.index, typed.Int) and self.size(layer.index.lo) == 0:
            indices = self.size(layer.index.hi) + 1
        else:
            raise Unsupported("a family of layers by anything but numbers from 0")
        below = stands_for(layer, self.check.given)
        if below is not None:
            return Uses(layer.name, self.protocol(below, top=False), interface, indices)
        if given_for(layer, self.check.given) is not None:
            return Uses(layer.name, None, interface, indices)
        says = [each.name for each in layer.interface.indications] if layer.interface else []
        found = [name for word, name in DETECTORS.items() if word in says]
        if not top or not found:
            raise Unsupported("a detector below the top")
        return Uses(found[0], None, interface)

    def variable(
        self, decl: typed.StateDecl, role: str, choices: Iterable[Any], shared: bool = False
    ) -> Variable:
        kind = " ".join(
            ["ghost"] * decl.ghost + ["stable"] * decl.stable + ["synced"] * decl.synced
            + ["shared"] * shared + ["state"]
        )  # fmt: skip
        first = self.default(decl.type) if decl.initial is None else self.value(decl.initial)
        chosen = [self.choice(each, decl) for each in choices if each.name == decl.name]
        initial = s.Expr(self.told(decl.initial), first)
        return Variable(
            decl.name, self.told(decl.type), initial, kind, chosen[0] if chosen else None, role
        )

    def choice(self, choice: typed.InitChoice, decl: typed.StateDecl) -> s.Expr:
        def chosen(at: Any) -> frozenset[Any]:
            some = self.all_of(at, decl.type) if choice.domain is None else of(at)
            return frozenset(v for v in some if where is None or where(named(at, {choice.name: v})))

        of = self.value(choice.domain) if choice.domain is not None else frozenset
        where = None if choice.where is None else self.value(choice.where)
        return s.Expr(self.told(choice), chosen)

    def handler(self, handler: typed.Handler, role: str) -> Handler:
        budgets = {b.handler for b in self.check.budgets if not b.alternative}
        fair = {clause.handler for clause in self.check.fair}
        guards = [handler.when] if handler.when is not None else []
        if handler.at is not None:
            me, span = typed.Self(typed.Proc(), handler.span), handler.span
            guards.append(typed.Operation(typed.Bool(), "==", (me, handler.at), span))
        event = self.event(handler.event)
        if isinstance(handler.event, typed.OnCondition):
            guards.insert(0, handler.event.condition)
        if handler.label in budgets and event["event"] != CONDITION:
            raise Unsupported("a budget of a handler that is no condition")
        guard = typed.Operation(typed.Bool(), "and", tuple(guards), handler.span)
        return Handler(
            **event, guard=self.expr(guard) if guards else None, body=self.block(handler.body),
            may=not handler.is_fair, role=role,
            called=handler.label if handler.label in budgets | fair else "",
        )  # fmt: skip

    def event(self, on: typed.Event) -> dict[str, Any]:
        """What a handler stands behind, as fields of :class:`Handler`."""
        match on:
            case typed.OnRequest(op, patterns):
                return {"event": REQUEST, "name": op, "patterns": self.patterns(patterns)}
            case typed.OnReceive(message, patterns, sender):
                return {
                    "event": RECEIVE, "name": message, "patterns": self.patterns(patterns),
                    "sender": self.pattern(sender),
                }  # fmt: skip
            case typed.OnIndication(layer, op, patterns, index):
                parts = ((index,) if index is not None else ()) + patterns
                word = "suspect" if op == "restore" else op
                layer = DETECTORS.get(word, layer)
                return {
                    "event": INDICATION, "name": f"{layer}.{op}", "indexed": index is not None,
                    "patterns": self.patterns(parts),
                }  # fmt: skip
            case typed.OnCondition(_, free):
                binds = tuple((name, self.sort(type_)) for name, type_ in free)
                return {"event": CONDITION, "binds": binds}
            case typed.OnInit():
                return {"event": INIT}
            case typed.OnRecover():
                return {"event": RECOVER}
            case typed.OnTimeout(timer, key):
                if key is not None and not isinstance(key[1], typed.Proc):
                    raise Unsupported("timers by anything but processes")
                names = () if key is None else (s.Bind(key[0]),)
                return {"event": TIMEOUT, "name": timer or "", "patterns": names}
            case typed.OnDisconnected(process):
                return {"event": DISCONNECTED, "sender": self.pattern(process)}

    def patterns(self, patterns: Iterable[typed.Pattern]) -> tuple[s.Pattern, ...]:
        return tuple(map(self.pattern, patterns))

    # -- statements -----------------------------------------------------------------------------

    def block(self, body: typed.Block) -> s.Block:
        return tuple(each for stmt in body for each in self.statement(stmt))

    def statement(self, stmt: typed.Stmt) -> s.Block:
        match stmt:
            case typed.Assign(target, value):
                return (self.assign(target, self.value(value), self.told(stmt)),)
            case typed.Send(message, receivers):
                to = self.expr(receivers)
                one = isinstance(receivers.type, typed.Proc)
                return (s.Send(self.expr(message), s.only(to) if one else to),)
            case typed.Call(None, op, arguments):
                return (s.Tell(op, tuple(map(self.expr, arguments))),)
            case typed.Call(layer, op, arguments, _, index) if layer is not None:
                at = None if index is None else self.expr(index)
                return (s.Ask(layer, op, tuple(map(self.expr, arguments)), at),)
            case typed.If(condition, then, otherwise):
                return (s.If(self.expr(condition), self.block(then), self.block(otherwise)),)
            case typed.For(pattern, domain, where, body):
                name, members, lets = self.members(pattern, domain, where)
                return (s.For(name, members, (*lets, *self.block(body))),)
            case typed.While(pattern, domain, where, body):
                name, members, lets = self.members(pattern, domain, where)
                return (s.While(name, members, (*lets, *self.block(body))),)
            case typed.Choose(pattern, domain, where, _, weights):
                name, members, lets = self.members(pattern, domain, where)
                if weights:
                    members = self.weighed(weights)
                return (s.Choose(name, members, drawn=weights is not None), *lets)
            case typed.Either(alternatives, _, names):
                told = tuple(
                    (None if g is None else self.expr(g), self.block(b)) for g, b in alternatives
                )
                return (s.Either(told, names if any(names) else ()),)
            case typed.Require(condition):
                return (s.Require(self.expr(condition)),)
            case typed.LetIn(pattern, value):
                name = f"_{next(self.numbers)}"
                return (s.Let(name, self.expr(value)), *self.lets(pattern, name))
            case typed.Var(name, _, value):
                return (s.Var(name, self.expr(value)),)
            case typed.Inlined(name, arguments, body):
                names = tuple(n for n, _ in arguments)
                values = tuple(self.expr(value) for _, value in arguments)
                return (s.Run(name, names, self.block(body), values),)
            case _:
                return self.other(stmt)

    def other(self, stmt: typed.Stmt) -> s.Block:
        """Statements that have to do with time, crashes, ghosts and waiting."""
        match stmt:
            case typed.Perform(value, idempotent):
                return (s.Perform(self.expr(value), idempotent),)
            case typed.Timer(kind, name, key, duration):
                units = self.size(duration, 1)
                at = None if key is None else self.expr(key)
                return (s.Timer(name, kind == "start", units, at),)
            case typed.Atomic(body):
                return (s.Atomic(self.block(body)),)
            case typed.Sync(states, otherwise):
                other = self.block(otherwise) if otherwise else None
                return (s.Sync(tuple(ref.name for ref in states), other),)
            case typed.Ghost(body):
                return (s.Ghost(self.block(body)),)
            case typed.Await(condition):
                return (s.Await(None if condition is None else self.expr(condition)),)
            case typed.Yield():
                return (s.Yield(),)
            case _:
                raise Unsupported(f"a statement: {type(stmt).__name__}")

    def weighed(self, weights: tuple[typed.Weight, ...]) -> s.Expr:
        parts = [(self.value(w.value), self.value(w.numerator)) for w in weights]
        text = self.told(weights)
        return s.Expr(text, lambda at: frozenset(v(at) for v, weight in parts if weight(at)))

    def members(
        self, pattern: typed.Pattern, domain: typed.Expr, where: typed.Expr | None
    ) -> tuple[str, s.Expr, s.Block]:
        """A name, what it ranges over, and what the names of ``pattern`` are then."""
        if isinstance(pattern, typed.Bind) and where is None:
            return pattern.name, self.expr(domain), ()
        of, holds = self.value(domain), None if where is None else self.value(where)
        name = pattern.name if isinstance(pattern, typed.Bind) else f"_{next(self.numbers)}"

        def some(at: Any) -> Any:
            values, found = of(at), list[Any]()
            for value in values:
                inner = named(at, {})
                if self.fits(pattern, value, inner) and (holds is None or holds(inner)):
                    found.append(value)
            return type(values)(found)

        text = self.told((pattern, domain, where))
        return name, s.Expr(text, some), self.lets(pattern, name)

    def lets(self, pattern: typed.Pattern, whole: str) -> s.Block:
        """What the names of ``pattern`` are where ``whole`` fits it."""
        if isinstance(pattern, typed.Bind) and pattern.name == whole:
            return ()
        names = [node.name for node in walked(pattern) if isinstance(node, typed.Bind)]

        def value(at: Any, name: str) -> Any:
            inner = named(at, {})
            if not self.fits(pattern, at.names[whole], inner):
                raise IndexError(name)
            return inner.names[name]

        return tuple(
            s.Let(name, s.Expr(f"{whole} as {name}", lambda at, name=name: value(at, name)))
            for name in names
        )

    def assign(self, target: typed.Expr, value: Any, text: str) -> s.Statement:
        """An assignment to all of a variable: parts of it are put into what it is now."""
        match target:
            case typed.StateRef(_, name):
                return s.Assign(name, s.Expr(text, value))
            case typed.Local(_, name):
                return s.SetVar(name, s.Expr(text, value))
            case typed.Part(_, base, position):
                of = self.value(base)

                def changed(at: Any) -> Any:
                    old = of(at)
                    return (*old[:position], value(at), *old[position + 1 :])

                return self.assign(base, changed, text)
            case typed.Entry(_, base, key):
                if self.check.power is not None and any(
                    isinstance(node, typed.StateRef) and self.is_stable(node.name)
                    for node in walked(base)
                ):
                    raise Unsupported("an entry of a stable variable where the power fails")
                return self.assign(base, self._entry_put(base, key, value), text)
            case _:
                raise Unsupported("such a target of an assignment")

    def _entry_put(self, base: typed.Expr, key: typed.Expr, value: Any) -> Any:
        of, where, is_map = self.value(base), self.value(key), isinstance(base.type, typed.Map)

        def changed(at: Any) -> Any:
            old, k, new = of(at), where(at), value(at)
            if is_map:
                dict(old)[k]
                return tuple((each, new if each == k else v) for each, v in old)
            if not 0 <= k < len(old):
                raise IndexError(k)
            return (*old[:k], new, *old[k + 1 :])

        return changed

    def is_stable(self, name: str) -> bool:
        states = (n for n in walked(self.check.protocol) if isinstance(n, typed.StateDecl))
        return any(each.name == name and each.stable for each in states)


def _is_payload(node: typed.Named) -> bool:
    return isinstance(node.type, typed.Msg)


def _detector(detector: typed.Detector) -> str:
    if detector.of_roles or detector.alone:
        raise Unsupported("noise of single roles")
    eventually = detector.eventually and detector.kind != "Omega"
    return f"{'eventually ' * eventually}{detector.kind}"
