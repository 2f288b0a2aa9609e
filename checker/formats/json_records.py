"""Records as JSON objects, and back: nothing added but what their forms say, nothing guessed.

Objects are read, and described by schemas, as Structs with the same keys (:func:`object_type`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from enum import Enum
from functools import cache
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from msgspec import UNSET, Meta, Struct, UnsetType, convert, defstruct, structs, to_builtins

from checker.formats.forms import FORMS, PAIR, PLAIN, Form
from checker.records import fields, is_record
from checker.results.domains import OneOf, Sha256

R = TypeVar("R")


def form_of(kind: type) -> Form:
    """Returns the form of the JSON objects of records of a class."""
    return FORMS.get(kind, PLAIN)


@cache
def members(kind: type) -> dict[str, Any]:
    """Returns the fields of records of class ``kind`` with their types, in the order of the keys of
    its JSON object."""
    hints = get_type_hints(kind, include_extras=True)
    names = (*form_of(kind).first, *(field.name for field in fields(kind)))
    return {name: hints[name] for name in names}


def to_data(value: object) -> Any:
    """Returns ``value``, made of records, tuples and plain values, as JSON data."""
    if is_record(value):
        return _object(value)
    return [to_data(item) for item in value] if isinstance(value, tuple) else to_builtins(value)


def _object(record: Any) -> dict[str, Any]:
    kind: Any = type(record)
    form = form_of(kind)
    field, tag = _tag(kind)
    document: dict[str, Any] = dict(form.constants) if field is None else {field: tag}
    for name in members(kind):
        value = getattr(record, name)
        if name == form.inlined:
            document |= _object(value)
        elif name not in form.optional or getattr(record, form.optional[name]):
            document[form.keys.get(name, name)] = _value(value, name, form)
    document |= {name: getattr(record, name) for name in form.derived}
    document |= {name: text(record) for name, text in form.texts.items()}
    return {**document, "digest": digest(document)} if form.sealed else document


def _tag(kind: Any) -> tuple[str | None, Any]:
    """Returns the key, and its value, that distinguish a class in a union of Structs; ``(None,
    None)`` for a class that is in no union."""
    config = getattr(kind, "__struct_config__", None)
    return (None, None) if config is None else (config.tag_field, config.tag)


def _value(value: Any, name: str, form: Form) -> Any:
    if name in form.digits:
        return round(value, form.digits[name])
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        keys = form.items.get(name, PAIR)
        return [dict(zip(keys, map(to_data, item), strict=True)) for item in value]
    return to_data(value)


def digest(document: dict[str, Any]) -> str:
    """Returns the SHA-256 of a JSON object, independent of the order of its keys and its layout."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@overload
def read(kind: type[R], data: object) -> R: ...
@overload
def read(kind: Any, data: object) -> Any: ...
def read(kind: Any, data: object) -> Any:
    """Returns the value of type ``kind`` that :func:`to_data` wrote; keys that no field has are
    ignored.

    Raises :class:`msgspec.ValidationError`, a ``ValueError``, where ``data`` is no such value.
    """
    return _without_objects(convert(data, _type_in(kind, False)))


def _without_objects(found: Any) -> Any:
    """Returns a value with records in place of the Structs that have the keys of their objects."""
    if isinstance(found, tuple):
        return tuple(map(_without_objects, found))
    if not isinstance(found, Struct):
        return found
    record = getattr(type(found), "record", None)
    return _filled(record, found) if record else _without_objects(structs.astuple(found))


def _filled(kind: Any, found: Struct) -> Any:
    form, values = form_of(kind), {}
    for name, hint in members(kind).items():
        if name == form.inlined:
            values[name] = _filled(hint, found)
        elif (value := getattr(found, form.keys.get(name, name))) is not UNSET:
            values[name] = _without_objects(value)
    return kind(**values)


@cache
def object_type(kind: Any, whole: bool) -> type[Struct]:
    """Returns a Struct with the keys of the JSON objects of records of class ``kind``.

    ``whole``: it has the keys that are written but not read, too, and forbids all others.
    """
    field, tag = _tag(kind)
    return defstruct(
        _lower(kind.__name__),
        _keys(kind, whole),
        namespace={"record": kind, "__doc__": kind.__doc__},
        kw_only=True,
        forbid_unknown_fields=whole,
        tag_field=field,
        tag=tag,
    )


def _lower(name: str) -> str:
    return name[0].lower() + name[1:]


def _keys(kind: Any, whole: bool) -> list[tuple[Any, ...]]:
    """Returns keys with the types of their values, and a default where they may be missing."""
    form = form_of(kind)
    found: list[tuple[Any, ...]] = []
    if whole:
        found += [(key, one_of((value,))) for key, value in form.constants.items()]
    for name, hint in members(kind).items():
        if name == form.inlined:
            found += _keys(hint, whole)
            continue
        item = f"{_lower(kind.__name__)}{name.title().replace('_', '')}"
        of = _type_in(hint, whole, item, form.items.get(name, PAIR))
        optional = (Union[of, UnsetType], UNSET) if name in form.optional else (of,)  # noqa: UP007
        found.append((form.keys.get(name, name), *optional))
    if whole:
        for name in form.derived:
            hints = get_type_hints(getattr(kind, name).fget, include_extras=True)
            found.append((name, _type_in(hints["return"], whole)))
        found += [(name, str) for name in form.texts]
    return [*found, ("digest", Sha256)] if whole and form.sealed else found


def _type_in(hint: Any, whole: bool, item: str = "", keys: tuple[str, ...] = PAIR) -> Any:
    """Returns the type of the JSON values that stand for values of type ``hint``.

    Tuples in a tuple are objects with ``keys``, whose type is called ``item``.
    """
    origin, args = get_origin(hint), get_args(hint)
    if is_record(hint):
        constants = form_of(hint).constants
        return _reference(constants) if whole and constants else object_type(hint, whole)
    if whole and isinstance(hint, type) and issubclass(hint, Enum):
        return one_of(hint)
    if origin is Annotated:
        if isinstance(args[1], OneOf):
            return one_of(args[1].values)
        return Annotated[(_type_in(args[0], whole, item, keys), *args[1:])]
    inner = tuple(_type_in(arg, whole, item, keys) for arg in args)
    if origin in (UnionType, Union):
        return Any if any(get_origin(arg) is dict for arg in args) else Union[inner]  # noqa: UP007
    if origin is tuple and ... not in args:
        pairs = [*zip(keys, inner, strict=True)]
        return defstruct(item, pairs, forbid_unknown_fields=whole)
    return origin[inner] if origin is not None else hint


def one_of(values: Iterable[Any]) -> Any:
    """Returns the type of some words or numbers; members of an enumeration are their values."""
    return Literal[tuple(getattr(value, "value", value) for value in values)]


def _reference(constants: Any) -> Any:
    """Returns the type of objects that have a schema of their own."""
    return Annotated[dict[str, Any], Meta(extra_json_schema={"$ref": identifier(constants)})]


def identifier(constants: Any) -> str:
    """Returns the name of the schema of documents with some ``format`` and ``kind``."""
    return f"{constants['kind'].replace(' ', ':', 1).replace(' ', '-')}:{constants['format']}"
