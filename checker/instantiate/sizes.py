"""The sizes of a check: its parameters, roles and processes."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class RoleSize(Struct, frozen=True):
    """A role's members are the processes ``first .. first + size - 1``."""

    name: str
    first: int
    size: int


class Sizes(Struct, frozen=True):
    """``values``: every parameter's value: a number, the index of a process, a truth value as 0 or
    1.  ``leads``: for each process the one with which it stops; empty where all stop on their own.
    """

    values: Mapping[str, int]
    roles: tuple[RoleSize, ...]
    processes: tuple[str, ...]
    leads: tuple[int, ...] = ()

    def stop_together(self, one: int, other: int) -> bool:
        """Tells whether two different processes stop together."""
        return bool(self.leads) and self.leads[one] == self.leads[other]

    def role(self, name: str | None) -> RoleSize:
        """Returns the role called ``name``; ``None`` or an unknown name: all processes."""
        for role in self.roles:
            if role.name == name:
                return role
        return RoleSize("", 0, len(self.processes))
