"""How long the page of a run takes to be written, to be painted, and to go to another step.

``python benchmarks/page/run.py [STEPS…]`` prints a line for each length: bytes of the page, seconds
to write it, then, in the machine's own Chromium, milliseconds to the first paint and to the end of
loading, the longest of ten moves by key, and the number of elements.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from checker.render.html import page_of
from tests.browser.runs import long

LENGTHS = (100, 1000, 5000)
PAINT = "performance.getEntriesByType('paint').find(e => e.name == 'first-contentful-paint')"
MOVE = """() => {
  let worst = 0;
  for (let i = 0; i < 10; i += 1) {
    const begun = performance.now();
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "k", bubbles: true }));
    document.body.getBoundingClientRect();
    worst = Math.max(worst, performance.now() - begun);
  }
  return worst;
}"""


def main(lengths: tuple[int, ...]) -> None:
    """Measures, and prints a table."""
    print("steps      bytes  written s  paint ms  loaded ms  move ms  elements")
    with sync_playwright() as playing, tempfile.TemporaryDirectory() as folder:
        started = playing.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for steps in lengths:
            print(_measured(started, steps, Path(folder)))


def _measured(browser: Browser, steps: int, folder: Path) -> str:
    begun = time.perf_counter()
    text = page_of(long(steps))
    written = time.perf_counter() - begun
    file = folder / f"{steps}.html"
    file.write_text(text, encoding="utf-8")
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.goto(file.as_uri())
    page.wait_for_timeout(500)
    paint = page.evaluate(f"{PAINT}?.startTime ?? NaN")
    loaded = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    move = page.evaluate(MOVE)
    elements = page.locator("*").count()
    page.close()
    return (
        f"{steps:5} {len(text.encode()):10,} {written:10.2f} {paint:9.0f} {loaded:10.0f}"
        f" {move:8.1f} {elements:9,}"
    )


if __name__ == "__main__":
    main(tuple(int(given) for given in sys.argv[1:]) or LENGTHS)
