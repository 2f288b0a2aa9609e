"""Records as JSON objects: unions of tagged Structs, constraints, and errors with their places."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import pytest
from msgspec import Meta, Struct, ValidationError
from msgspec.json import schema_components

from checker.formats.json_records import object_type, read, to_data
from checker.results.domains import Natural, OneOf


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"


class Figure(Struct, frozen=True, tag_field="kind"):
    at: tuple[tuple[str, Natural], ...] = ()


class Circle(Figure, frozen=True, tag="circle"):
    radius: Natural = 0


class Square(Figure, frozen=True, tag="square"):
    colour: Annotated[str, OneOf(Colour)] = "red"


class Picture(Struct, frozen=True):
    figures: Annotated[tuple[Circle | Square, ...], Meta(min_length=1)]
    best: Square | Circle | None = None


PICTURE = Picture((Circle((("x", 1),), radius=2), Square()), Circle())
CIRCLE = {"kind": "circle", "at": [{"name": "x", "value": 1}], "radius": 2}
DATA = {
    "figures": [CIRCLE, {"kind": "square", "at": [], "colour": "red"}],
    "best": {"kind": "circle", "at": [], "radius": 0},
}


def test_a_union_of_tagged_structs_is_written_and_read() -> None:
    assert to_data(PICTURE) == DATA
    assert [*to_data(PICTURE)["figures"][0]] == ["kind", "at", "radius"]
    assert read(Picture, DATA) == PICTURE
    assert read(Circle | Square, CIRCLE) == PICTURE.figures[0]


def test_a_schema_has_each_class_of_a_union() -> None:
    _, parts = schema_components([object_type(Picture, True)], ref_template="{name}")
    assert {"picture", "circle", "square"} <= {*parts}
    assert parts["square"]["properties"]["kind"] == {"enum": ["square"]}
    assert parts["square"]["properties"]["colour"] == {"enum": ["green", "red"]}
    assert parts["circle"]["additionalProperties"] is False
    assert {*parts["circle"]["required"]} == {"kind", "at", "radius"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kind": "cube"}, r"Invalid value 'cube' - at `\$.figures\[0\].kind`"),
        ({"radius": -1}, r"Expected `int` >= 0 - at `\$.figures\[0\].radius`"),
        ({"radius": True}, r"Expected `int`, got `bool`"),
        ({"at": [{"name": "x"}]}, r"missing required field `value` - at `\$.figures\[0\].at\[0\]`"),
        ({"kind": "square", "colour": "blue"}, r"Invalid enum value 'blue'"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(changes: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        read(Picture, {**DATA, "figures": [{**CIRCLE, **changes}]})


def test_a_list_that_is_too_short_is_refused() -> None:
    with pytest.raises(ValidationError, match="length >= 1"):
        read(Picture, {"figures": [], "best": None})
