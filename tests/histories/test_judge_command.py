"""The command: options, mappings, documents, limits, several histories."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.cli.main import main
from checker.engines import budgets
from checker.histories import judging
from checker.histories.linearizability import Part, Reached
from tests.documents import validator

GOOD = """{:process 0 :type :invoke :f :write :value 3}
{:process 0 :type :ok :f :write :value 3}
{:process 0 :type :invoke :f :read :value nil}
{:process 0 :type :ok :f :read :value 3}
"""
BAD = GOOD.replace(":read :value 3", ":read :value 4")
KEYS = """{:process 0 :type :invoke :f :write :value [1 3]}
{:process 0 :type :ok :f :write :value [1 3]}
{:process 0 :type :invoke :f :read :value [2 nil]}
{:process 0 :type :ok :f :read :value [2 nil]}
{:process 0 :type :invoke :f :read :value [1 nil]}
{:process 0 :type :ok :f :read :value [1 3]}
"""


def written(folder: Path, text: str, name: str = "history.edn") -> str:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_a_violation_is_a_document(tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    arguments = [written(tmp_path, GOOD, "a.edn"), written(tmp_path, BAD, "b.edn")]
    arguments.append(written(tmp_path, "{", "c.edn") + "x")
    assert main(["judge", *arguments, "--as", "Register", "--json", str(out)]) == 2
    document = json.loads(out.read_text(encoding="utf-8"))
    validator("judgement").validate(document)
    assert [report["verdict"] for report in document["reports"]] == ["holds", "violated", "unknown"]
    refutation = document["reports"][1]["refutation"]
    assert [one["text"] for one in refutation["operations"]] == ["read() = 4"]
    assert refutation["reasons"] == ["with value = 3, read() returns 3, not 4"]
    assert (refutation["prefix"], refutation["left_out"]) == (2, 1)


def test_each_of_several_histories_has_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [written(tmp_path, GOOD, "a.edn"), written(tmp_path, BAD, "b.edn")]
    assert main(["judge", *files, "--as", "Register"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "HOLDS" in said and "2 histories: 1 hold, 1 violated" in said
    assert "with value = 3, read() returns 3, not 4" in said


def test_keys_are_judged_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fields = KEYS
    for value, own in (("[1 3]", "1 :value 3"), ("[2 nil]", "2 :value nil"), ("[1 nil]", "1")):
        fields = fields.replace(f":value {value}", f":key {own}")
    for text in (KEYS, fields):
        file = written(tmp_path, text)
        for name in ("Register", "CompareAndSwap"):
            assert main(["judge", file, "--as", name, "--by", "key"]) == 0
        assert "keys         2" in capsys.readouterr().out
    mapped = KEYS.replace(":read", ":get").replace(":write", ":put")
    assert main(["judge", written(tmp_path, mapped), "--as", "KeyValueMap", "--by", "key"]) == 0
    bad = written(
        tmp_path, mapped.replace(":ok :f :get :value [2 nil]", ":ok :f :get :value [2 3]")
    )
    assert main(["judge", bad, "--as", "KeyValueMap", "--by", "key"]) == 1
    assert "Key 2: get(2) = 3" in capsys.readouterr().out
    assert main(["judge", written(tmp_path, GOOD), "--as", "Register", "--by", "key"]) == 2
    assert "[E095]" in capsys.readouterr().err


def test_an_initial_operation_and_a_mapping(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        '{"client": {"id": 1}, "type": "invoke", "op": "r"}\n'
        '{"client": {"id": 1}, "type": "ok", "op": "r", "value": 7}\n'
        '{"client": {"id": 1}, "type": "invoke", "op": "swap", "value": [7, 8]}\n'
        '{"client": {"id": 1}, "type": "fail", "op": "swap", "value": [7, 8]}\n'
        '{"client": {"id": 2}, "type": "invoke", "op": "sleep"}\n',
        "history.ndjson",
    )
    names = (
        'ignored = ["sleep"]\n[columns]\nprocess = "client.id"\nf = "op"\n'
        '[operations]\nread = "r"\ncas = "swap"\n'
    )
    mapping = written(tmp_path, names, "names.toml")
    judge = ["judge", file, "--as", "CompareAndSwap", "-q", "--mapping"]
    assert main([*judge, mapping]) == 1
    assert main([*judge, mapping, "--initial", "write(7)"]) == 0
    observed = written(tmp_path, names + '[results]\ncas = "fail means false"\n', "observed.toml")
    assert main([*judge, observed, "--initial", "write(7)"]) == 1
    anything = written(tmp_path, names + '[results]\nread = "nil is unknown"\n', "anything.toml")
    nothing = Path(file).read_text(encoding="utf-8").replace('"value": 7', '"value": null')
    Path(file).write_text(nothing, encoding="utf-8")
    assert main([*judge, mapping, "--initial", "write(7)"]) == 1
    assert main([*judge, anything, "--initial", "write(7)"]) == 0


@pytest.mark.parametrize(
    "text", ["[column]\n", "[columns]\npid = 'x'\n", "[results]\nr = 'x'\n", "ignored = 3\n", "="]
)
def test_a_wrong_mapping_is_a_diagnostic(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mapping = written(tmp_path, text, "names.toml")
    file = written(tmp_path, GOOD)
    assert main(["judge", file, "--as", "Register", "--mapping", mapping]) == 2
    assert "[E097]" in capsys.readouterr().err


@pytest.mark.parametrize("options", [
    ["--as", "Registre"], ["--as", "Register", "--model", "serializable"],
    ["--as", "ListAppend", "--by", "key"], ["--as", "ListAppend", "--initial", "append(1)"],
    ["--as", "Register", "--initial", "write"], ["--as", "Register", "--initial", "write(1 2)"],
    ["--as", "Register", "--initial", "write("], ["--as", "none.bcast::Register"],
])  # fmt: skip
def test_wrong_options_are_refused(options: list[str], tmp_path: Path) -> None:
    assert main(["judge", written(tmp_path, GOOD), *options]) == 2


def test_a_limit_makes_the_rest_unknown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(parts: list[Part], elsewhere: object) -> None:
        for part in parts:
            part.reached = Reached(at=1)
        raise budgets.BudgetExhausted("the time limit of 1 s was reached")

    monkeypatch.setattr(judging, "decide", ended)
    lost = "{:process 5 :type :invoke :f :write :value 9}\n"
    assert main(["judge", written(tmp_path, lost + GOOD), "--as", "Register"]) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert "UNKNOWN" in said and "time limit" in said and "write(9)" in said


def test_numbers_and_lists_grow_as_needed(tmp_path: Path) -> None:
    spec = written(
        tmp_path,
        "object Stack { state items : seq<Nat> = []\n state most : Nat = 0\n"
        "operation push(v: Nat): Nat { items := items + v\n most += v\n return most }\n"
        "operation size(): Nat { return #items } }\n",
        "stack.bcast",
    )
    rows, total = [], 0
    for number in range(40):
        total += 100 * number
        f = f"{{:process 0 :type %s :f :push :value {100 * number if '%s' else ''}}}"
        rows.append(f % (":invoke",))
        rows.append(f"{{:process 0 :type :ok :f :push :value {total}}}")
    rows += ["{:process 0 :type :invoke :f :size}", "{:process 0 :type :ok :f :size :value 40}"]
    file = written(tmp_path, "\n".join(rows))
    assert main(["judge", file, "--as", f"{spec}::Stack"]) == 0
    file = written(tmp_path, "\n".join(rows).replace(":value 40}", ":value 41}"))
    assert main(["judge", file, "--as", f"{spec}::Stack"]) == 1


def test_an_object_may_have_choices_and_callers(tmp_path: Path) -> None:
    spec = written(
        tmp_path,
        "object Any<V> { state last : option<Proc> = none\n state value : option<V> = none\n"
        "operation offer(v: V) { either { value := some(v) } or { skip }\n last := some(self) }\n"
        "operation mine(): bool { return last == some(self) }\n"
        "operation read(): option<V> { return value } }\n",
        "any.bcast",
    )
    text = """{:process "a" :type :invoke :f :offer :value 1}
{:process "a" :type :ok :f :offer :value 1}
{:process "b" :type :invoke :f :mine}
{:process "b" :type :ok :f :mine :value MINE}
{:process "a" :type :invoke :f :mine}
{:process "a" :type :ok :f :mine :value true}
{:process "b" :type :invoke :f :read}
{:process "b" :type :ok :f :read :value READ}
"""
    for mine, read, code in (
        ("false", "nil", 0), ("false", "1", 0), ("true", "1", 1), ("false", "2", 1),
    ):  # fmt: skip
        file = written(tmp_path, text.replace("MINE", mine).replace("READ", read))
        assert main(["judge", file, "--as", f"{spec}::Any"]) == code, (mine, read)


def test_a_queue_with_many_open_enqueues_is_decided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Values that nobody dequeues make no difference; that there are some is still counted."""
    invoke = "{:process %s :type :invoke :f :%s :value %s}\n"
    ok = "{:process d :type :ok :f :dequeue :value %s}\n"
    text = "".join(invoke % (n, "enqueue", n) for n in range(26))
    for values, code in (([3, 1, "nil"], 0), ([3, 1, 3], 1), ([3, 26], 1)):
        rows = "".join(invoke % ("d", "dequeue", "nil") + ok % value for value in values)
        file = written(tmp_path, text + rows)
        assert main(["judge", file, "--as", "Queue", "--timeout", "60"]) == code, values
        assert "26 without a known outcome" in capsys.readouterr().out
