"""The identity of what is explored, so that a run is resumed only where it is the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field, to_builtins

from checker.diagnostics.english import listing


class Identity(Struct, frozen=True):
    """Everything that determines a check's system, except for the capacities that the tool finds.

    ``version``: of the tool; ``sources``: a digest of each file that the check is made from, the
    spec itself, ``file``, among them; ``settings``: as given; ``reduce``: the admitted reductions;
    ``asked``: the names of the properties.
    """

    version: str
    file: str
    check: str
    sources: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    fine_steps: bool = False
    coverage: bool = False
    reduce: str = "none"
    asked: Sequence[str] = ()

    def changes(self, now: Identity) -> list[str]:
        """The differences from ``now``, in a few words each; the file may have moved."""
        found: list[str] = []
        if self.version != now.version:
            found.append(f"the version of the tool, from {self.version} to {now.version}")
        if self.check != now.check:
            found.append(f"the check, from {self.check} to {now.check}")
        for name in _different(self.sources, now.sources):
            found.append(f"the text of {name}")
        for name in _different(self.settings, now.settings):
            before, after = (one.settings.get(name) for one in (self, now))
            found.append(f"{name}, from {before or 'no setting'} to {after or 'no setting'}")
        for option in ("fine_steps", "coverage"):
            if getattr(self, option) != getattr(now, option):
                how = "given only now" if getattr(now, option) else "given before but not now"
                found.append(f"--{option.replace('_', '-')}, {how}")
        if self.reduce != now.reduce:
            found.append(f"--reduce, from {self.reduce} to {now.reduce}")
        if list(self.asked) != list(now.asked):
            before, after = (listing(one.asked) or "nothing" for one in (self, now))
            found.append(f"the properties checked, from {before} to {after}")
        return found

    def to_json(self) -> dict[str, Any]:
        """The identity as a JSON object."""
        document = to_builtins(self)
        return {**document, "sources": dict(self.sources), "settings": dict(self.settings)}

    @staticmethod
    def from_json(document: dict[str, Any]) -> Identity:
        """The identity from its JSON object; raises ``TypeError`` where it is none."""
        return Identity(**document)


def _different(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    return sorted(k for k in {*before, *after} if before.get(k) != after.get(k))
