"""Bodies of handlers as paths: guards, assignments and effects, in order."""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct

from checker.diagnostics import Span
from checker.language.syntax import typed
from checker.parametric.automaton.arithmetic import FALSE
from checker.parametric.automaton.automaton import Condition, Linear
from checker.parametric.automaton.fragment import Leaves
from checker.parametric.extract.binders import binding, bindings, match_pattern, orders
from checker.parametric.extract.numbers import both, inverse, receipts_in
from checker.parametric.extract.operations import equal_values
from checker.parametric.extract.rounds import EARLIER, ENTERS, KIND, LAST
from checker.parametric.extract.values import (
    EVERYTHING,
    ME,
    PEER,
    Cases,
    Made,
    Scale,
    Scene,
    Who,
    condition,
    evaluate,
    is_condition,
    members,
    outside_range,
)
from checker.polling import poll
from checker.records import replace


class Sending(Struct, frozen=True):
    """A sending of ``made`` to all others, and to the process itself where ``to_self``."""

    made: Made
    to_self: bool


class Telling(Struct, frozen=True):
    """A request from the layer above or an indication to it; ``entry``: as a history keeps it."""

    kind: str
    op: str
    entry: object


class Entering(Struct, frozen=True):
    """The process enters the next round: what it sends from here on are messages of that."""


Effect = Sending | Telling | Entering


class Path(Struct, frozen=True):
    """One path through a handler: it is taken where ``guard`` holds; ``values``: of all variables
    after it; ``effects``: in order; ``at``: the values of all variables where each effect stands;
    ``chosen``: a nondeterministic choice was made on the way."""

    guard: Condition
    values: dict[str, object]
    names: dict[str, object]
    effects: tuple[Effect, ...] = ()
    chosen: bool = False
    at: tuple[dict[str, object], ...] = ()

    def where(self, holds: object) -> Path:
        return replace(self, guard=both(self.guard, condition(holds)))

    @property
    def enters(self) -> bool:
        """Whether the process has entered the next round on the way."""
        return any(isinstance(effect, Entering) for effect in self.effects)

    def does(self, effect: Effect) -> Path:
        return replace(self, effects=(*self.effects, effect), at=(*self.at, self.values))


class Walker(Struct, frozen=True):
    """Executes blocks at the process ``self``; ``types``: of its variables; ``messages``,
    ``indications``: of their arguments; ``keeps``: the operators whose history is needed."""

    scale: Scale
    self: Who
    types: dict[str, typed.Type]
    messages: dict[str, tuple[typed.Type, ...]]
    indications: dict[str, tuple[typed.Type, ...]]
    keeps: frozenset[str]

    def scene(self, path: Path) -> Scene:
        return Scene(self.scale, self.self, path.values, path.names)

    def paths(self, block: typed.Block, start: Path) -> list[Path]:
        """Returns all paths through ``block``."""
        open_ = [start]
        for stmt in block:
            poll()
            open_ = [found for path in open_ for found in self._in_one_round(stmt, path)]
        return [path for path in open_ if path.guard != FALSE]

    def _in_one_round(self, stmt: typed.Stmt, path: Path) -> list[Path]:
        """Returns the paths through ``stmt``; behind the end of a round they ask for nothing that
        was received."""
        found = self._after(stmt, path)
        if path.enters:
            for after in found:
                if after.guard not in (path.guard, FALSE) and receipts_in(after.guard):
                    message = "a handler reads messages of the next round after it has entered it"
                    hint = "count them in another handler"
                    raise Leaves("E161", message, stmt.span, hint)
        return found

    def _inner(self, block: typed.Block, start: Path, extra: Scene | None = None) -> list[Path]:
        """Does the same, with names that end with the block; what is known of the round stays."""
        names = start.names
        if extra is not None:
            start = replace(start, names=dict(extra.names))
        ends = self.paths(block, start)
        return [
            replace(path, names={**names, **({KIND: path.names[KIND]} if path.enters else {})})
            for path in ends
        ]

    def _after(self, stmt: typed.Stmt, path: Path) -> list[Path]:
        if path.guard == FALSE:
            return []
        scene = self.scene(path)
        match stmt:
            case typed.Assign(typed.StateRef(_, name), typed.Operation(_, op), span) if (
                op == ENTERS
            ):
                return self._enter(name, span, path)
            case typed.Assign(target, value, span):
                return [self._assign(target, evaluate(value, scene), span, path)]
            case typed.Send():
                return [path.does(self._sending(stmt, scene))]
            case typed.Call():
                return [path.does(self._telling(stmt, scene))]
            case typed.If(asked, then, otherwise, _):
                holds = condition(evaluate(asked, scene))
                yes = self._inner(then, path.where(holds))
                return yes + self._inner(otherwise, path.where(inverse(holds)))
            case typed.For(pattern, over, where, body, _):
                return self._for(typed.Binder(pattern, over, where), body, path)
            case typed.Choose(pattern, over, where, _):
                return self._choice(typed.Binder(pattern, over, where), path)
            case typed.Either(alternatives):
                found: list[Path] = []
                for guard, body in alternatives:
                    open_ = True if guard is None else evaluate(guard, scene)
                    if open_ is not False:
                        found += self._inner(body, replace(path.where(open_), chosen=True))
                return found
            case typed.Require(asked, _):
                return [replace(path.where(evaluate(asked, scene)), chosen=True)]
            case typed.LetIn(pattern, value, _):
                bound = match_pattern(pattern, evaluate(value, scene), scene)
                assert bound is not None
                return [replace(path, names={**path.names, **bound[1]})]
            case typed.Atomic(body, _):
                return self._inner(body, path)
            case typed.Inlined(_, args, body):
                own = {name: evaluate(arg, scene) for name, arg in args}
                for name, type_ in stmt.declared:
                    self._in_range(name, type_, own[name], stmt.span)
                own.update((KIND, kind) for name, kind in path.names.items() if name == KIND)
                return self._inner(body, path, replace(scene, names=own))
            case typed.Sync():  # no power fails, so all that is stored is on disk
                return [path]
            case typed.Ghost():
                raise Leaves("T001", "a property reads a ghost", stmt.span)
            case typed.While() | typed.Var() | typed.Perform() | typed.Timer():
                raise Leaves("T006", "this statement is unsupported", stmt.span)
            case typed.Yield() | typed.Await():
                raise Leaves("T006", "this statement is unsupported", stmt.span)
            case _:
                assert_never(stmt)

    def _for(self, binder: typed.Binder, body: typed.Block, path: Path) -> list[Path]:
        found: list[Path] = []
        sizes = set[int]()
        for order in orders(binder, self.scene(path)):
            open_ = [path]
            for value in order:
                open_ = [after for one in open_ for after in self._round(binder, value, body, one)]
            found += [one for one in open_ if one not in found]
            sizes.add(len(open_))
        if sizes == {len(found)}:  # all orders have the same paths
            return found
        return [replace(one, chosen=True) for one in found]

    def _round(
        self, binder: typed.Binder, value: object, body: typed.Block, path: Path
    ) -> list[Path]:
        """Returns the paths through an iteration of a loop, and past it where ``value`` is not
        included."""
        counts = binding(binder, value, self.scene(path))
        if counts is None:
            return [path]
        where, inner = counts
        ways = [*self._inner(body, path.where(where), inner), path.where(inverse(where))]
        return [one for one in ways if one.guard != FALSE]

    def _choice(self, binder: typed.Binder, path: Path) -> list[Path]:
        return [
            replace(path.where(holds), names=dict(inner.names), chosen=True)
            for holds, inner in bindings(binder, self.scene(path))
        ]

    def _assign(self, target: typed.Expr, value: object, span: Span, path: Path) -> Path:
        match target:
            case typed.StateRef(_, name, str(), _, _):
                kept = self._storable(name, value, span)
                return replace(path, values={**path.values, name: kept})
            case typed.Part(_, base, position, _):
                whole = evaluate(base, self.scene(path))
                assert isinstance(whole, tuple)
                new = (*whole[:position], value, *whole[position + 1 :])
                return self._assign(base, new, span, path)
            case _:
                message = "entries of maps and sequences are unsupported"
                raise Leaves("T005", message, target.span, "use a variable for each entry")

    def _enter(self, name: str, span: Span, path: Path) -> list[Path]:
        """Returns the paths on which the process enters a round: an earlier one, or the last."""
        if path.names[KIND] == LAST:
            message = f"`{name}` may leave its range: it is increased in the last round"
            raise Leaves("T016", message, span, f"guard the assignment: `if {name} < … {{ … }}`")
        if path.enters:
            message = "a handler enters two rounds at once"
            raise Leaves("E161", message, span, "write a handler for each step of a round")
        return [
            replace(path, names={**path.names, KIND: kind}, chosen=True).does(Entering())
            for kind in (EARLIER, LAST)
        ]

    def _storable(self, name: str, value: object, span: Span) -> object:
        """Returns ``value`` as it is stored in ``name``."""
        if isinstance(value, Linear | Cases) or is_condition(value):
            message = f"`{name}` would store a value that depends on the number of processes"
            raise Leaves("T005", message, span, "compare it in a guard instead")
        nameless(value, span)
        scene = Scene(self.scale, self.self)
        if value not in members(self.types[name], scene, span):
            message = f"`{name}` may leave its range: {value}"
            raise Leaves("T016", message, span, "use a larger range, or guard the assignment")
        return value

    def _in_range(self, what: str, type_: typed.Type, value: object, span: Span) -> None:
        """Rejects (T016) what is handed to ``what``, or said by it, and may be outside of the
        ``type_`` that is declared."""
        outside = outside_range(type_, value, Scene(self.scale, self.self))
        if outside is not None:
            message = f"a number that `{what}` is given may leave its range: {outside}"
            raise Leaves("T016", message, span, "use a larger range, or test it first")

    def _sending(self, stmt: typed.Send, scene: Scene) -> Sending:
        made = evaluate(stmt.message, scene)
        assert isinstance(made, Made)
        for field in made.fields:
            if isinstance(field, Linear | Cases) or is_condition(field):
                message = "the message depends on the number of processes"
                raise Leaves("T005", message, stmt.message.span, "use a value from a fixed range")
            nameless(field, stmt.message.span)
        for field, type_ in zip(made.fields, self.messages[made.message], strict=True):
            self._in_range(made.message, type_, field, stmt.message.span)
        return Sending(made, self._to_self(stmt.receivers, scene))

    def _to_self(self, receivers: typed.Expr, scene: Scene) -> bool:
        match receivers:
            case typed.Processes():
                return True
            case typed.Operation(_, "minus", (typed.Processes(), typed.Display(_, (one,), _)), _):
                if evaluate(one, scene) == scene.self:
                    return False
            case typed.Operation(_, "-", (typed.Processes(), one), _):
                if evaluate(one, scene) == scene.self:
                    return False
            case typed.Comprehension(_, typed.Local(_, name, _), (binder,), _):
                if _all_others(name, binder):
                    return False
            case _:
                pass
        message = "a message to only some processes"
        raise Leaves("T010", message, receivers.span, "use `to all` or `to Proc minus {self}`")

    def _telling(self, stmt: typed.Call, scene: Scene) -> Telling:
        if stmt.layer is not None:
            raise Leaves("T001", "a request to a layer", stmt.span, "use `send M to all`")
        args = tuple(evaluate(arg, scene) for arg in stmt.args)
        if stmt.op in self.keeps:
            for arg, expr in zip(args, stmt.args, strict=True):
                if isinstance(arg, Linear | Cases) or is_condition(arg):
                    message = "the indication depends on the number of processes"
                    raise Leaves("T005", message, expr.span, "use a value from a fixed range")
                nameless(arg, expr.span)
        for arg, type_ in zip(args, self.indications[stmt.op], strict=True):
            self._in_range(stmt.op, type_, arg, stmt.span)
        return Telling("indication", stmt.op, args[0] if len(args) == 1 else args)


def _all_others(name: str, binder: typed.Binder) -> bool:
    """Returns whether ``{ name for binder }`` is ``{ q for q in Proc when q != self }``."""
    match binder:
        case typed.Binder(
            typed.Bind(_, bound),
            typed.Processes(),
            typed.Operation(_, "!=", (typed.Local(_, asked, _), typed.Self()), _),
        ):
            return bound == asked == name
        case _:
            return False


def nameless(value: object, span: Span) -> None:
    """Rejects (T009) storing a process that has no name."""
    if value in (ME, PEER) or value is EVERYTHING:
        message = "an unnamed process can't be stored: all of them are alike"
        raise Leaves("T009", message, span, "use a parameter of type `Proc` to name a process")
    if isinstance(value, tuple | frozenset):
        for part in value:
            nameless(part, span)


def handler_guard(
    handler: typed.Handler, condition_: typed.Expr | None, scene: Scene
) -> tuple[Condition, bool]:
    """Returns when ``handler`` is taken by ``scene.self``, and whether that is possible at all."""
    holds: list[Condition] = []
    if handler.at is not None:
        at = equal_values(scene.self, evaluate(handler.at, scene), handler.at.span)
        holds.append(condition(at))
    for part in (handler.when, condition_):
        if FALSE in holds:
            break
        if part is not None:
            holds.append(condition(evaluate(part, scene)))
    found = both(*holds)
    return found, found != FALSE


def begin_path(scene: Scene, guard: Condition) -> Path:
    """Returns a path that begins where ``scene`` is."""
    return Path(guard, dict(scene.values), dict(scene.names))
