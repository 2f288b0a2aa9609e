"""Sentences about how far a check holds."""

from __future__ import annotations

from collections.abc import Iterator

from checker.diagnostics.english import count
from checker.results.frontier import Boundary, Frontier, FrontierCell, PropertyFrontier


def boundary_text(found: Boundary) -> str:
    """Returns a boundary in a sentence: ``n > 3 * f (enumerated up to n = 6)``."""
    said = shape_text(found)
    how = f"enumerated up to {found.up_to}" if found.up_to else ""
    if found.proved:
        how = f"proved to suffice for all sizes; that it is needed, {how}"
    more = f"; the grid does not tell it from {' or '.join(found.others)}" if found.others else ""
    where = f" with {found.world}" if found.world else ""
    return f"{said}{where}{f' ({how})' if how else ''}{more}"


def shape_text(found: Boundary) -> str:
    """Returns a boundary without how it was found: ``n > 3 * f``, ``holds at every point``."""
    match found.shape:
        case "everywhere":
            return "holds at every point"
        case "nowhere":
            return "holds at no point"
        case "formula":
            return found.formula
        case "points":
            up_to = "; ".join(found.points)
            return f"holds up to {up_to}" if up_to else "no point is known to hold"
        case "none":
            if found.fall is None:
                return "no formula `a * size > b * faults + c` fits"
            pair = f"it holds at {found.fall.holds}, and fails at {found.fall.fails}"
            return f"no formula fits: NOT MONOTONE in size: {pair}"


def cell_text(cell: FrontierCell) -> str:
    """Returns what is known of a point, in a word or two."""
    if cell.inferred:
        return "(violated)"
    steps = "" if cell.steps is None else f" in {cell.steps}"
    return f"{cell.known}{steps}"


def shown_at(cell: FrontierCell) -> str:
    """Returns the settings of a point: ``n=3 f=1``."""
    return " ".join(f"{name}={value}" for name, value in cell.settings.items())


def loud(found: PropertyFrontier) -> Iterator[str]:
    """Yields what contradicts that more faults are harder."""
    for fails, holds in found.contradictions:
        yield (
            f"NOT MONOTONE: {found.property} fails with {fails} and holds with {holds},"
            " which allows more faults; there is no boundary here"
        )


def figures(report: Frontier) -> str:
    """Returns how many points were run, and how many left out."""
    skipped = f", {count(report.skipped, 'point')} without a system" if report.skipped else ""
    return f"{count(report.runs, 'run')}{skipped}"


def alike(report: Frontier) -> list[list[PropertyFrontier]]:
    """Returns the properties in groups of which all that is known is the same, but for the runs."""
    groups: dict[object, list[PropertyFrontier]] = {}
    for each in report.properties:
        known = tuple((cell.known, cell.inferred) for cell in each.cells)
        groups.setdefault((known, each.boundaries, each.contradictions), []).append(each)
    return list(groups.values())


def worlds_of(
    report: Frontier, found: PropertyFrontier
) -> Iterator[tuple[str, str, dict[str, dict[str, FrontierCell]]]]:
    """Yields the small tables of a property: the other settings, the name of what goes across, and
    the cells by the values down (the first axis along which the boundary is searched) and across
    (the first other axis)."""
    names = [name for name, _ in report.axes]
    down = report.harder[0]
    across = next((n for n in ("n", *names) if n in names and n not in report.harder), "")
    rest = [name for name in names if name not in (down, across)]
    tables: dict[str, dict[str, dict[str, FrontierCell]]] = {}
    for cell in found.cells:
        world = " ".join(f"{name}={cell.settings[name]}" for name in rest)
        row = tables.setdefault(world, {}).setdefault(cell.settings[down], {})
        row[cell.settings.get(across, "")] = cell
    for world, table in tables.items():
        yield world, across, table
