"""Handlers, protocols, worlds and questions as plain data that print themselves."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from checker.records import replace
from tests.world.sorts import Sort
from tests.world.spec import Bind, Block, Expr, Pattern, Skip, block

REQUEST, RECEIVE, INDICATION = "request", "receive", "indication"
CONDITION, INIT, RECOVER, TIMEOUT = "condition", "init", "recover", "timeout"
DISCONNECTED = "disconnected"


@dataclass(frozen=True)
class Handler:
    """What stands behind ``upon``.

    ``name`` is the request, the kind of message, the timer, or ``layer.indication``; ``patterns``
    those of the arguments (before them the index, of a family of layers); ``sender`` that of
    ``from``, or of who is gone.  A condition has its formula in ``guard``; ``binds`` are names of
    it that stand for any value of their type that makes it true.  ``role``: whose it is, where not
    everybody's; ``called``: its name.
    """

    event: str
    name: str = ""
    patterns: tuple[Pattern, ...] = ()
    sender: Bind | Expr | None = None
    guard: Expr | None = None
    body: Block = ()
    binds: tuple[tuple[str, Sort], ...] = ()
    indexed: bool = False
    may: bool = False
    role: str = ""
    called: str = ""

    @property
    def text(self) -> str:
        when = "" if self.guard is None else f" when {self.guard.text}"
        inside = ", ".join(p.text for p in self.patterns[self.indexed :])
        match self.event:
            case "request":
                what = f"request {self.name}({inside})"
            case "receive":
                carried = f"({inside})" if self.patterns else ""
                sender = "" if self.sender is None else f" from {self.sender.text}"
                what = f"receive {self.name}{carried}{sender}"
            case "indication":
                layer, _, told = self.name.partition(".")
                at = f"[{self.patterns[0].text}]" if self.indexed else ""
                what = f"{layer}{at}.{told}({inside})"
            case "condition":
                assert self.guard is not None
                what, when = f"condition {self.guard.text}", f" as {self.name}" * bool(self.name)
            case "timeout" if self.patterns:
                what = f"timeout {self.name}[{inside}]"
            case "disconnected":
                assert self.sender is not None
                what = f"disconnected {self.sender.text}"
            case other:
                what = f"{other} {self.name}".strip()
        called = f" as {self.called}" if self.called else ""
        return f"  {'may ' if self.may else ''}upon {what}{when}{called} {block(self.body)}"


@dataclass(frozen=True)
class Variable:
    """``kind``: ``state``, ``stable state``, ``shared state``, ``ghost state``, ``ghost shared
    state``; ``chosen``: from where it starts."""

    name: str
    type: str
    initial: Expr
    kind: str = "state"
    chosen: Expr | None = None
    role: str = ""

    @property
    def text(self) -> str:
        told = f"  {self.kind} {self.name} : {self.type} = {self.initial.text}"
        if self.chosen is not None:
            told += f"\n  init choose {self.name} in {self.chosen.text}"
        return told


@dataclass(frozen=True)
class Uses:
    """A layer below; ``count`` of them where it is a family.  ``protocol``: ``None`` of a failure
    detector."""

    name: str
    protocol: Protocol | None
    interface: str
    count: int | None = None

    @property
    def text(self) -> str:
        family = "" if self.count is None else f"[0..{self.count - 1}]"
        return f"  uses {self.name}{family} : {self.interface}"


@dataclass(frozen=True)
class Protocol:
    """A module; ``messages``: kinds and the types of what they carry; ``roles``: their names and
    sizes, where there are any; ``together``: which role dies with which; ``definitions``: lines
    that tell what names stand for; ``variation``: it is written as a variant of another
    protocol."""

    name: str
    implements: str
    messages: tuple[tuple[str, tuple[Sort, ...]], ...]
    variables: tuple[Variable, ...]
    handlers: tuple[Handler, ...]
    uses: tuple[Uses, ...] = ()
    roles: tuple[tuple[str, int], ...] = ()
    definitions: tuple[str, ...] = ()
    variation: Variation | None = None
    together: tuple[tuple[str, str], ...] = ()

    def lines(self, questions: Sequence[Question]) -> list[str]:
        """The text of this protocol and of those below."""
        lines = []
        for used in dict.fromkeys(u.protocol for u in self.uses):
            if used is not None and used.handlers:
                lines += used.lines(())
        if self.variation is not None:
            original = self.variation.original(self)
            return [*original.lines(questions), *self.variation.lines(self)]
        lines += [f"protocol {self.name} implements {self.implements} {{"]
        lines += [u.text for u in self.uses]
        for kind, sorts in self.messages:
            fields = ", ".join(f"x{i}: {sort.text}" for i, sort in enumerate(sorts))
            lines.append(f"  message {kind}({fields})" if sorts else f"  message {kind}")
        shared = [v for v in self.variables if v.kind.endswith("shared state")]
        lines += [v.text for v in shared]
        for role, size in self.roles or (("", 0),):
            lead = dict(self.together).get(role)
            dies = f" dies with {lead}" if lead else ""
            lines += [f"  role {role}({size}){dies} {{"] if role else []
            lines += [f"  {line}" for line in self.definitions]
            own = [v for v in self.variables if v.role in ("", role) and v not in shared]
            lines += [v.text for v in own]
            lines += [h.text for h in self.handlers if h.role in ("", role)]
            lines += ["  }"] if role else []
        lines += [q.text for q in questions]
        return [*lines, "}"]


@dataclass(frozen=True)
class Variation:
    """How a protocol is written as a variant of ``Original``, which is another one in one place:
    ``handler`` has another body there, or is not there (``lacks``); ``variable`` has another
    initial value; or ``added``, a handler with a name, which the variant is without."""

    handler: Handler | None = None
    lacks: bool = False
    variable: Variable | None = None
    initial: Expr | None = None
    added: Handler | None = None

    def original(self, variant: Protocol) -> Protocol:
        """The protocol that ``variant`` is a variant of."""
        handlers, variables = list(variant.handlers), list(variant.variables)
        if self.handler is not None:
            at = handlers.index(self.handler)
            other = () if self.lacks else (replace(self.handler, body=(Skip(),)),)
            handlers[at : at + 1] = other
        if self.variable is not None and self.initial is not None:
            variables[variables.index(self.variable)] = replace(self.variable, initial=self.initial)
        handlers += [] if self.added is None else [self.added]
        return replace(
            variant, name="Original", variation=None,
            handlers=tuple(handlers), variables=tuple(variables),
        )  # fmt: skip

    def lines(self, variant: Protocol) -> list[str]:
        """The text of ``variant``, without its original."""
        inside = [item.text for item in (self.handler, self.variable) if item is not None]
        inside += [] if self.added is None else [f"  without {self.added.name}"]
        shared = self.variable is not None and self.variable.kind == "shared state"
        if variant.roles and not shared:
            inside = [line for role, _ in variant.roles for line in _in_role(role, inside)]
        return [f"variant {variant.name} of Original {{", *inside, "}"]


def _in_role(role: str, lines: list[str]) -> list[str]:
    return [f"  role {role} {{", *lines, "  }"]


@dataclass(frozen=True)
class Question:
    """A property: ``premise`` and ``conclusion`` for all ``processes`` and ``payloads``.

    ``kind``: ``always`` (premise => conclusion), ``leads`` (premise ~> conclusion), ``stays``
    (eventually always the conclusion), ``starts`` (initially premise => eventually always the
    conclusion), ``recurs`` (always eventually), ``comes`` (premise => eventually the conclusion).
    ``correct``: the processes of which it is asked only where they are correct.  ``among``: what
    ``processes`` range over, where that is not ``Proc``; ``way``: one of three in which
    ``always`` is written.
    """

    name: str
    kind: str
    conclusion: Expr
    premise: Expr | None = None
    processes: tuple[str, ...] = ("p",)
    payloads: tuple[str, ...] = ()
    correct: tuple[str, ...] = ()
    among: tuple[tuple[str, str], ...] = ()
    way: int = 0

    def domain(self, process: str) -> str:
        return dict(self.among).get(process, "Proc")

    @property
    def text(self) -> str:
        binders = [f"{p} in {self.domain(p)}" for p in self.processes]
        binders += [f"{', '.join(self.payloads)} in Msg"] if self.payloads else []
        forall = f"forall {', '.join(binders)}: " if binders else ""
        parts = [f"correct({p})" for p in self.correct]
        if self.premise is not None:
            first = self.kind == "starts"
            parts.append(f"(initially {self.premise.text})" if first else self.premise.text)
        premise, conclusion = " and ".join(parts), self.conclusion.text
        match self.kind:
            case "always" if self.way == 1:
                exists = forall.replace("forall", "exists", 1)
                told = " and ".join([*parts, f"not ({conclusion})"])
                return f"  property {self.name} : not eventually {exists}{told}"
            case "always" if self.way == 2:
                correct = "".join(f"correct({p}) => " for p in self.correct)
                begun = "" if self.premise is None else f"{self.premise.text} => "
                return f"  property {self.name} : {forall}{correct}always ({begun}{conclusion})"
            case "always":
                told = f"{premise} => {conclusion}" if premise else conclusion
                return f"  property {self.name} : always {forall}{told}"
            case "leads":
                return f"  property {self.name} : {forall}{premise or 'true'} ~> {conclusion}"
            case kind:
                modal = "always eventually" if kind == "recurs" else "eventually always"
                told = f"{modal} {conclusion}"
                return f"  property {self.name} : {forall}" + (
                    f"{premise} => {told}" if premise else told
                )


@dataclass(frozen=True)
class Request:
    """What a client asks for where it is anything else than to broadcast a payload."""

    name: str
    values: tuple[Hashable, ...]

    @property
    def text(self) -> str:
        return f"{self.name}({', '.join(map(str, self.values))})"


Wish = str | Request


@dataclass(frozen=True)
class World:
    """The clauses of a check. ``crash``: how often one is killed; ``partition``, ``pause`` -1: any
    number of times; ``cuts``: who sends, who receives (both empty: either) and how often, as of
    ``partition``; ``rules``: the links from one role to another, where they are not like the
    others; ``early``: timeouts that come too early, at most; ``clients``: what each asks for, or
    those of which one is drawn at first; ``payloads``: those inside of requests;
    ``limit``: what is so in all states from which anything follows; ``of_roles``: kinds of faults,
    each with a role and its bound; the other roles do not have those that are ``alone``;
    ``recovering``: the roles that come back, if not all;
    ``budget``: how often the condition called ``acts`` is taken at most, by all, or (``each``) by
    each process (reading: of the one called ``counted``); ``taken``: the same of alternatives of
    these names; ``fair``: optional conditions of these names that are fair all the same, and
    whether strongly."""

    n: int = 2
    crash: int = 0
    recover: bool = False
    byzantine: int = 0
    omission: int = 0
    partition: int = 0
    pause: int = 0
    power: int = 0
    wipe: int = 0
    sync: int = 0
    cuts: tuple[tuple[str, str, int], ...] = ()
    reset: int = 0
    links: tuple[str, ...] = ("perfect",)
    bound: int | None = None
    rules: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    timing: str = ""
    early: int | None = None
    drift: int | None = None
    until: int | None = None
    detector: str = ""
    noise: int | None = None
    oracles: tuple[str, ...] = ()
    between_handlers: bool = False
    clients: tuple[tuple[str, tuple[Wish | tuple[Wish, ...], ...]], ...] = (("p1", ("a",)),)
    payloads: tuple[str, ...] = ()
    limit: Question | None = None
    of_roles: tuple[tuple[str, str, int], ...] = ()
    alone: frozenset[str] = frozenset()
    recovering: tuple[str, ...] = ()
    budget: int | None = None
    each: bool = False
    counted: str = "acts"
    fair: tuple[tuple[str, bool], ...] = ()
    taken: tuple[tuple[str, int, bool], ...] = ()

    def lines(self, request: str) -> list[str]:
        bounds = [("crash", self.crash), ("power", self.power), ("wipe", self.wipe)]
        bounds += [("sync", self.sync), ("byzantine", self.byzantine), ("omission", self.omission)]
        faults = [f"{f} <= {bound}" for f, bound in bounds if bound and f not in self.alone]
        faults += [f"{fault} <= {bound} of {role}" for fault, role, bound in self.of_roles]
        if self.recover:
            faults += [f"recover of {role}" for role in self.recovering] or ["recover"]
        if self.partition:
            faults.append("partition" if self.partition < 0 else f"partition <= {self.partition}")
        if self.pause and "pause" not in self.alone:
            faults.append("pause" if self.pause < 0 else f"pause <= {self.pause}")
        for a, b, most in self.cuts:
            way = f" of {a} -> {b}" if a else ""
            faults.append("cut" + (f" <= {most}" if most >= 0 else "") + way)
        faults += [f"reset <= {self.reset}"] if self.reset else []
        links = list(self.links) + ([] if self.bound is None else [f"bounded {self.bound}"])
        lines = [f"  n = {self.n}"] if self.n else []
        lines += [f"  faults {', '.join(faults)}"] if faults else []
        lines += [] if links == ["perfect"] else [f"  links {', '.join(links)}"]
        lines += [f"  links {a} -> {b} {', '.join(kinds)}" for a, b, kinds in self.rules]
        early = "" if self.early is None else f" noise {self.early}"
        early += "" if self.drift is None else f" drift {self.drift}"
        early += "" if self.until is None else f" until {self.until}"
        lines += [f"  timing {self.timing}{early}"] if self.timing else []
        noise = "" if self.noise is None else f" noise {self.noise}"
        lines += [f"  detector {self.detector}{noise}"] if self.detector else []
        lines += [f"  given {oracle} as oracle" for oracle in self.oracles]
        lines += ["  crash points between_handlers"] if self.between_handlers else []
        if self.budget is not None:
            lines.append(f"  at most {self.budget} acts{' per process' * self.each}")
        for name, most, each in self.taken:
            lines.append(f"  at most {most} {name}{' per process' * each}")
        lines += [f"  {'strongly ' * strong}fair {name}" for name, strong in self.fair]
        if self.limit is not None:
            lines.append(f"  bound {self.limit.text.partition(': always ')[2]}")
        told = [f"{p} {request} {', '.join(map(_wish, values))}" for p, values in self.clients]
        return [*lines, f"  clients {{ {'  '.join(told)} }}"]


def _wish(value: Wish | tuple[Wish, ...]) -> str:
    if isinstance(value, tuple):
        return f"any of {{{', '.join(map(_wish, value))}}}"
    return value if isinstance(value, str) else value.text


@dataclass(frozen=True)
class Spec:
    """A protocol, its world and what is asked."""

    protocol: Protocol
    world: World
    questions: tuple[Question, ...]
    constants: tuple[str, ...] = ()

    def text(self) -> str:
        lines = [
            INTERFACE,
            *self.constants,
            *self.protocol.lines(self.questions),
            f"check c of {self.protocol.name} {{",
        ]
        lines += self.world.lines("broadcasts")
        lines += [f"  prove {', '.join(q.name for q in self.questions)}", "  allow unused", "}"]
        return "\n".join(lines) + "\n"


INTERFACE = """interface Lower { request broadcast(m: Msg) indication deliver(p: Proc, m: Msg) }
interface Lowest { request broadcast(m: Msg) indication deliver(p: Proc, m: Msg) }
interface Service { request broadcast(m: Msg) indication deliver(p: Proc, m: Msg) }"""
