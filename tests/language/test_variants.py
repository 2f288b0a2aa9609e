"""Variants: what takes whose place, what is inherited, and what is said of those that can't be."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.language.load import load, load_text
from checker.language.syntax import typed
from checker.language.syntax.walk import relocate
from checker.language.typecheck.variants import describe
from tests.language.test_common_mistakes import Mistake, diagnostics, places

ORIGINAL = """protocol P(k: Nat = 1) implements ReliableBroadcast requires n > 1 {
  message DATA(m: Msg)
  stable state seen : set<Msg> = {}
  state told : set<Msg> = {}
  upon request broadcast(m) { send DATA(m) to all }
  upon receive DATA(m) when m in seen { skip }
  upon receive DATA(m) from p when m not in seen { seen += m }
  upon condition seen minus told != {} as tells {
    choose m in seen minus told
    told += m
    deliver(self, m)
  }
  invariant known : always_known
}
""".replace("always_known", "forall p in Proc: p.told subset p.seen")


def variant(body: str, head: str = "variant V of P") -> typed.Protocol:
    """Returns the protocol that a variant of ``ORIGINAL`` stands for."""
    module = load_text(f"{ORIGINAL}{head} {{\n{body}\n}}", "a.bcast")
    return next(protocol for protocol in module.protocols if protocol.name == "V")


def said(protocol: typed.Protocol) -> str:
    assert protocol.variant is not None
    return describe(protocol.variant)


def labels(protocol: typed.Protocol) -> list[str]:
    return [handler.label for handler in protocol.roles[0].handlers]


HANDLERS = [
    "upon request broadcast(m)",
    "upon receive DATA(m)",
    "upon receive DATA(m) from p",
    "tells",
]


def test_a_state_takes_the_place_of_the_one_that_is_called_so() -> None:
    made = variant("state seen : set<Msg> = {}")
    assert [(s.name, s.stable) for s in made.roles[0].states] == [("seen", False), ("told", False)]
    assert labels(made) == HANDLERS
    assert said(made) == "variant of P: replaces state seen"


def test_all_that_is_not_mentioned_is_as_if_it_were_copied() -> None:
    copy = ORIGINAL.replace("stable state", "state").replace("protocol P", "protocol Copy")
    module = load_text(
        f"{ORIGINAL}{copy}variant V of P {{ state seen : set<Msg> = {{}} }}", "a.bcast"
    )
    _, by_hand, made = module.protocols
    for field in ("parameters", "requires", "roles", "shared", "messages", "layers", "invariants"):
        assert relocate(getattr(made, field)) == relocate(getattr(by_hand, field))
    assert made.implements == by_hand.implements


@pytest.mark.parametrize(
    ("body", "expected", "difference"),
    [
        ("without tells", HANDLERS[:3], "removes tells"),
        ("without upon request broadcast(x)", HANDLERS[1:], f"removes {HANDLERS[0]}"),
        (
            "without upon receive DATA(m) when m in seen",
            [HANDLERS[0], *HANDLERS[2:]],
            f"removes {HANDLERS[1]}",
        ),
        (
            "upon request broadcast(x) { send DATA(x) to self }",
            ["upon request broadcast(x)", *HANDLERS[1:]],
            f"replaces {HANDLERS[0]}",
        ),
        (
            "upon receive DATA(m) from p when m not in seen { skip }",
            HANDLERS,
            f"replaces {HANDLERS[2]}",
        ),
        (
            "without upon receive DATA(m) when m in seen\n upon receive DATA(x) { skip }",
            [HANDLERS[0], "upon receive DATA(x)", *HANDLERS[2:]],
            f"replaces {HANDLERS[1]}",
        ),
        ("upon condition seen != {} as tells { skip }", HANDLERS, "replaces tells"),
        (
            "upon condition seen minus told != {} { skip }",
            HANDLERS,
            "replaces tells",
        ),
        (
            "upon receive DATA(m) when m in told as hears { skip }",
            [*HANDLERS, "hears"],
            "adds hears",
        ),
        (
            "upon request broadcast(m) when k == 1 { skip }\n"
            "upon request broadcast(m) when k == 2 { skip }",
            [HANDLERS[0], *HANDLERS],
            f"replaces {HANDLERS[0]}",
        ),
    ],
)
def test_handlers(body: str, expected: list[str], difference: str) -> None:
    made = variant(body)
    assert labels(made) == expected
    assert said(made) == f"variant of P: {difference}"


def test_parameters_requires_and_lemmas() -> None:
    made = variant("without known without requires", "variant V(k: Nat = 2, j: bool) of P")
    assert [p.name for p in made.parameters] == ["k", "j"]
    default = made.parameters[0].default
    assert isinstance(default, typed.Literal) and default.value == 2
    assert (made.requires, made.invariants) == (None, ())
    assert said(made) == (
        "variant of P: replaces parameter k; removes property known, requires; adds parameter j"
    )
    other = variant("", "variant V of P requires n > 3")
    assert other.requires is not None
    assert said(other) == "variant of P: replaces requires"


def test_a_state_takes_its_initial_choice_with_it() -> None:
    text = """protocol P {
  state x : 0..3 = 0
  init choose x in (1..2)
  state y : 0..3 = 0
  upon condition y < 1 { y := 1 }
}
"""
    for body, choices in (("without x", 0), ("without init choose x", 0), ("state x : 0..9", 1)):
        made = load_text(f"{text}variant V of P {{ {body} }}", "a.bcast").protocols[1]
        assert len(made.roles[0].choices) == choices, body


ROLES = """protocol P {
  message GO
  role boss(1) { state up = true  upon condition up { send GO to all hand  up := false } }
  role hand(n) { state busy = false  upon receive GO { busy := true } }
}
"""


def test_roles_are_changed_inside() -> None:
    made = load_text(
        f"""{ROLES}variant V of P {{
  role hand {{ upon receive GO {{ skip }} }}
  role boss(2) {{ state up : bool = true  without upon condition up }}
  role spare(1) {{ state up = true }}
}}""",
        "a.bcast",
    ).protocols[1]
    assert [(r.name, len(r.handlers)) for r in made.roles] == [
        ("boss", 0),
        ("hand", 1),
        ("spare", 0),
    ]
    assert (
        made.roles[1].handlers[0].body == (typed.Block,) or len(made.roles[1].handlers[0].body) <= 1
    )
    assert said(made) == (
        "variant of P: replaces upon receive GO in role hand, role boss, state up in role boss;"
        " removes upon condition up in role boss; adds role spare"
    )


def test_a_variant_of_a_variant_of_another_file(tmp_path: Path) -> None:
    (tmp_path / "p.bcast").write_text(ORIGINAL, encoding="utf-8")
    spec = tmp_path / "v.bcast"
    spec.write_text(
        'import "p.bcast"\nvariant W of V { without tells }\n'
        "variant V of P { state seen : set<Msg> = {} }\n",
        encoding="utf-8",
    )
    one = load(spec).protocols[0]
    assert labels(one) == HANDLERS[:3]
    assert not one.roles[0].states[0].stable
    assert said(one) == ("variant of V: removes tells; `V` is a variant of P: replaces state seen")


def test_a_variant_stands_for_a_layer_only_by_name() -> None:
    text = f"""{ORIGINAL}
variant V of P {{ without tells }}
protocol Top {{ uses rb : ReliableBroadcast  state x = 0  upon rb.deliver(p, m) {{ skip }} }}
variant Over of Top {{ uses rb : V }}
"""
    found = {protocol.name: protocol for protocol in load_text(text, "a.bcast").protocols}
    below = [found[name].layers[0].protocol for name in ("Top", "Over")]
    assert [protocol and protocol.name for protocol in below] == ["P", "V"]


def test_a_variant_has_the_layers_of_its_original() -> None:
    text = """protocol Filter implements ReliableBroadcast {
  uses rb : ReliableBroadcast
  message DATA(m: Msg)
  upon request broadcast(m) { rb.broadcast(DATA(m)) }
  upon rb.deliver(p, DATA(m)) { deliver(p, m) }
}
variant Twice of Filter { upon rb.deliver(p, DATA(m)) { deliver(p, m)  deliver(p, m) } }
"""
    one, other = load_text(text, "a.bcast").protocols
    assert one.layers[0].protocol == other.layers[0].protocol


def test_a_variant_of_what_comes_with_the_tool() -> None:
    text = "variant Deaf of BasicBroadcast { without upon receive COPY(m) }"
    made = load_text(text, "a.bcast").protocols[0]
    assert made.variant is not None and not made.shipped


def test_words_of_variants_are_names_elsewhere() -> None:
    text = """protocol P {
  state variant = false
  state without = false
  state as = false
  upon condition as { without := true }
  upon condition variant as again { skip }
  upon timeout as { skip }
  upon condition not without { start as }
}
"""
    made = load_text(text, "a.bcast").protocols[0]
    assert [h.label for h in made.roles[0].handlers][:2] == ["upon condition as", "again"]


MISTAKES = [
    Mistake("variant «V» of P { }", "N040", "replaces nothing of `P`", "`without …`"),
    Mistake(
        "variant V of P { state «sen» = 1 }", "N040", "replaces nothing", "did you mean `seen`"
    ),
    Mistake(
        "variant V of P { «state told : set<Msg>   = {}» }",
        "N040",
        "`state told` is the same as in `P`",
        "it is inherited",
    ),
    Mistake("variant V of P { without «sen» }", "N041", "`P` has no `sen`", "`seen`"),
    Mistake("variant V of P { without init choose «seen» }", "N041", "`init choose seen`", ""),
    Mistake("variant V of P { role «r» { without x } }", "N041", "`P` has no `r`", ""),
    Mistake(
        "variant V of P { «without upon receive DATE(m)» }",
        "N041",
        "no handler `upon receive DATE(m)`",
        "did you mean `upon receive DATA(m)`?",
    ),
    Mistake(
        "variant V of P { «upon receive DATA(x) »{ skip } }",
        "N042",
        "`upon receive DATA(m)` (line 6) or `upon receive DATA(m) from p` (line 7)",
        "as x",
    ),
    Mistake(
        "variant V of P { «without upon receive DATA(x)» }", "N042", "several items of `P`", "`at`"
    ),
    Mistake("variant V of «Q» { without seen }", "C001", "no protocol `Q`", ""),
    Mistake(
        "variant V of «ReliableBroadcast» { without x }", "C001", "no protocol", "is an interface"
    ),
    Mistake("variant V of «V» { without x }", "N015", "`V` of `V`", ""),
    Mistake(
        "variant V of W { without x }\nvariant W of «V» { without x }",
        "N015",
        "`V` of `W` of `V`",
        "",
    ),
    Mistake(
        "variant V of P { upon request broadcast(m) as «told» { skip } }",
        "N004",
        "`told` is already a state variable",
        "another name",
    ),
    Mistake("variant «P» of P { without tells }", "N004", "`P` is already declared here", ""),
    Mistake("variant V «P» { without tells }", "S001", "unexpected name `P`", ""),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.text.replace("\n", " "))
def test_mistakes(mistake: Mistake) -> None:
    text, [(line, start, end)] = places(ORIGINAL + mistake.text)
    (found,) = diagnostics(text)
    assert found.code == mistake.code
    assert mistake.message in found.message
    assert mistake.hint in found.hint + found.expected
    assert found.span is not None
    assert (found.span.line, found.span.column, found.span.end_column) == (line, start, end)


def test_what_stands_in_a_role_is_found() -> None:
    (found,) = diagnostics(ROLES + "variant V of P { without busy }")
    assert found.hint == "it is in a role: `role hand { without busy }`"


def test_errors_of_what_is_inherited_name_the_variant_and_stand_once() -> None:
    found = diagnostics(
        ORIGINAL + "variant V of P { without told }\nvariant W of P { without tells }"
    )
    assert {d.code for d in found} == {"N002"}
    assert all(d.message.endswith(", in the variant `V`") for d in found)
    broken = ORIGINAL.replace("send DATA(m) to all", "send DATA(1) to all")
    assert len(diagnostics(broken + "variant V of P { without tells }")) == 1
