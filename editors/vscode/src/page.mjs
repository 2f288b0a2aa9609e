// The page of a counterexample as a webview has it, and what joins its steps to lines of the spec.

import { createHash } from "node:crypto";

/** What is added to the page: it tells which step is shown, and shows the one that it is told. */
const BRIDGE = `(() => {
  const editor = acquireVsCodeApi();
  const count = document.querySelector("output.count");
  const time = document.querySelector("input.time");
  if (document.body.className.includes("vscode-dark")) document.documentElement.dataset.theme = "dark";
  if (document.body.className.includes("vscode-light")) document.documentElement.dataset.theme = "light";
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
 * @typedef {{ number: number, events: { at: { file: string, line: number } | null }[] }} Step
 */

/**
 * Returns the place of the first event of a step that is written anywhere.
 * @param {Step[]} steps @param {number} number
 */
export function lineOf(steps, number) {
  const step = steps.find((each) => each.number === number);
  return step?.events.map((event) => event.at).find((at) => at !== null && at !== undefined);
}

/**
 * Returns the numbers of the steps in which something happens that is written in a line of a file.
 * @param {Step[]} steps @param {string} path @param {number} line @returns {number[]}
 */
export function stepsAt(steps, path, line) {
  /** @param {{ file: string, line: number } | null} at */
  const here = (at) => at?.line === line && path.replaceAll("\\", "/").endsWith(at.file);
  return steps.filter((step) => step.events.some((event) => here(event.at))).map((step) => step.number);
}
