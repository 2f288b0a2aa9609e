// The extension in Visual Studio Code itself: its server and browser workbench as code-server packages
// them, looked at by a headless Chromium. README.md says what has to be installed; without that it is skipped.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

const INSTALLED = process.env.BIVALENCE_CODE_SERVER;
const COMMAND = JSON.parse(process.env.BIVALENCE_COMMAND ?? '["bivalence"]');
const CHROMIUM = process.env.BIVALENCE_CHROMIUM ?? "/usr/bin/chromium-headless-shell";
const SCREENSHOTS = process.env.BIVALENCE_SCREENSHOTS;
const PORT = process.env.BIVALENCE_PORT ?? "8137";
const PATIENCE = 60_000;
const optional = { skip: INSTALLED ? false : "BIVALENCE_CODE_SERVER says where code-server is installed" };

const FLOOD = `protocol Flood implements ReliableBroadcast {
  uses beb : BestEffortBroadcast
  message DATA(origin: Proc, m: Msg)
  state seen : set<(Proc, Msg)> = {}       // with the sender

  upon request broadcast(m) { beb.broadcast(DATA(self, m)) }

  upon beb.deliver(p, DATA(s, m)) when (s, m) not in seen {
    seen += (s, m)
    deliver(s, m)
    beb.broadcast(DATA(s, m))
  }
}

check crash_one of Flood {
  n = 3
  faults crash <= 1
  clients { p1 broadcasts a }
  prove agreement
  expect uniform_agreement violated
}
`;
const CHECKED = `import "flood.bcast"\n\ncheck elsewhere of Flood {
  n = 2  faults crash <= 1
  clients { p1 broadcasts a }
  prove uniform_agreement
}\n`;
const WRONG = FLOOD.replace("seen += (s, m)", "sen += (s, m)");

let folder, server, browser, page;

before(async () => {
  if (!INSTALLED) return;
  folder = mkdtempSync(join(tmpdir(), "bivalence-editor-"));
  const [data, extensions, specs] = ["data", "extensions", "specs"].map((name) => join(folder, name));
  mkdirSync(join(data, "User"), { recursive: true });
  mkdirSync(specs);
  const settings = {
    "bivalence.command": COMMAND, "security.workspace.trust.enabled": false,
    "workbench.startupEditor": "none", "editor.minimap.enabled": false, "window.autoDetectColorScheme": true,
  };
  writeFileSync(join(data, "User", "settings.json"), JSON.stringify(settings));
  const texts = { "flood.bcast": FLOOD, "checked.bcast": CHECKED, "wrong.bcast": WRONG };
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(specs, name), text);
  const code = join(INSTALLED, "node_modules", "code-server", "out", "node", "entry.js");
  const where = ["--user-data-dir", data, "--extensions-dir", extensions, "--config", join(folder, "none.yaml")];
  const packed = fileURLToPath(new URL("../bivalence.vsix", import.meta.url));
  execFileSync(process.execPath, [code, ...where, "--install-extension", packed]);
  const quiet = ["--disable-telemetry", "--disable-update-check", "--auth", "none"];
  const bound = ["--bind-addr", `127.0.0.1:${PORT}`];
  server = spawn(process.execPath, [code, ...where, ...quiet, ...bound], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((ready, failed) => {
    server.stdout.on("data", (said) => String(said).includes("listening on http") && ready());
    server.once("exit", () => failed(new Error("code-server has ended")));
  });
  const { chromium } = createRequire(join(INSTALLED, "package.json"))("playwright-core");
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
  page.setDefaultTimeout(PATIENCE);
  await page.goto(`http://127.0.0.1:${PORT}/?folder=${specs}`);
});

after(async () => {
  await browser?.close();
  server?.kill();
  if (folder) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** Opens a file of the folder, and waits until the language server has answered. */
async function open(name) {
  await page.locator(".explorer-folders-view").getByText(name, { exact: true }).dblclick();
  await page.locator(".tab.active").getByText(name).first().waitFor();
  await lens("Coverage").waitFor();
}

const lens = (title) => page.locator(".editor-group-container.active .codelens-decoration a").getByText(title).first();
const line = (text, number = 0) => page.locator(".editor-group-container.active .view-line").getByText(text).nth(number);

async function screenshot(name) {
  if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}

/** Waits until `found` returns what is wanted, and fails with what it returned last. */
async function eventually(found, wanted) {
  let last;
  for (let tries = 0; tries < 100; tries += 1) {
    last = await found();
    if (JSON.stringify(last) === JSON.stringify(wanted)) return;
    await page.waitForTimeout(100);
  }
  assert.deepEqual(last, wanted);
}

/** The document of the page of a check's counterexample, inside of the frames of its webview. */
async function counterexample(check) {
  await page.locator(".tab").getByText(`Counterexample of ${check}`).waitFor();
  for (let tries = 0; tries < 100; tries += 1) {
    for (const frame of page.frames()) {
      if (await frame.locator("output.count").count().catch(() => 0)) return frame;
    }
    await page.waitForTimeout(100);
  }
  return assert.fail("no page of a counterexample");
}

/** The numbers of the lines that are marked in the editor. */
const marked = () =>
  page.evaluate(() => {
    const rows = [...document.querySelectorAll(".view-overlays .cdr[class*=ced-]")].map((e) => e.parentElement.style.top);
    const numbers = [...document.querySelectorAll(".margin-view-overlays .line-numbers")];
    const at = new Map(numbers.map((e) => [e.parentElement.style.top, Number(e.textContent)]));
    return [...new Set(rows)].map((top) => at.get(top)).sort((a, b) => a - b);
  });

test("words are coloured by the grammar, names by what they mean", optional, async () => {
  await open("flood.bcast");
  const colour = (text, number) => line(text, number).evaluate((e) => getComputedStyle(e).color);
  const plain = await colour("= {}");
  for (const text of ["protocol", "// with the sender", "ReliableBroadcast"]) assert.notEqual(await colour(text), plain);
  await eventually(async () => (await colour("seen")) !== plain, true);
  await screenshot("colours");
});

test("hovering a property tells the textbook's sentence", optional, async () => {
  await line("uniform_agreement").hover();
  await page.locator(".monaco-hover").getByText("CGR 2011, Module 3.3, URB4").first().waitFor();
  await screenshot("hover");
  await page.keyboard.press("Escape");
});

test("an error is underlined, and its fix is offered", optional, async () => {
  await open("wrong.bcast");
  const { x, y } = await page.locator(".squiggly-error").first().boundingBox();
  await page.mouse.click(x + 4, y + 4);
  await page.keyboard.press("Control+.");
  await page.locator(".action-widget").getByText("seen").first().waitFor();
  await screenshot("fix");
  await page.keyboard.press("Enter");
  await page.locator(".squiggly-error").first().waitFor({ state: "detached" });
});

test("a check is run from its lens, and its verdict stands there", optional, async () => {
  await open("flood.bcast");
  await lens("Check").click();
  await lens("✓ agreement holds, uniform_agreement violated").waitFor();
  await screenshot("verdict");
});

test("the counterexample's steps and the lines of the spec lead to one another", optional, async () => {
  await lens("Show counterexample").click();
  const shown = await counterexample("crash_one");
  const step = () => shown.locator("output.count").textContent();
  await eventually(step, "step 3 of 3");
  await eventually(marked, []);
  await shown.locator("button[data-do=back]").click();
  await eventually(marked, [8, 10]);
  await screenshot("step");
  await shown.locator("button[data-do=back]").click();
  await eventually(marked, [6]);
  await page.locator(".view-line").getByText("deliver").nth(1).click();
  await eventually(step, "step 2 of 3");
  await eventually(marked, [8, 10]);
  await page.emulateMedia({ colorScheme: "dark" });
  await eventually(() => shown.evaluate(() => document.documentElement.dataset.theme), "dark");
  await screenshot("dark");
  await page.emulateMedia({ colorScheme: "light" });
});

test("a step in a file that is not open opens it", optional, async () => {
  await open("checked.bcast");
  await lens("Check").click();
  await lens("✗ uniform_agreement violated").waitFor();
  await lens("Show counterexample").click();
  const shown = await counterexample("elsewhere");
  await shown.locator("button[data-do=back]").click();
  await page.locator(".tab.active").getByText("flood.bcast").first().waitFor();
  await eventually(marked, [8, 10]);
  await screenshot("imported");
});

test("explore opens in a terminal", optional, async () => {
  await open("flood.bcast");
  await lens("Explore").click();
  await page.locator(".terminal-wrapper.active").waitFor();
  await page.locator(".terminal-tab, .single-terminal-tab").getByText("crash_one").first().waitFor();
  await page.waitForTimeout(SCREENSHOTS ? 8000 : 0);
  await screenshot("explore");
});
