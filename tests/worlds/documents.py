"""Validates documents by the schemas of the tool."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from checker.formats.schemas import SCHEMAS


def validate(document: Any, kind: str) -> None:
    """Raises an error where ``document`` is none of its ``kind``."""
    every = {name: make() for name, make in SCHEMAS.items()}
    registry = Registry().with_resources(
        [(each["$id"], Resource.from_contents(each)) for each in every.values()]
    )
    Draft202012Validator(every[kind], registry=registry).validate(document)
