// The page of a counterexample as a webview has it, and what joins its steps to lines of the spec.

import { createHash } from "node:crypto";

/** What is added to the page: it tells which step is shown, and shows the one that it is told. */
const BRIDGE = `(() => {
  const editor = acquireVsCodeApi();
  const count = document.querySelector("output.count");
  const time = document.querySelector("input.time");
  const follow = () => {
    const theme = /vscode-(high-contrast-)?light/.test(document.body.className) ? "light" : "dark";
    if (document.documentElement.dataset.theme !== theme) document.querySelector("button.theme").click();
  };
  new MutationObserver(follow).observe(document.body, { attributeFilter: ["class"] });
  follow();
  let told = null;
  const tell = () => {
    const found = /step (\\d+)/.exec(count.textContent);
    if (found === null || Number(found[1]) === told) return;
    told = Number(found[1]);
    editor.postMessage({ step: told });
  };
  new MutationObserver(tell).observe(count, { childList: true, characterData: true, subtree: true });
  addEventListener("message", ({ data }) => {
    if (!Number.isInteger(data?.step)) return;
    time.value = String(data.step);
    time.dispatchEvent(new Event("input", { bubbles: true }));
  });
  tell();
})();`;

/**
 * Returns the page with the bridge in it. Its content security policy admits the scripts by their
 * hashes, and nothing from anywhere else; that of the bridge is added.
 * @param {string} page @returns {string}
 */
export function bridged(page) {
  const digest = createHash("sha256").update(BRIDGE).digest("base64");
  return page
    .replace(/script-src /, `script-src 'sha256-${digest}' `)
    .replace(/<\/body>(?![\s\S]*<\/body>)/, () => `<script>${BRIDGE}</script></body>`);
}

/**
 * @typedef {{ file: string, line: number }} Place
 * @typedef {{ number: number, events: { at: Place | null }[] }} Step
 */

/**
 * Returns the places at which what happens in a step is written, in the order in which it happens.
 * @param {Step[]} steps @param {number} number @returns {Place[]}
 */
export function placesOf(steps, number) {
  const events = steps.find((step) => step.number === number)?.events ?? [];
  return events.flatMap(({ at }) => at ?? []);
}

/**
 * Returns the number of the next step after `shown` in which something happens that is written in a
 * line of a file, behind the last one the first again; none where the run never comes there.
 * @param {Step[]} steps @param {string} file @param {number} line @param {number} shown
 */
export function nextStepAt(steps, file, line, shown) {
  const here = steps.filter(({ events }) => events.some(({ at }) => at?.file === file && at.line === line));
  return (here.find(({ number }) => number > shown) ?? here[0])?.number;
}
