import assert from "node:assert/strict";
import { test } from "node:test";
import { bridged, lineOf, stepsAt } from "../src/page.mjs";

const steps = [
  { number: 0, events: [] },
  { number: 1, events: [{ at: null }, { at: { file: "a/b.bcast", line: 7 } }] },
  { number: 2, events: [{ at: { file: "a/b.bcast", line: 7 } }, { at: { file: "c.bcast", line: 1 } }] },
];

test("a step has the line of its first event that is written anywhere", () => {
  assert.deepEqual(lineOf(steps, 1), { file: "a/b.bcast", line: 7 });
  assert.equal(lineOf(steps, 0), undefined);
  assert.equal(lineOf(steps, 9), undefined);
});

test("a line has the steps that happen there", () => {
  assert.deepEqual(stepsAt(steps, "/x/a/b.bcast", 7), [1, 2]);
  assert.deepEqual(stepsAt(steps, "C:\\x\\a\\b.bcast", 7), [1, 2]);
  assert.deepEqual(stepsAt(steps, "/x/a/b.bcast", 8), []);
});

test("the bridge is the last script, and its hash is admitted", () => {
  const page = `<meta content="default-src 'none'; script-src 'sha256-x'"><body>$& </body> "</body>"</body>`;
  const made = bridged(page);
  assert.match(made, /script-src 'sha256-[A-Za-z0-9+/=]{44}' 'sha256-x'/);
  assert.match(made, /"<\/body>"<script>[\s\S]*<\/script><\/body>$/);
});
