"""What runs checks elsewhere: pytest, a GitHub action, hooks of pre-commit."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from checker import resources
from checker.cli.commands import cli

ROOT = resources.specs().parent
GOOD = """\
protocol P {
  state x : 0..3 = 0
  upon condition x < 3 { x := x + 1 }
  property small "It stays small." : always forall p in Proc: p.x <= 2
}
check violated of P { n = 1 expect small violated }
"""
BAD = GOOD + "check holds of P { n = 1 prove small }\n"
pytest_plugins = ("pytester",)


@pytest.fixture
def folder(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makefile(".bcast", good=GOOD, bad=BAD)
    return pytester


def run(folder: pytest.Pytester, *words: str) -> pytest.RunResult:
    others = ("asyncio", "pytest-lsp", "cacheprovider", "xdist")
    left_out = [word for name in others for word in ("-p", f"no:{name}")]
    return folder.runpytest_subprocess(*left_out, *words)


def test_checks_are_tests(folder: pytest.Pytester) -> None:
    found = run(folder)
    found.assert_outcomes(passed=2, failed=1)
    text = found.stdout.str()
    assert "check holds" in text and "holds: small" in text
    assert re.search(r"p1 takes.*small|x = 3|p1: ", text)
    assert "Traceback" not in text and "answer_check" not in text


@pytest.mark.slow
def test_one_check_is_named_and_specs_can_be_left_out(folder: pytest.Pytester) -> None:
    run(folder, "bad.bcast::violated").assert_outcomes(passed=1)
    run(folder, "-o", "bivalence=off").assert_outcomes()
    run(folder, "-p", "no:bivalence").assert_outcomes()


@pytest.mark.slow
def test_errors_of_a_spec_are_its_diagnostics(folder: pytest.Pytester) -> None:
    folder.makefile(".bcast", wrong=GOOD.replace("p.x <=", "p.y <="))
    found = run(folder, "wrong.bcast")
    found.assert_outcomes(errors=1)
    text = found.stdout.str()
    assert "error[N002]" in text and "^" in text and "SpecError" not in text


@pytest.mark.slow
def test_a_check_that_takes_too_long_is_no_pass(folder: pytest.Pytester) -> None:
    found = run(folder, "good.bcast", "--bivalence-timeout", "0.000001")
    found.assert_outcomes(failed=1)
    assert "timeout" in found.stdout.str().lower() or "time" in found.stdout.str()


# ---- the action and the hooks, which are read as text: no YAML is needed for what they say ------


def scripts(text: str) -> list[str]:
    """The scripts of an action: what stands behind `run:`."""
    found = re.findall(r"^( +)run: (\|\n(?:\1 +.*\n?|\n)+|.*\n)", text, re.MULTILINE)
    return [re.sub(r"^ +", "", body.removeprefix("|\n"), flags=re.MULTILINE) for _, body in found]


@pytest.mark.slow
def test_the_action_does_what_the_command_does(tmp_path: Path) -> None:
    """Its steps, run by bash as a runner does, with each input in the environment."""
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    install, formats, tests = scripts(text)
    assert install.startswith("python -P -m pip install")
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "good.bcast").write_text(GOOD, encoding="utf-8")
    tool = shutil.which("bivalence") or str(ROOT / ".venv" / "bin" / "bivalence")
    env = {
        "PATH": f"{Path(tool).parent}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "PATHS": "specs\n",
        "TIMEOUT": "60",
        "MEMORY": "4G",
        "JUNIT": "junit.xml",
        "SARIF": "",
    }

    def step(script: str) -> subprocess.CompletedProcess[str]:
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        return subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True)

    assert step(tests).returncode == 0
    assert "exit-code=0" in (tmp_path / "output").read_text(encoding="utf-8")
    assert (tmp_path / "junit.xml").is_file() and step(formats).returncode in (0, 1)
    (tmp_path / "specs" / "bad.bcast").write_text(BAD, encoding="utf-8")
    found = step(tests)
    assert found.returncode == 1 and "::error file=specs/bad.bcast" in found.stdout
    assert (tmp_path / "output").read_text(encoding="utf-8").endswith("exit-code=1\n")
    inputs = set(re.findall(r"^  ([a-z]+):$", text.partition("outputs:")[0], re.MULTILINE))
    assert inputs == set(re.findall(r"inputs\.([a-z]+)", text))


def test_the_hooks_are_commands() -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    for entry in re.findall(r"entry: (.*)", text):
        program, command, *words = shlex.split(entry)
        assert program == "bivalence"
        with cli.commands[command].make_context(command, [*words, str(resources.specs())]):
            pass
