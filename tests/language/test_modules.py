"""Files and what they import; layers and the protocols behind them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from checker import resources
from checker.diagnostics import Diagnostic, SpecError
from checker.language.load import load, load_text
from checker.language.syntax import typed

OWN = """interface Channel { request put(m: Msg) indication arrive(m: Msg)
  property safe: always forall p in Proc, m in arrived(p): m in put(p) }
protocol Direct implements Channel { upon request put(m) { arrive(m) } }
"""
USER = """protocol User implements Channel { uses c : %s  message DATA(m: Msg)
  upon request put(m) { c.put(DATA(m)) }
  upon c.arrive(DATA(m)) { arrive(m) } }
"""


def diagnostics(text: str, path: str = "a.bcast") -> tuple[Diagnostic, ...]:
    try:
        load_text(text, path)
    except SpecError as error:
        return error.diagnostics
    return ()


def codes(text: str) -> list[str]:
    return [d.code for d in diagnostics(text)]


@pytest.fixture(name="folder")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("specs")


def test_the_interfaces_load() -> None:
    """The rest of the library is read for its manifest."""
    files = sorted(resources.interfaces().glob("*.bcast"))
    assert files
    for file in files:
        module = load(file)
        assert module.file == str(file)


def test_a_layer_named_by_its_interface_or_its_protocol() -> None:
    for name in ("Channel", "Direct"):
        user = load_text(OWN + USER % name, "a").protocols[-1]
        assert [layer.protocol and layer.protocol.name for layer in user.layers] == ["Direct"]


def test_shipped_protocols_are_found_and_marked() -> None:
    text = "protocol P implements ReliableBroadcast { uses beb : BestEffortBroadcast message M }"
    (layer,) = load_text(text, "a").protocols[0].layers
    assert layer.protocol is not None and layer.interface is not None
    assert layer.protocol.name == "BasicBroadcast" and layer.protocol.shipped
    assert not load_text(text, "a").protocols[0].shipped


def test_own_protocols_come_before_shipped_ones() -> None:
    text = """protocol Mine implements BestEffortBroadcast {
  message DATA(m: Msg)
  upon request broadcast(m) { send DATA(m) to all }
  upon receive DATA(m) from p { deliver(p, m) }
}
protocol P implements ReliableBroadcast { uses beb : BestEffortBroadcast message M }
"""
    (layer,) = load_text(text, "a").protocols[1].layers
    assert layer.protocol.name == "Mine"


def test_layers_that_are_unclear() -> None:
    other = OWN.split("\n", 2)[2].replace("Direct", "Other")
    check = "check c of User { %s }"
    assert codes(OWN + other + USER % "Channel") == []
    assert codes(OWN + other + USER % "Channel" + check % "given c as Other") == []
    assert codes(OWN + other + USER % "Channel" + check % "given Channel as oracle") == []
    (found,) = diagnostics(OWN + other + USER % "Channel" + check % "")
    assert found.code == "N014" and "`Direct`" in found.message and "`Other`" in found.message
    none = OWN.split("protocol")[0] + USER % "Channel"
    assert codes(none) == [] and codes(none + check % "") == ["N014"]
    assert codes(none + check % "given c as oracle") == []
    assert codes(OWN + USER % "Chanel") == ["N013"]
    assert codes("protocol A { }\nprotocol B { uses x : A message M }") == ["N022"]


def test_circles_of_layers() -> None:
    assert codes(OWN + USER % "User") == ["N015"]
    two = USER % "Two" + (USER % "User").replace("protocol User", "protocol Two")
    assert set(codes(OWN + two)) == {"N015"}


def test_imports_are_relative_to_their_file(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "own.bcast").write_text(OWN)
    (folder / "sub" / "next.bcast").write_text('import "own.bcast"\n')
    (folder / "a.bcast").write_text('import "sub/next.bcast"\n' + USER % "Channel")
    module = load(folder / "a.bcast")
    assert [p.name for p in module.protocols] == ["User"]
    assert module.protocols[0].layers[0].protocol.name == "Direct"


def test_errors_of_an_imported_file_keep_its_name(folder: Path) -> None:
    (folder / "own.bcast").write_text("protocol A { state x : Nope }\n")
    (folder / "bad.bcast").write_text("protocol {\n")
    (folder / "a.bcast").write_text('import "own.bcast"\nprotocol B { state y : Nope }\n')
    with pytest.raises(SpecError) as caught:
        load(folder / "a.bcast")
    files = [Path(d.span.file).name for d in caught.value.diagnostics if d.span]
    assert files == ["a.bcast", "own.bcast"]
    (found,) = diagnostics('import "bad.bcast"', str(folder / "b.bcast"))
    assert found.span is not None and Path(found.span.file).name == "bad.bcast"


def test_circles_of_imports(folder: Path) -> None:
    (folder / "a.bcast").write_text('import "b.bcast"\n')
    (folder / "b.bcast").write_text('import "a.bcast"\n')
    with pytest.raises(SpecError) as caught:
        load(folder / "a.bcast")
    assert [d.code for d in caught.value.diagnostics] == ["N015"]
    assert codes('import "a.bcast"') == ["N015"]
    (folder / "c.bcast").write_text('import "c.bcast"\n')
    with pytest.raises(SpecError) as caught:
        load(folder / "c.bcast")
    assert [d.code for d in caught.value.diagnostics] == ["N015"]


def test_a_diamond_of_imports_is_fine(folder: Path) -> None:
    (folder / "own.bcast").write_text(OWN)
    for name in "bc":
        (folder / f"{name}.bcast").write_text('import "own.bcast"\n')
    (folder / "a.bcast").write_text(
        'import "b.bcast"\nimport "c.bcast"\nimport "own.bcast"\n' + USER % "Channel"
    )
    assert load(folder / "a.bcast").protocols


def test_files_that_cannot_be_read(folder: Path) -> None:
    (folder / "latin.bcast").write_bytes("protocol é".encode("latin-1"))
    (folder / "large.bcast").write_bytes(b" " * 4_000_001)
    bad = ("latin.bcast", "large.bcast", "none.bcast", "", "x" * 5000, "a\0b")
    for name in bad:
        with pytest.raises(SpecError) as caught:
            load(folder / name)
        assert [d.code for d in caught.value.diagnostics] == ["E001"], name
    for name in (n for n in bad if n and "\0" not in n):
        found = diagnostics(f'import "{name}"', str(folder / "a.bcast"))
        assert [d.code for d in found] == ["N016"], name
    assert codes('import "\0"') in (["N016"], ["S001"], ["S002"])
    assert codes('import "/dev/zero"') == ["N016"]


SECRET = "PASSWORD=hunter2"


def test_only_specs_are_read(folder: Path) -> None:
    """A spec may be a stranger's, and what it imports is shown where it is none."""
    (folder / "secret").write_text(SECRET)
    (folder / "link.bcast").symlink_to("secret")
    (folder / "environ.bcast").symlink_to("/proc/self/environ")
    (folder / "device.bcast").symlink_to("/dev/zero")
    (folder / "folder.bcast").mkdir()
    (folder / "loop.bcast").symlink_to("loop.bcast")
    os.mkfifo(folder / "pipe.bcast")
    told = {
        "secret": "the name of a spec ends in `.bcast`",
        "link.bcast": "the name of a spec ends in `.bcast`",
        "/proc/self/environ": "the name of a spec ends in `.bcast`",
        "environ.bcast": "the name of a spec ends in `.bcast`",
        "device.bcast": "it is a device or a pipe",
        "pipe.bcast": "it is a device or a pipe",
        "folder.bcast": "it is a folder",
        "loop.bcast": "too many levels of symbolic links",
    }
    for name, why in told.items():
        (found,) = diagnostics(f'import "{name}"', str(folder / "a.bcast"))
        assert (found.code, found.message.partition(": ")[2]) == ("N016", why)
        with pytest.raises(SpecError) as caught:
            load(folder / name)
        (found,) = caught.value.diagnostics
        assert (found.code, found.message.partition(": ")[2]) == ("E001", why)
    (folder / "own.bcast").write_text(OWN)
    (folder / "alias.bcast").symlink_to("own.bcast")
    assert load(folder / "alias.bcast").protocols


def test_what_is_declared_twice(folder: Path) -> None:
    assert codes("protocol A { }\nprotocol A { }") == ["N004"]
    assert codes("protocol A { }\ninterface A { }") == ["N004"]
    assert codes("protocol A { }\ncheck A of A { }") == []
    assert codes("protocol A { }\ncheck a of A { }\ncheck a of A { }") == ["N004"]
    (folder / "own.bcast").write_text(OWN)
    found = diagnostics('import "own.bcast"\nprotocol Direct { }', str(folder / "a.bcast"))
    assert [d.code for d in found] == ["N004"]


def test_interfaces_borrow_properties() -> None:
    text = """interface Mine { request broadcast(m: Msg) indication deliver(p: Proc, m: Msg)
  properties validity, fifo_order }
"""
    (made,) = load_text(text, "a").interfaces
    assert [p.name for p in made.properties] == ["validity", "fifo_order"]
    assert codes(text.replace("fifo_order", "fifo_ordr")) == ["C007"]
    assert codes(text.replace("deliver", "hand")) == ["C007", "C007"]
    assert codes(text.replace("fifo_order", "validity")) == ["N004"]


def test_an_interface_can_be_wrong() -> None:
    assert codes("interface I { request a(x: Nope) }") == ["N011"]
    assert codes("interface I { request a(x: Msg) indication a(x: Msg) }") == ["N004"]
    assert codes("interface I { property p: always x }") == ["N002"]
    assert codes("protocol P implements I { }") == ["N013"]
    text = "protocol P implements Nope { upon request go(x) { deliver(x) } }"
    assert codes(text) == ["N013"]


def test_a_tower_of_layers() -> None:
    floors = [OWN.replace("Direct", "L0")]
    for i in range(1, 40):
        floors.append((USER % f"L{i - 1}").replace("protocol User", f"protocol L{i}"))
    module = load_text("".join(floors), "a")
    top: typed.Protocol | None = module.protocols[-1]
    depth = 0
    while top is not None:
        top = top.layers[0].protocol if top.layers else None
        depth += 1
    assert depth == 40
