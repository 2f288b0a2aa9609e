"""Random small specs that have the features they are asked for."""

from __future__ import annotations

import random
from collections.abc import Callable

from checker.records import replace
from tests.world import spec as s
from tests.world.asking import limit, questions
from tests.world.carrying import CARRIED, Carried
from tests.world.features import GUESSES, LARGE
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
    Spec,
    Uses,
    Variable,
    World,
)
from tests.world.running import inside
from tests.world.sorts import MSG

M, P = s.name("m"), s.name("p")
LOG, HEARD, FLAG = s.var("log"), s.var("heard"), s.var("flag")
LOWER = (("COPY", (MSG,)), ("HINT", ()))
WRAPPED = s.message("COPY", M)
MINE = Variable("mine", "bool", s.FALSE)
ROLES = ("client", "server")
LEAD, FOLLOWS = ROLES
"""Which role dies with which, where one does."""
MESSAGES = (("ONE", (MSG,)), ("TWO", ()))


GHOSTS = [
    Variable("mirror", "bool", s.FALSE, "ghost state"),
    Variable("past", "bool", s.FALSE, "ghost state"),
    Variable("crowd", "set<Proc>", s.EMPTY, "ghost shared state"),
]
MIRROR, PAST, CROWD = s.var("mirror"), s.var("past"), s.var("crowd")
GHOST_CODE: tuple[s.Block, ...] = (
    (s.Assign("mirror", FLAG),),
    (s.Assign("past", s.TRUE),),
    (s.Assign("past", MIRROR), s.Assign("mirror", s.TRUE)),
    (
        s.If(
            s.within(s.ME, CROWD), (s.Assign("past", s.no(PAST)),), (s.Assign("crowd", s.ME, "+="),)
        ),
    ),
    (s.For("z", HEARD, (s.If(s.outside(s.name("z"), CROWD), (s.Assign("mirror", FLAG),)),)),),
    (s.Assign("mirror", s.at_least(s.size(CROWD), s.number(2))),),
)
"""Ghost code, which reads other state and ghosts, of all processes, too."""


class Draw:
    """Draws a spec with ``features``."""

    def __init__(self, features: frozenset[str], seed: int) -> None:
        self.features, self.random = features, random.Random(seed)
        self.flags = 0
        self.acts = 0
        self.carried = [CARRIED[f] for f in CARRIED if f in features]

    def has(self, feature: str) -> bool:
        return feature in self.features

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def spec(self) -> Spec:
        top = self.top()
        crash = self.has("crash") and not self.has("bound")
        found = Spec(top, self.world(), questions(self.random, top, crash=crash))
        if self.has("now"):
            found = self.until_the_end(found)
        if self.has("bound"):
            found = replace(found, world=replace(found.world, limit=limit(self.random, top)))
        if self.has("budget"):
            world = replace(found.world, budget=self.random.choice((0, 1, 1, 2)))
            found = replace(found, world=replace(world, each=self.chance(40)))
        if self.has("fair"):
            (name,) = {h.called for h in top.handlers if h.may}
            world = replace(found.world, fair=((name, self.chance(50)),))
            found = replace(found, world=world)
        if self.has("taken"):
            bound = ("keeps", self.random.choice((0, 1, 1, 2)), self.chance(40))
            taken = (bound,) if " as keeps " in found.text() else ()
            found = replace(found, world=replace(found.world, taken=taken))
        if self.has("role_faults"):
            found = replace(found, world=self.by_role(found.world))
        return found

    def until_the_end(self, found: Spec) -> Spec:
        """Time ends, and clocks are asked about; nothing is that happens in the end."""
        draw, asked = self.random, [q for q in found.questions if q.kind == "always"]
        for number, question in enumerate(asked):
            if self.chance(40) and question.processes:
                late = s.at_least(s.clock(question.processes[0]), s.number(draw.choice((1, 2))))
                late = late if self.chance(50) else s.no(late)
                premise = late if question.premise is None else s.both(question.premise, late)
                asked[number] = replace(question, premise=premise)
        world = replace(found.world, until=draw.choice((1, 2, 2, 3)))
        return replace(found, world=world, questions=tuple(asked))

    def by_role(self, world: World) -> World:
        """Bounds of the faults of roles; where nobody else has these, their sum is that of all."""
        draw, of_roles, alone = self.random, list[tuple[str, str, int]](), set[str]()
        for kind in ("crash", "power", "wipe", "byzantine", "omission", "pause"):
            if self.has(kind):
                roles = draw.sample(ROLES, draw.choice((1, 1, 2)))
                if self.has("dies_with") and kind in ("crash", "power", "wipe", "pause"):
                    roles = [LEAD]
                of_roles += [(kind, role, draw.choice((0, 1, 1))) for role in roles]
                alone |= {kind} if self.chance(70) else set()
        sums = {kind: sum(most for k, _, most in of_roles if k == kind) for kind in alone}
        back = (draw.choice(ROLES),) if world.recover and self.chance(50) else ()
        back = (LEAD,) * len(back) if self.has("dies_with") else back
        found = replace(world, of_roles=tuple(of_roles), alone=frozenset(alone), recovering=back)
        return replace(found, **sums)

    # -- the world ------------------------------------------------------------------------------

    def world(self) -> World:
        draw = self.random
        kinds = ("fifo", "lossy", "fair_loss", "duplicating", "stubborn", "persistent")
        kinds += ("connected",)
        links = [kind for kind in kinds if self.has(kind)]
        if self.has("byzantine") and self.chance(60):
            links.append("authenticated")
        clients = [("p1", ("a",))]
        if self.has("two_clients"):
            clients = draw.choice(
                ([("p1", ("a", "b"))], [("p1", ("a",)), ("p2", ("b",))], [("p1", ("a", "a"))])
            )
        if self.has("inputs"):
            clients = [(p, (("a", "b"), *values[1:])) for p, values in clients]
        detector = next((f for f in ("eventually P", "eventually S", "P", "S", "Omega")
                         if self.has(f)), "")  # fmt: skip
        timing = "asynchronous" if {"timeout", "named_timer", "keyed_timer"} & self.features else ""
        if self.has("roles"):
            clients = [({"p1": "c1", "p2": "s1"}[p], values) for p, values in clients]
        return World(
            n=0 if self.has("roles") else 2,
            crash=draw.choice((1, 1, 2 if self.often(detector) else 1)) if self.has("crash") else 0,
            power=int(self.has("power")),
            wipe=int(self.has("wipe")),
            sync=int(self.has("failing_sync")),
            recover=self.has("recover"),
            byzantine=int(self.has("byzantine")),
            omission=int(self.has("omission")),
            partition=draw.choice((1, -1)) if self.has("partition") else 0,
            pause=draw.choice((1, 1, 2, -1)) if self.has("pause") else 0,
            cuts=self.cuts(),
            reset=draw.choice((1, 1, 2)) if self.has("reset") else 0,
            links=tuple(links) or ("perfect",),
            bound=1 if self.has("bounded") else None,
            rules=self.rules() if self.has("link_rules") else (),
            timing=next((t for t in ("synchronous", "partial", "clocks") if self.has(t)), timing),
            drift=draw.choice((0, 1)) if self.has("clocks") else None,
            detector=detector,
            noise=draw.choice((None, 1, 1)) if detector in ("eventually P", "Omega") else None,
            early=draw.choice((None, 0, 1)) if self.has("partial") else None,
            oracles=("low",) * self.has("oracle") + ("cons",) * bool(self.consensus),
            between_handlers=self.has("between_handlers"),
            clients=tuple(clients),
        )

    def often(self, detector: str) -> bool:
        """Whether there may be two crashes: as many processes as stop on their own."""
        return not detector and (self.has("recover") or not self.has("dies_with"))

    def cuts(self) -> tuple[tuple[str, str, int], ...]:
        """Of all links, of one way of some, or both."""
        draw, found = self.random, list[tuple[str, str, int]]()
        if self.has("cut"):
            found.append(("", "", draw.choice((1, 1, -1))))
        if self.has("one_way_cut"):
            ways = [("Proc", "Proc")]
            if self.has("roles"):
                other = "third" if self.has("dies_with") else "client"
                ways += [(other, "server"), ("server", other), ("Proc", "server")] * 2
            found.append((*draw.choice(ways), draw.choice((1, 2, -1))))
        return tuple(found)

    def rules(self) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
        """For some ways from role to role."""
        draw = self.random
        kinds = [("perfect",), ("fifo",), ("lossy",), ("fair_loss",), ("fifo", "lossy")]
        if not {"synchronous", "partial"} & self.features:
            kinds += [("duplicating",), ("stubborn",), ("persistent",)]
        if self.has("connected"):
            kinds += [("connected",), ("connected", "fifo")] * 2
        if self.has("byzantine"):
            kinds += [("authenticated",), ("fifo", "authenticated")] * 2
        ways = draw.sample([(a, b) for a in ROLES for b in ROLES], draw.choice((1, 1, 2)))
        return tuple((a, b, draw.choice(kinds)) for a, b in ways)

    # -- protocols ------------------------------------------------------------------------------

    def top(self) -> Protocol:
        variables = [
            self.kept(Variable("log", "set<Msg>", s.EMPTY)),
            Variable("heard", "set<Proc>", s.EMPTY),
            self.kept(Variable("flag", "bool", s.FALSE)),
        ]
        if self.has("chosen"):
            variables.append(Variable("wish", "bool", s.FALSE, chosen=s.const("bool", _BOTH)))
        if self.has("shared"):
            variables.append(Variable("common", "bool", s.FALSE, "shared state"))
        variables += [self.kept_or_shared(c.variable) for c in self.carried]
        if self.has("ghosts"):
            variables += GHOSTS
        body = self.body(request=True)
        if self.consensus:
            variables.append(Variable("decision", "option<0..1>", s.NONE))
            body = (*body, self.proposal()) if self.chance(50) else (self.proposal(), *body)
        if self.has("named_timer") and self.has("roles"):  # each role starts the timer that it has
            body = (s.Timer("t"), *body)
        if self.has("keyed_timer") and self.has("roles"):
            body = (s.Timer("u", key=s.ME), *body)
        handlers = [Handler(REQUEST, "broadcast", (s.Bind("m"),), body=body)]
        handlers += self.receptions()
        handlers += self.happenings()
        if self.has("await"):
            handlers = [self.awaiting(h) for h in handlers]
        variables += [self.once(i) for i in range(self.flags)]
        if self.has("budget"):
            first = next(i for i, h in enumerate(handlers) if h.event == CONDITION)
            handlers[first] = replace(handlers[first], called="acts")
        if self.has("fair"):
            handlers = [replace(h, called=h.called or "takes") if h.may else h for h in handlers]
        roles: tuple[tuple[str, int], ...] = ()
        if self.has("roles"):
            small = LARGE & self.features or self.has("dies_with")
            sizes = ((1, 1), (1, 1), (1, 1) if small else (1, 2))
            roles = tuple(zip(ROLES, self.random.choice(sizes), strict=True))
            if self.has("dies_with") and {"cut", "one_way_cut", *GUESSES[:5]} & self.features:
                roles = (*roles, ("third", 1))  # who has links that can be cut, and may stay up
            handlers = [self.shared_out(h) for h in handlers]
            variables += [replace(self.kept(MINE), role=role) for role, _ in roles]
        return Protocol(
            "Top", "Service", (*MESSAGES, *((c.kind, (c.sort,)) for c in self.carried)),
            tuple(variables), tuple(handlers), self.below(), roles,
            together=((FOLLOWS, LEAD),) * self.has("dies_with"),
        )  # fmt: skip

    def kept(self, variable: Variable) -> Variable:
        """On disk, now and then, if that is a feature."""
        if self.has("stable") and self.chance(60):
            synced = self.has("synced") and self.chance(40)
            return replace(variable, kind="stable synced state" if synced else "stable state")
        return variable

    def shared_out(self, handler: Handler) -> Handler:
        """``handler``, maybe of one role only, which then may have something of its own in it."""
        role = self.random.choice(("", *ROLES))
        if not role or handler.event == REQUEST or handler.name in ("t", "u"):
            return handler
        position = self.random.randrange(len(handler.body) + 1)
        value = s.TRUE if self.chance(80) else s.no(s.var("mine"))
        mine = (s.Assign("mine", value),) if self.chance(60) else ()
        body = (*handler.body[:position], *mine, *handler.body[position:])
        return replace(handler, role=role, body=body)

    def kept_or_shared(self, variable: Variable) -> Variable:
        if self.has("shared") and self.chance(30):
            return replace(variable, kind="shared state")
        return self.kept(variable)

    def once(self, index: int) -> Variable:
        return self.kept(Variable(f"once{index}", "bool", s.FALSE))

    def below(self) -> tuple[Uses, ...]:
        uses, count = [], 2 if self.has("family") else None
        if self.has("oracle"):
            kind = "Reliable" if self.has("reliable") else "UniformReliable"
            kind = kind if {"reliable", "uniform"} & self.features else "BestEffort"
            uses.append(Uses("low", None, f"{kind}Broadcast", count))
        elif self.has("layer"):
            below = ()
            if self.has("two_layers"):
                below = (Uses("lowest", self.lower("Lowest", ()), "Lowest"),)
            uses.append(Uses("low", self.lower("Lower", below), "Lower", count))
        if self.consensus:
            uses.append(Uses("cons", None, self.consensus, count))
        if {"P", "eventually P", "S", "eventually S"} & self.features:
            uses.append(Uses("fd", None, "FailureDetector"))
        if self.has("Omega"):
            uses.append(Uses("leader", None, "LeaderDetector"))
        return tuple(uses)

    def lower(self, interface: str, below: tuple[Uses, ...]) -> Protocol:
        """A layer that hands on what it is given: by links, or by the layer below it."""
        draw = self.random
        give: s.Statement = s.Send(WRAPPED, s.ALL)
        take, seen = Handler(RECEIVE, "COPY", (s.Bind("m"),), s.Bind("p")), s.var("got")
        if below:
            give = s.Ask("lowest", "broadcast", (WRAPPED,))
            shape = s.Shape("COPY", (s.Bind("m"),))
            take = Handler(INDICATION, "lowest.deliver", (s.Bind("p"), shape))
        tell = s.Tell("deliver", (P, M))
        keep = s.Assign("got", M, "+=")
        guard = s.outside(M, seen) if self.chance(60) else None
        inside = tell if self.calls_yield else s.If(s.within(M, seen), (tell,))
        body = draw.choice(((tell, keep), (keep, tell), (keep, inside)))
        asked: s.Block = (give,)
        if self.has("told_at_once"):
            tell = s.Tell("deliver", (s.ME, M))
            asked = draw.choice(((tell, give), (give, tell)))
        elif self.chance(40):
            asked = draw.choice(
                ((s.Assign("busy", s.TRUE), give), (give, s.Assign("busy", s.TRUE)))
            )
        variables = (
            self.kept(Variable("got", "set<Msg>", s.EMPTY)), Variable("busy", "bool", s.FALSE),
        )  # fmt: skip
        if self.has("choices_below"):
            asked, body = self.branched(asked), self.branched(body)
        if self.has("yield_below"):
            first = self.random.choice((True, False))
            asked = self.halved(asked) if first else asked
            body = self.halved(body) if not first or self.chance(30) else body
        handlers = [
            Handler(REQUEST, "broadcast", (s.Bind("m"),), body=asked),
            Handler(take.event, take.name, take.patterns, take.sender, guard, body),
        ]
        for event in (INIT,) * self.has("init") + (RECOVER,) * self.has("recovers"):
            handlers.append(Handler(event, body=(s.Assign("busy", s.TRUE),)))
        return Protocol(f"{interface}Layer", interface, LOWER, variables, tuple(handlers), below)

    @property
    def consensus(self) -> str:
        """The interface, if there is a consensus."""
        if self.has("consensus"):
            return "Consensus"
        return "UniformConsensus" if self.has("uniform_consensus") else ""

    @property
    def calls_yield(self) -> bool:
        """Whether calls stand at the top level only, as who is called may yield."""
        return self.has("yield") or self.has("yield_below")

    @property
    def reaches_layers(self) -> bool:
        """Whether a block would store in several layers together, which can't be where the power
        fails."""
        return self.has("power") and self.has("layer")

    def branched(self, body: s.Block) -> s.Block:
        """``body``, which knows ``m`` and ``got``, with a choice or a loop in it."""
        draw, position = self.random, self.random.randrange(len(body))
        before, one, behind = body[:position], body[position], body[position + 1 :]
        if self.calls_yield and not isinstance(one, s.Assign):
            one = s.Assign("busy", s.no(s.var("busy")))
            before = body[: position + 1]
        y, got = s.name("y"), s.var("got")
        told = s.Assign("busy", s.TRUE) if self.calls_yield else s.Tell("deliver", (s.ME, y))
        options: list[s.Block] = [
            (s.Either(((None, (one,)), (None, (s.Skip(),)))),),
            (s.Either(((s.outside(M, got), (one,)), (s.within(M, got), (one, s.Skip())))),),
            (s.Flip((one,)),),
            (one, s.While("y", got, (s.Assign("got", y, "-="), told))),
            (s.For("z", s.ALL, (s.If(s.equal(s.name("z"), s.ME), (one,)),)),),
            (
                one,
                s.If(
                    s.at_least(s.size(got), s.number(1)),
                    (s.Choose("y", got, self.chance(30)), told),
                ),
            ),
        ]
        return (*before, *draw.choice(options), *behind)

    def halved(self, body: s.Block) -> s.Block:
        """``body`` with a ``yield`` in it: before all, between two statements, or behind all."""
        position = self.random.randrange(len(body) + 1)
        return (*body[:position], s.Yield(), *body[position:])

    def awaiting(self, handler: Handler) -> Handler:
        """``handler`` with an ``await`` or two in it; none where a layer's statements follow."""
        called = handler.event == INDICATION and not handler.name.startswith(("fd.", "leader."))
        body = handler.body
        for _ in range(0 if called else self.random.choice((0, 1, 1, 2))):
            some = s.at_least(s.size(HEARD), s.number(1))
            condition = self.random.choice((None, None, None, FLAG, s.no(FLAG), some))
            position = self.random.randrange(len(body) + 1)
            body = (*body[:position], s.Await(condition), *body[position:])
        return replace(handler, body=body)

    # -- handlers -------------------------------------------------------------------------------

    def receptions(self) -> list[Handler]:
        """Of messages, and of what the layer below says."""
        found = []
        direct, layered = self.chance(60), self.has("layer")
        if layered:
            family = self.has("family")
            index = (self.random.choice((s.Bind("k"), s.number(0))),) if family else ()
            shape = s.Shape("ONE", (s.Bind("m"),))
            patterns = (*index, s.Bind("p"), shape)
            found.append(self.guarded(INDICATION, "low.deliver", patterns, indexed=family))
        if direct or not layered:
            found.append(self.guarded(RECEIVE, "ONE", (s.Bind("m"),), s.Bind("p")))
        if self.chance(50):
            found.append(self.guarded(RECEIVE, "TWO", (), s.Bind("p"), payload=False))
        return found + [self.reception(c, layered) for c in self.carried]

    def reception(self, carried: Carried, layered: bool) -> Handler:
        """Of a message that carries more than a payload."""
        event, name = RECEIVE, carried.kind
        sender: s.Bind | None = s.Bind("p")
        patterns: tuple[s.Pattern, ...] = (s.Bind("c"),)
        family = layered and self.has("family")
        if layered and self.chance(50):
            shape = s.Shape(carried.kind, (s.Bind("c"),))
            index = (s.Bind("k"),) if family else ()
            event, name, sender = INDICATION, "low.deliver", None
            patterns = (*index, s.Bind("p"), shape)
        found = self.guarded(
            event, name, patterns, sender, payload=False, indexed=family and event == INDICATION
        )
        taken = self.random.choice(carried.taken)
        position = self.random.choice((0, len(found.body)))
        body = (*found.body[:position], taken, *found.body[position:])
        return replace(found, body=body)

    def guarded(
        self, event: str, name: str, patterns: tuple[s.Pattern, ...],
        sender: s.Bind | None = None, *, payload: bool = True, indexed: bool = False,
    ) -> Handler:  # fmt: skip
        body = self.body(payload=payload, sender=True)
        guard = self.guard(payload) if self.chance(50) else None
        return Handler(event, name, patterns, sender, guard, body, indexed=indexed)

    def guard(self, payload: bool) -> s.Expr:
        found = [s.no(FLAG), FLAG, s.outside(P, HEARD), s.no(s.equal(P, s.ME))]
        if payload:
            found += [s.outside(M, LOG)] * 3
        return self.random.choice(found)

    def happenings(self) -> list[Handler]:
        """Everything that is not the reception of something."""
        draw, found = self.random, list[Handler]()
        if self.has("condition"):
            some = s.at_least(s.size(LOG), s.number(1))
            guard = draw.choice((FLAG, s.no(FLAG), some, s.TRUE, s.TRUE))
            may = self.has("may")
            found.append(self.condition(guard, may=may))
            if may and self.chance(50):
                found.append(self.condition(s.no(FLAG)))
        if self.has("counted"):
            heard = draw.choice((s.received("ONE", None), s.received("TWO")))
            found.append(self.condition(s.at_least(s.size(heard), s.number(draw.choice((1, 2))))))
        if self.has("quorum"):
            found.append(self.quorum())
        if self.has("timeout"):
            body = self.body(payload=False)
            found.append(Handler(TIMEOUT, guard=draw.choice((None, s.no(FLAG))), body=body))
        if self.has("named_timer"):
            found.append(Handler(TIMEOUT, "t", body=self.body(payload=False)))
        if self.has("keyed_timer"):
            found.append(Handler(TIMEOUT, "u", (s.Bind("z"),), body=self.body(payload=False)))
        if self.has("now"):
            late = s.at_least(s.NOW, s.number(draw.choice((1, 1, 2))))
            found.append(self.condition(late if self.chance(60) else s.no(late)))
        if self.has("init"):
            found.append(Handler(INIT, body=self.body(payload=False, calm=True)))
        if self.has("recovers"):
            found.append(Handler(RECOVER, body=self.body(payload=False, calm=True)))
        if self.has("disconnected"):
            found.append(self.guarded(DISCONNECTED, "", (), s.Bind("p"), payload=False))
        if {"P", "eventually P", "S", "eventually S"} & self.features:
            found.append(self.told("fd.suspect"))
            if not self.has("P") and self.chance(50):
                found.append(self.told("fd.restore"))
        if self.consensus:
            found.append(self.decision())
        if self.has("Omega"):
            found.append(self.told("leader.trust"))
        return found

    def decision(self) -> Handler:
        """Of the consensus."""
        v, body = s.name("v"), self.body(payload=False)
        keep = s.Assign("decision", s.some(v))
        first = s.If(s.equal(v, s.number(1)), body) if self.chance(50) else s.If(s.TRUE, body)
        inside = (keep, first) if self.chance(50) else (first, keep)
        family = self.has("family")
        index = (self.random.choice((s.Bind("k"), s.number(0))),) if family else ()
        patterns = (*index, s.Bind("v"))
        return Handler(INDICATION, "cons.decide", patterns, body=inside, indexed=family)

    def proposal(self) -> s.Statement:
        """Something is proposed, once."""
        flag = f"once{self.flags}"
        self.flags += 1
        value = s.number(self.random.choice((0, 1)))
        if self.chance(50):
            value = s.remainder(s.RANK, 2)
        index = s.number(self.random.choice((0, 1))) if self.has("family") else None
        asks = s.Ask("cons", "propose", (value,), index)
        return s.If(s.no(s.var(flag)), (s.Assign(flag, s.TRUE), asks))

    def quorum(self) -> Handler:
        """When enough have sent the same: what it is, is bound by the condition."""
        many = s.number(self.random.choice((1, 1, 2)))
        countable = [c for c in self.carried if c.kind != "PILE"]  # of bags there are too many
        if countable and self.chance(50):
            carried, flag = self.random.choice(countable), f"once{self.flags}"
            self.flags += 1
            enough = s.at_least(s.size(s.received(carried.kind, s.name("c"))), many)
            body = (s.Assign(flag, s.TRUE), self.random.choice(carried.quiet))
            guard = s.both(enough, s.no(s.var(flag)))
            return Handler(CONDITION, guard=guard, body=body, binds=(("c", carried.sort),))
        enough = s.at_least(s.size(s.received("ONE", M)), many)
        body = self.body()
        return Handler(
            CONDITION, guard=s.both(enough, s.outside(M, LOG)),
            body=(s.Assign("log", M, "+="), *body), binds=(("m", MSG),),
        )  # fmt: skip

    def told(self, event: str) -> Handler:
        body = self.body(payload=False, sender=True)
        return Handler(INDICATION, event, (s.Bind("p"),), body=body)

    def condition(self, guard: s.Expr, *, may: bool = False) -> Handler:
        """A condition: one that happens once, or one that may repeat forever."""
        if self.chance(25):
            toggle = s.Assign("flag", s.no(FLAG))
            idle = s.If(s.within(s.ME, HEARD), (s.Assign("heard", s.ME, "-="),))
            body = self.random.choice(((toggle,), (idle,), (s.Skip(),)))
            return Handler(CONDITION, guard=guard, body=self.dressed(body), may=may)
        first = self.flags
        once = s.Assign(f"once{first}", s.TRUE)
        self.flags += 1
        guard = s.both(guard, s.no(s.var(f"once{first}")))
        body = self.body(payload=False)
        position = self.random.randrange(len(body) + 1) if not self.has("told_at_once") else 0
        if self.has("yield"):
            position = 0
        body = (*body[:position], once, *body[position:])
        if s.Yield() not in body and self.chance(50):
            body = self.put_off(body)
        return Handler(CONDITION, guard=guard, body=body, may=may)

    def put_off(self, body: s.Block) -> s.Block:
        """``body``, or nothing at all, as whoever decides likes."""
        if self.has("either"):
            names = ("", "keeps") if self.has("taken") else ()
            return (s.Either(((None, body), (None, (s.Skip(),))), names),)
        if self.has("flip"):
            return (s.Flip(body),)
        if self.has("choose"):
            chosen = s.equal(s.name("some"), s.ME)
            return (s.Choose("some", s.ALL, self.chance(30)), s.If(chosen, body))
        return body

    # -- statements -----------------------------------------------------------------------------

    def body(
        self, *, payload: bool = True, sender: bool = False, request: bool = False,
        calm: bool = False,
    ) -> s.Block:  # fmt: skip
        """A few statements; what is sent is sent once, so that there is an end to it."""
        who = P if sender else s.ME
        pool: list[Callable[[], s.Statement]] = [
            lambda: s.Assign("flag", s.TRUE), lambda: s.Assign("heard", who, "+="),
            lambda: s.Assign("heard", s.ME, "+="),
        ]  # fmt: skip
        if payload:
            pool += [lambda: s.Assign("log", M, "+="), lambda: s.Tell("deliver", (who, M))] * 2
        pool += self.extras()
        for carried in self.carried:
            changes = carried.changes(who) + (carried.with_payload(who) if payload else [])
            pool += [lambda c=changes: self.random.choice(c)] * 3  # type: ignore[misc]
        parts = [self.random.choice(pool)() for _ in range(self.random.choice((1, 2, 2)))]
        position = self.random.randrange(len(parts) + 1)
        if request and not self.calls_yield:
            parts.insert(position, self.saying(payload, who))
        block = self.dressed(tuple(parts))
        if request and self.calls_yield:  # who is called may yield, too: at the top level only
            block = (*block[:position], self.saying(payload, who), *block[position:])
        if not request and not calm and self.chance(45):
            block = self.saying_once(block, payload, who)
        if self.has("yield") and len(block) > 1 and not calm and self.chance(70):
            position = self.random.randrange(1, len(block))
            block = (*block[:position], s.Yield(), *block[position:])
        return block

    def saying(self, payload: bool, who: s.Expr, *, layered: bool = True) -> s.Statement:
        """Something is sent, or (if that is ``layered``) handed to the layer below."""
        content = s.message("ONE", M) if payload and self.chance(75) else s.message("TWO")
        if self.carried and self.chance(60):
            content = self.random.choice(self.carried).message
        if self.has("layer") and layered and self.chance(65):
            index = s.number(self.random.choice((0, 1))) if self.has("family") else None
            return s.Ask("low", "broadcast", (content,), index)
        to = (s.ALL, s.ALL, s.minus(s.ALL, s.only(s.ME)), s.only(who))
        if self.has("roles"):
            to += tuple(s.members(role) for role in ROLES)
        return s.Send(content, self.random.choice(to))

    def saying_once(self, block: s.Block, payload: bool, who: s.Expr) -> s.Block:
        """``block`` with something said in it, the first time."""
        flag = f"once{self.flags}"
        self.flags += 1
        once = s.Assign(flag, s.TRUE)
        said = self.saying(payload, who, layered=not self.calls_yield)
        late = not self.has("told_at_once") and not self.has("oracle") and self.chance(40)
        inner: s.Block = (said, once) if late else (once, said)
        if self.has("atomic") and not self.reaches_layers and self.chance(50):
            inner = (s.Atomic(inner),)
        position = self.random.randrange(len(block) + 1)
        return (*block[:position], s.If(s.no(s.var(flag)), inner), *block[position:])

    def extras(self) -> list[Callable[[], s.Statement]]:
        """Statements that some feature is made of."""
        found: list[Callable[[], s.Statement]] = []
        if self.has("ghosts"):
            found += [lambda: s.Ghost(self.random.choice(GHOST_CODE))] * 4
        if self.has("shared"):
            found += [
                lambda: s.Assign("common", s.TRUE),
                lambda: s.If(s.var("common"), (s.Assign("heard", s.ME, "+="),)),
            ]
        if self.has("chosen"):
            found += [
                lambda: s.Assign("wish", s.FALSE),
                lambda: s.If(s.var("wish"), (s.Assign("flag", s.TRUE),)),
            ]
        if self.has("perform") or self.has("idempotent"):
            found += [self.act] * 3
        if self.has("sync"):
            found += [lambda: s.Sync(), lambda: s.Sync((), (s.Assign("flag", s.TRUE),))]
        if self.consensus:
            found.append(self.proposal)
        if self.has("named_timer"):
            units = (1, 1, 2) if {"synchronous", "partial", "clocks"} & self.features else (1,)
            found += [lambda: s.Timer("t", True, self.random.choice(units))] * 2
            found += [lambda: s.Timer("t", False)]
        if self.has("keyed_timer"):
            found += [
                lambda: s.Timer("u", key=s.ME),
                lambda: s.For("w", s.ALL, (s.Timer("u", key=s.name("w")),)),
                lambda: s.Timer("u", False, key=s.ME),
            ]
        if self.has("now"):
            late = s.at_least(s.NOW, s.number(1))
            found += [lambda: s.If(late, (s.Assign("flag", s.TRUE),))] * 2
            found += [lambda: s.If(s.no(late), (s.Assign("flag", s.FALSE),))]
        return found * 2

    def act(self) -> s.Statement:
        return s.Perform(s.number(self.random.choice((1, 2))), self.has("idempotent"))

    def dressed(self, block: s.Block) -> s.Block:
        """``block`` with some of its statements inside of loops, choices and the like."""
        for feature in ("atomic", "for", "while", "choose", "chance", "either", "flip", "require"):
            if feature == "atomic" and self.reaches_layers:
                continue
            if self.has(feature) and self.chance(45):
                block = self.wrapped(feature, block)
        return block

    def wrapped(self, feature: str, block: s.Block) -> s.Block:
        draw, x = self.random, s.name(f"x{self.acts}")
        self.acts += 1
        position = draw.randrange(len(block))
        before, one, behind = block[:position], block[position], block[position + 1 :]
        told = s.Assign("heard", x, "+=")
        match feature:
            case "atomic":
                if any(isinstance(each, s.Sync) for each in inside((one, *behind))):
                    return block  # which is refused there
                return (*before, s.Atomic((one, *behind)))
            case "for":
                domain = draw.choice((s.ALL, HEARD))
                each = draw.choice(((one, told), (told, one), (told,)))
                first = (s.Assign("heard", s.EMPTY),) if self.chance(30) else ()
                return (*before, s.For(x.text, domain, (*first, *each)), *behind)
            case "while":
                gone = s.Assign("heard", x, "-=")
                inner = draw.choice(((gone,), (one, gone), (gone, one)))
                inner = tuple(i for i in inner if i is gone or _adds_nobody(i))
                return (*before, one, s.While(x.text, HEARD, inner), *behind)
            case "choose":
                domain = draw.choice((s.ALL, HEARD))
                if domain is HEARD:
                    some = s.If(
                        s.at_least(s.size(HEARD), s.number(1)), (s.Choose(x.text, HEARD), told)
                    )
                    return (*before, one, some, *behind)
                return (*before, s.If(s.TRUE, (s.Choose(x.text, s.ALL), told, one)), *behind)
            case "chance":
                return (*before, s.If(s.TRUE, self.drawn(x, one, told)), *behind)
            case "either":
                guard = draw.choice((None, FLAG, s.no(FLAG)))
                other = draw.choice(((s.Skip(),), (s.Assign("heard", s.ME, "+="),)))
                names = ("keeps", "") if self.has("taken") else ()
                return (*before, s.Either(((guard, (one,)), (None, other)), names), *behind)
            case "flip":
                return (*before, s.Flip((one,)), *behind)
            case _:
                if self.chance(30):
                    return (*before, s.Require(draw.choice((FLAG, s.no(FLAG)))), one, *behind)
                choice = s.Either(((None, (one,)), (None, (s.Require(FLAG), s.Skip()))))
                return (*before, choice, *behind)

    def drawn(self, x: s.Expr, one: s.Statement, told: s.Statement) -> s.Block:
        """``one`` where chance says so, or for a member that chance chooses."""
        if self.chance(40):
            return (s.Choose(x.text, s.ALL, self.chance(30), drawn=True), told, one)
        weights = self.random.choice((("1/3", "2/3"), ("1", "2"), ("0", "1/2"), ("3/4", "0")))
        sides = tuple(zip((s.TRUE, s.FALSE), weights, strict=True))
        return (s.Weigh(x.text, sides), s.If(x, (one,), (s.Assign("heard", s.ME, "+="),)))


def _adds_nobody(statement: s.Statement) -> bool:
    """Whether a loop that takes members out comes to its end with this in it."""
    return "heard +=" not in statement.text


_BOTH = frozenset((False, True))


WORDS = {
    "atomic": "atomic {", "yield": "yield", "await": "await", "for": " for x",
    "while": "while some",
    "choose": "choose x", "chance": "by chance", "either": "either", "flip": "flip()",
    "require": "require",
    "perform": "perform", "idempotent": "idempotent", "stable": "stable ",
    "sync": "sync", "synced": "stable synced",
    "named_timer": "start t", "keyed_timer": "start u[", "shared": "common :=", "ghosts": "past :=",
}  # fmt: skip
"""What is to be seen of a feature in the text of a handler."""


def spec_of(features: frozenset[str], seed: int) -> Spec:
    """A spec with ``features``, the same one for the same ``seed``."""
    spec = Draw(features, seed).spec()
    for again in range(1, 30):
        text = spec.text()
        if all(WORDS[f] in text for f in features & WORDS.keys()):
            break
        spec = Draw(features, seed + again * 1_000_003).spec()
    return spec
