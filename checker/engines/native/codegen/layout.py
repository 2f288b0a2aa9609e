"""The layout of a state: the places of its variables in its words.

A state is ``Layout.words`` words of 64 bits (little-endian where they are bytes).  A ``Node``
places a value:

* ``Leaf``: inside one word, ``width(type)`` bits from ``shift`` upwards (at most 64 bits).
* ``Wide``: ``words`` whole words, the least significant first.
* ``Row``: a map whose entries share words: entry ``i`` is in word ``word + (i >> log)``, from bit
  ``(i & (1 << log) - 1) * width`` upwards.
* ``Table``: a map whose entries have ``stride`` words each, laid out like ``element``.
* ``Record``: a tuple whose items are laid out one by one.

Words of nodes inside a ``Table`` count from the start of the entry.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, assert_never

from msgspec import Struct

from checker.engines.native.codegen.packing import decode, encode, universe_size, width
from checker.model import types as t
from checker.model.ir import TransitionSystem
from checker.model.types import Type, Value
from checker.results.answer import State, Unsupported

WORD = 64
MASK = (1 << WORD) - 1
MAX_WORDS = 512


class Leaf(Struct, frozen=True):
    type: Type
    word: int
    shift: int


class Wide(Struct, frozen=True):
    type: Type
    word: int
    words: int


class Row(Struct, frozen=True):
    type: t.MapT
    word: int
    log: int
    width: int


class Table(Struct, frozen=True):
    type: t.MapT
    word: int
    stride: int
    element: Node


class Record(Struct, frozen=True):
    type: t.TupleT
    parts: tuple[Node, ...]


Node = Leaf | Wide | Row | Table | Record


class Layout(Struct, frozen=True):
    """``nodes`` and ``types`` are parallel to the system's variables; ``bits`` are those in use."""

    words: int
    bits: int
    names: tuple[str, ...]
    types: tuple[Type, ...]
    nodes: tuple[Node, ...]

    def node(self, name: str) -> Node:
        """The place of the variable called ``name``."""
        return self.nodes[self.names.index(name)]

    def bits_of(self, name: str) -> dict[int, int]:
        """By word, the bits in which the variable called ``name`` is, and possibly more."""
        found: dict[int, int] = {}
        _cover(self.node(name), found)
        return found

    def mask(self, names: Collection[str]) -> tuple[int, ...]:
        """By word, the bits that the variables called ``names`` are in, and no others."""
        words = [0] * self.words
        for name, node in zip(self.names, self.nodes, strict=True):
            if name in names:
                _cover_exactly(node, 0, words)
        return tuple(words)

    def pack(self, state: State) -> list[int]:
        """The words of ``state``; raises ``ValueError`` where a value is out of its range."""
        words = [0] * self.words
        for node, value in zip(self.nodes, state, strict=True):
            _put(node, 0, value, words)
        return words

    def part(self, index: int, value: Value) -> list[int]:
        """The words of a state that holds nothing but ``value`` of variable ``index``."""
        words = [0] * self.words
        _put(self.nodes[index], 0, value, words)
        return words

    def unpack(self, words: Sequence[int]) -> State:
        """The state that ``words`` encode."""
        return tuple(_get(node, 0, words) for node in self.nodes)


class _Space:
    """Words under construction: the number of bits taken of each, from the low end."""

    def __init__(self) -> None:
        self.used: list[int] = []

    def allocate_words(self, words: int, last: int = WORD) -> int:
        """The first of ``words`` new words, of the last of which ``last`` bits are taken."""
        self.used += [WORD] * (words - 1) + [last]
        return len(self.used) - words

    def fit(self, bits: int) -> tuple[int, int]:
        """Word and shift of a field of ``bits`` bits, in the fullest word that has room."""
        room = [i for i, used in enumerate(self.used) if used + bits <= WORD]
        word = max(room, key=lambda i: self.used[i]) if room else self.allocate_words(1, 0)
        shift = self.used[word]
        self.used[word] += bits
        return word, shift


def lay_out(system: TransitionSystem, spare: int = 0) -> Layout:
    """The layout of the states of ``system``: large values first, small ones into the gaps.

    ``spare``: the number of bits of a state of one word that have to be free, or it has two.
    """
    space = _Space()
    order = sorted(
        range(len(system.variables)), key=lambda i: -bits_in_state(system.variables[i].type)
    )
    nodes: dict[int, Node] = {}
    for i in order:
        nodes[i] = _node(system.variables[i].type, space)
    words, bits = max(1, len(space.used)), sum(space.used)
    if words == 1 and bits + spare >= WORD:
        words = 2  # a key of the visited set needs one bit of its own
    if words > MAX_WORDS:
        raise Unsupported(f"a state of {words} words is too large (at most {MAX_WORDS})")
    return Layout(
        words,
        bits,
        tuple(v.name for v in system.variables),
        tuple(v.type for v in system.variables),
        tuple(nodes[i] for i in range(len(system.variables))),
    )


def bits_in_state(type_: Type) -> int:
    """Bits of ``type_`` in a state, where maps and tuples may be wider than one value can be.

    Raises :class:`TooWide` where a part of them is too wide.
    """
    match type_:
        case t.MapT(key, value):
            return universe_size(key) * bits_in_state(value)
        case t.TupleT(items):
            return sum(bits_in_state(item) for item in items)
        case _:
            return width(type_)


def _node(type_: Type, space: _Space) -> Node:
    if bits_in_state(type_) <= WORD:
        return Leaf(type_, *space.fit(width(type_)))
    match type_:
        case t.MapT(key, value) if bits_in_state(value) <= WORD:
            bits = width(value)
            log = (WORD // bits).bit_length() - 1
            count = universe_size(key)
            words = -(-count // (1 << log))
            spare = [bits << log] * (words - 1) + [(count - ((words - 1) << log)) * bits]
            word = space.allocate_words(words)
            space.used[word:] = spare
            return Row(type_, word, log, bits)
        case t.MapT(key, value):
            inner = _Space()
            element = _node(value, inner)
            stride = len(inner.used)
            return Table(type_, space.allocate_words(universe_size(key) * stride), stride, element)
        case t.TupleT(items):
            return Record(type_, tuple(_node(item, space) for item in items))
        case _:
            words = -(-width(type_) // WORD)
            last = width(type_) - (words - 1) * WORD
            return Wide(type_, space.allocate_words(words, last), words)


def _cover(node: Node, found: dict[int, int]) -> None:
    match node:
        case Leaf(type_, word, shift):
            found[word] = found.get(word, 0) | (1 << width(type_)) - 1 << shift
        case Wide(_, word, count):
            found.update(dict.fromkeys(range(word, word + count), MASK))
        case Row(type_, word, log):
            count = -(-universe_size(type_.key) // (1 << log))
            found.update(dict.fromkeys(range(word, word + count), MASK))
        case Table(type_, word, stride):
            count = universe_size(type_.key) * stride
            found.update(dict.fromkeys(range(word, word + count), MASK))
        case Record(_, parts):
            for part in parts:
                _cover(part, found)
        case _:
            assert_never(node)


def _cover_exactly(node: Node, base: int, words: list[int]) -> None:
    """Sets the bits of ``words`` that hold values of ``node``."""
    match node:
        case Leaf(type_, word, shift):
            words[base + word] |= (1 << width(type_)) - 1 << shift
        case Wide(type_, word, _):
            whole = (1 << width(type_)) - 1
            for i in range(-(-width(type_) // WORD)):
                words[base + word + i] |= whole >> WORD * i & MASK
        case Row(type_, word, log, bits):
            for i in range(universe_size(type_.key)):
                shift = (i & (1 << log) - 1) * bits
                words[base + word + (i >> log)] |= (1 << bits) - 1 << shift
        case Table(type_, word, stride, element):
            for i in range(universe_size(type_.key)):
                _cover_exactly(element, base + word + i * stride, words)
        case Record(_, parts):
            for part in parts:
                _cover_exactly(part, base, words)
        case _:
            assert_never(node)


def _put(node: Node, base: int, value: Any, words: list[int]) -> None:
    match node:
        case Leaf(type_, word, shift):
            words[base + word] |= encode(type_, value) << shift
        case Wide(type_, word, count):
            code = encode(type_, value)
            for i in range(count):
                words[base + word + i] |= code >> WORD * i & MASK
        case Row(type_, word, log, bits):
            for i, item in enumerate(value):
                shift = (i & (1 << log) - 1) * bits
                words[base + word + (i >> log)] |= encode(type_.value, item) << shift
        case Table(_, word, stride, element):
            for i, item in enumerate(value):
                _put(element, base + word + i * stride, item, words)
        case Record(_, parts):
            for part, item in zip(parts, value, strict=True):
                _put(part, base, item, words)
        case _:
            assert_never(node)


def _get(node: Node, base: int, words: Sequence[int]) -> Value:
    match node:
        case Leaf(type_, word, shift):
            return decode(type_, words[base + word] >> shift & (1 << width(type_)) - 1)
        case Wide(type_, word, count):
            whole = sum(words[base + word + i] << WORD * i for i in range(count))
            return decode(type_, whole & (1 << width(type_)) - 1)
        case Row(type_, word, log, bits):
            ranks = range(universe_size(type_.key))
            shifted = (
                words[base + word + (i >> log)] >> (i & (1 << log) - 1) * bits for i in ranks
            )
            return tuple(decode(type_.value, code & (1 << bits) - 1) for code in shifted)
        case Table(type_, word, stride, element):
            count = universe_size(type_.key)
            return tuple(_get(element, base + word + i * stride, words) for i in range(count))
        case Record(_, parts):
            return tuple(_get(part, base, words) for part in parts)
        case _:
            assert_never(node)
