import assert from "node:assert/strict";
import { test } from "node:test";
import { bridged, nextStepAt, placesOf } from "../src/page.mjs";

const steps = [
  { number: 0, events: [] },
  { number: 1, events: [{ at: null }, { at: { file: "a/b.bcast", line: 7 } }] },
  { number: 2, events: [{ at: { file: "a/b.bcast", line: 7 } }, { at: { file: "c.bcast", line: 1 } }] },
];

test("a step has all places that it is written at", () => {
  assert.deepEqual(placesOf(steps, 1), [{ file: "a/b.bcast", line: 7 }]);
  assert.deepEqual(placesOf(steps, 2), [{ file: "a/b.bcast", line: 7 }, { file: "c.bcast", line: 1 }]);
  assert.deepEqual(placesOf(steps, 0), []);
  assert.deepEqual(placesOf(steps, 9), []);
});

test("a line goes from each of its steps to the next, and around", () => {
  assert.equal(nextStepAt(steps, "a/b.bcast", 7, 0), 1);
  assert.equal(nextStepAt(steps, "a/b.bcast", 7, 1), 2);
  assert.equal(nextStepAt(steps, "a/b.bcast", 7, 2), 1);
  assert.equal(nextStepAt(steps, "b.bcast", 7, 0), undefined);
  assert.equal(nextStepAt(steps, "a/b.bcast", 8, 0), undefined);
});

test("the bridge is the last script, and its hash is admitted", () => {
  const page = `<meta content="default-src 'none'; script-src 'sha256-x'"><body>$& </body> "</body>"</body>`;
  const made = bridged(page);
  assert.match(made, /script-src 'sha256-[A-Za-z0-9+/=]{44}' 'sha256-x'/);
  assert.match(made, /"<\/body>"<script>[\s\S]*<\/script><\/body>$/);
});
