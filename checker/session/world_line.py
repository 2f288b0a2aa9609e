"""Describes in one line the world in which a check asks: processes, faults, links, clients."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from checker.diagnostics.english import count, listing, times
from checker.instantiate.protocol.sizes import evaluate_size
from checker.instantiate.sizes import Sizes
from checker.language.syntax import typed
from checker.language.syntax.constant_text import constant_text
from checker.language.syntax.verbs import verbs

REQUESTS = 8
"""So many requests are told one by one; of more, the first ones and the number of the rest."""


def world_line(check: typed.Check, sizes: Sizes | None) -> str:
    """Returns the world of ``check``: ``3 processes, at most 1 process crashes, perfect links, p1
    broadcasts a``; ``sizes``: ``None`` for a check of all sizes."""
    parts = (
        *_processes(check, sizes),
        *(list(_faults(check, sizes)) or ["no faults"]),
        *_links(check),
        *_time(check, sizes),
        *_layers(check),
        *_clients(check),
        *_bounds(check, sizes),
    )
    return ", ".join(parts)


def _processes(check: typed.Check, sizes: Sizes | None) -> Iterator[str]:
    if sizes is None:
        yield "n processes"
    elif any(role.name for role in sizes.roles):
        leads = {role.name: role.lead for role in check.protocol.roles}
        for role in sizes.roles:
            lead = leads[role.name]
            dies = f"{'dies' if role.size == 1 else 'each dies'} with its {lead}"
            yield count(role.size, role.name) + (f" ({dies})" if lead else "")
    else:
        yield count(len(sizes.processes), "process")


def _bound(expr: typed.Expr, sizes: Sizes | None) -> str:
    return constant_text(expr) if sizes is None else str(int(evaluate_size(expr, sizes.values)))


def _faults(check: typed.Check, sizes: Sizes | None) -> Iterator[str]:
    """Yields each kind of faults that there may be."""
    kinds = (
        ("crash", check.crash, ("process crashes", "crash")),
        ("omission", check.omission, ("process omits messages", "omit messages")),
        ("byzantine", check.byzantine, ("is Byzantine", "are Byzantine")),
    )
    for kind, expr, verb in kinds:
        bound = "0" if expr is None else _bound(expr, sizes)
        if bound == "0":
            continue
        whose = [
            f"at most {_bound(clause.bound, sizes)} of {clause.role}"
            for clause in check.role_faults
            if clause.kind == kind and clause.bound is not None
        ]
        of_roles = f" ({'; '.join(whose)})" if whose else ""
        if expr is check.crash and (check.power or check.wipe):
            yield _stops(check, sizes)
        elif expr is check.crash and check.recover:
            back = f" of {listing(check.recovering)}" if check.recovering else ""
            many = "crash" if bound == "1" else "crashes"
            yield f"at most {bound} {many}{of_roles} with recovery{back}"
        else:
            yield f"at most {bound} {verb[bound != '1']}{of_roles}"
        if expr is check.crash and check.crash_points == "between_handlers":
            yield "crashes between handlers only"
    failing = "0" if check.sync is None else _bound(check.sync, sizes)
    if failing != "0":
        yield f"at most {failing} failed sync{'s' * (failing != '1')}"
    if check.pausing:
        yield _pauses(check, sizes)
    if check.splits:
        often = "" if check.partitions is None else _bound(check.partitions, sizes)
        if often != "0":
            yield f"at most {often} partition{'s' * (often != '1')}" if often else "partitions"
    for cut in check.cuts:
        often = "" if cut.bound is None else _bound(cut.bound, sizes)
        way = "" if cut.way is None else f" from {cut.way[0]} to {cut.way[1]}"
        if often != "0":
            yield (f"at most {often} cut{'s' * (often != '1')}" if often else "cuts") + way
    if check.resets is not None and (often := _bound(check.resets, sizes)) != "0":
        yield f"at most {often} reset{'s' * (often != '1')}"


def _stops(check: typed.Check, sizes: Sizes | None) -> str:
    """Returns ``at most 1 crash, 2 power failures (at most 1 of server) with recovery``."""
    kinds = (
        ("crash", check.kill, ("crash", "crashes")),
        ("power", check.power, ("power failure", "power failures")),
        ("wipe", check.wipe, ("lost disk", "lost disks")),
    )
    told = []
    for kind, expr, words in kinds:
        bound = "0" if expr is None else _bound(expr, sizes)
        whose = [
            f"at most {_bound(clause.bound, sizes)} of {clause.role}"
            for clause in check.role_faults
            if clause.kind == kind and clause.bound is not None
        ]
        if bound != "0":
            of_roles = f" ({'; '.join(whose)})" if whose else ""
            told.append(f"{bound} {words[bound != '1']}{of_roles}")
    back = f" of {listing(check.recovering)}" if check.recovering else ""
    return f"at most {listing(told, 'and')} with recovery{back}"


def _pauses(check: typed.Check, sizes: Sizes | None) -> str:
    """Returns ``at most 2 pauses (at most 1 of client)``."""
    often = "" if check.pauses is None else f"at most {_bound(check.pauses, sizes)} "
    whose = [
        f"of {clause.role}"
        if clause.bound is None
        else f"at most {_bound(clause.bound, sizes)} of {clause.role}"
        for clause in check.role_faults
        if clause.kind == "pause"
    ]
    of_roles = f" ({'; '.join(whose)})" if whose else ""
    return f"{often}pause{'s' * (often != 'at most 1 ')}{of_roles}"


def _links(check: typed.Check) -> Iterator[str]:
    """Yields the kinds of links, where anything is sent."""
    if check.protocol.messages or check.protocol.layers:
        yield f"{_kinds(check)} links"
    for rule in check.link_rules:
        yield f"{_kinds(rule)} from {rule.sender} to {rule.receiver}"


def _kinds(linked: typed.Check | typed.LinkRule) -> str:
    kinds = linked.links if isinstance(linked, typed.Check) else linked.kinds
    return listing(
        f"{kind.name} {linked.capacity}" if kind.has_capacity else kind.name for kind in kinds
    )


def _time(check: typed.Check, sizes: Sizes | None) -> Iterator[str]:
    timing, detector = check.timing, check.detector
    if timing is not None:
        named = {"partial": "partially synchronous", "clocks": "clocks"}
        drift = "" if timing.drift is None else f" with drift {_bound(timing.drift, sizes)}"
        until = "" if timing.until is None else f" until {_bound(timing.until, sizes)}"
        yield f"{named.get(timing.kind, timing.kind)}{drift}{until}{_noise(timing.noise, sizes)}"
    if detector is not None:
        kind = f"eventually {detector.kind}" if detector.eventually else detector.kind
        yield f"detector {kind}{_of_mistakes(detector, sizes)}"


def _noise(noise: typed.Expr | None, sizes: Sizes | None) -> str:
    return "" if noise is None else f" with noise {_bound(noise, sizes)}"


def _of_mistakes(detector: typed.Detector, sizes: Sizes | None) -> str:
    """Returns the noise of a detector, with that of single roles."""
    if not detector.of_roles:
        return _noise(detector.noise, sizes)
    bounds = [] if detector.alone or detector.noise is None else [_bound(detector.noise, sizes)]
    roles = (f"{_bound(noise.bound, sizes)} of {noise.role}" for noise in detector.of_roles)
    return f" with noise {', '.join(map(str, (*bounds, *roles)))}"


def _layers(check: typed.Check) -> Iterator[str]:
    for given in check.given:
        yield f"{given.layer} as {'oracle' if given.protocol is None else given.protocol.name}"


def _clients(check: typed.Check) -> Iterator[str]:
    """Yields the requests, those of the same client one after the other in one phrase."""
    told = check.clients if len(check.clients) <= REQUESTS else check.clients[: REQUESTS - 1]
    for (process, op), requests in groupby(told, lambda client: (client.process, client.op)):
        verb = op if process == "all" else verbs(op)[op.endswith(("s", "sh", "ch", "x"))]
        asked = [_requested(client) for client in requests]
        if not any(asked):
            yield f"{process} {verb}{times(len(asked))}"
        else:
            yield f"{process} {verb} {' and '.join(asked)}"
    if len(told) < len(check.clients):
        yield f"and {count(len(check.clients) - len(told), 'more request')}"
    interface = check.protocol.implements
    if interface is not None and interface.requests and not check.clients:
        yield "no clients"


def _requested(client: typed.Client) -> str:
    """Returns the arguments of a request, or from what they are chosen when a run starts."""
    if not client.is_choice:
        return _arguments(client.args)
    if client.domain is not None:
        return f"any of {constant_text(client.domain)}"
    return f"any of {{{', '.join(_arguments(args) for args in client.alternatives)}}}"


def _arguments(args: tuple[typed.Expr, ...]) -> str:
    said = ", ".join(constant_text(arg) for arg in args)
    return f"({said})" if len(args) > 1 else said


def _bounds(check: typed.Check, sizes: Sizes | None) -> Iterator[str]:
    """Yields what limits the executions and the states that are explored."""
    for budget in check.budgets:
        each = " per process" if budget.per_process else ""
        yield f"at most {_bound(budget.bound, sizes)} {budget.handler}{each}"
    for clause in check.fair:
        yield f"{'strongly ' * clause.strongly}fair {clause.handler}"
    yield from (f"only states with {' '.join(bound.text.split())}" for bound in check.bounds)
    if check.view is not None:
        yield f"states distinguished by {check.view.text}"
