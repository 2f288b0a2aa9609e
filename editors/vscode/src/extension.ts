// The client of the language server `bivalence lsp`. All that is known of specs is there; here are
// only a terminal for `explore`, and the page of a counterexample in a webview.

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";
import { bridged, nextStepAt, placesOf } from "./page.mjs";

/** What the server has written of a counterexample; `files`: where each file is that the trace names. */
type Written = { page: string; trace: string; files: Record<string, string> };

let client: LanguageClient | undefined;
let shown: Counterexample | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("bivalence.restart", () => restart(context)),
    vscode.window.onDidChangeTextEditorSelection((event) => shown?.follow(event)),
  );
  await start(context);
}

export async function deactivate(): Promise<void> {
  shown?.panel.dispose();
  await client?.stop();
}

async function restart(context: vscode.ExtensionContext): Promise<void> {
  await client?.stop();
  await start(context);
}

/** The words of the command `bivalence`, as the setting has them. */
function command(): string[] {
  const words = vscode.workspace.getConfiguration("bivalence").get<string[]>("command", []);
  return words.length > 0 ? words : ["bivalence"];
}

async function start(context: vscode.ExtensionContext): Promise<void> {
  const [program, ...words] = command();
  client = new LanguageClient(
    "bivalence",
    "Bivalence",
    { command: program, args: [...words, "lsp"] },
    {
      documentSelector: [{ language: "bivalence" }],
      middleware: { executeCommand: (name, given, next) => run(name, given, next) },
    },
  );
  try {
    await client.start();
  } catch {
    const say = `${program} lsp can't be started: run it to see what to install, or set bivalence.command`;
    void vscode.window.showErrorMessage(say);
  }
}

/** What a lens does: `explore` in a terminal, a counterexample in a panel, all else in the server. */
async function run(
  name: string,
  given: unknown[],
  next: (name: string, given: unknown[]) => unknown,
): Promise<unknown> {
  const [uri, check] = given as [string, string];
  const file = vscode.Uri.parse(uri);
  if (name === "bivalence.explore") {
    explore(file.fsPath, check);
    return undefined;
  }
  if (["bivalence.check", "bivalence.prove", "bivalence.coverage"].includes(name)) {
    const document = vscode.workspace.textDocuments.find((d) => d.uri.toString() === file.toString());
    if (document?.isDirty) await document.save();
  }
  const answer = await next(name, given);
  if (name === "bivalence.counterexample" && answer) {
    await show(answer as Written, check);
  }
  return answer;
}

function explore(path: string, check: string): void {
  const [program, ...words] = command();
  const terminal = vscode.window.createTerminal({
    name: check,
    shellPath: program,
    shellArgs: [...words, "explore", `${path}::${check}`],
  });
  terminal.show();
}

async function show(written: Written, check: string): Promise<void> {
  const read = async (path: string) =>
    new TextDecoder().decode(await vscode.workspace.fs.readFile(vscode.Uri.file(path)));
  const trace = JSON.parse(await read(written.trace));
  const paths = Object.entries(written.files).map(([name, path]) => [name, vscode.Uri.file(path).fsPath]);
  shown?.panel.dispose();
  shown = new Counterexample(check, await read(written.page), trace.steps, Object.fromEntries(paths));
  shown.panel.onDidDispose(() => (shown = undefined));
}

/** The page of a run beside its spec: each step shows its lines, each line its steps. */
class Counterexample {
  readonly panel: vscode.WebviewPanel;
  private step = 0;
  private readonly mark = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("editor.findMatchHighlightBackground"),
  });

  constructor(
    check: string,
    page: string,
    private readonly steps: Parameters<typeof placesOf>[0],
    private readonly files: Record<string, string>,
  ) {
    this.panel = vscode.window.createWebviewPanel(
      "bivalence.counterexample",
      `Counterexample of ${check}`,
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: true, localResourceRoots: [], retainContextWhenHidden: true },
    );
    this.panel.webview.html = bridged(page);
    this.panel.webview.onDidReceiveMessage((said: { step?: number }) => this.reveal(said.step));
    const again = vscode.window.onDidChangeVisibleTextEditors(() => this.markAll());
    this.panel.onDidDispose(() => {
      again.dispose();
      this.mark.dispose();
    });
  }

  /** Marks the lines of a step and brings one into sight; where no editor has any, it opens a file
   * of the folder that has one. */
  private async reveal(step: number | undefined): Promise<void> {
    if (step === undefined) return;
    this.step = step;
    if (this.markAll(true)) return;
    const uris = placesOf(this.steps, step).flatMap(({ file }) => this.files[file] ?? []).map(vscode.Uri.file);
    const own = uris.find((uri) => vscode.workspace.getWorkspaceFolder(uri) !== undefined);
    if (own === undefined) return;
    const viewColumn = vscode.ViewColumn.One;
    await vscode.window.showTextDocument(own, { viewColumn, preserveFocus: true, preview: true });
    if (step === this.step) this.markAll(true);
  }

  /** Marks the lines of the step in all editors; returns whether there are any. */
  private markAll(scrolls = false): boolean {
    const places = placesOf(this.steps, this.step);
    let found = false;
    for (const editor of vscode.window.visibleTextEditors) {
      const { document } = editor;
      const here = places.filter(({ file }) => this.files[file] === document.uri.fsPath);
      const lines = [...new Set(here.map(({ line }) => Math.min(line, document.lineCount) - 1))];
      const ranges = lines.map((line) => document.lineAt(line).range);
      editor.setDecorations(this.mark, ranges);
      if (ranges.length === 0) continue;
      if (scrolls) editor.revealRange(ranges[0], vscode.TextEditorRevealType.InCenterIfOutsideViewport);
      found = true;
    }
    return found;
  }

  /** Shows, of the line that was clicked, the next step that is written there. */
  follow(event: vscode.TextEditorSelectionChangeEvent): void {
    if (event.kind !== vscode.TextEditorSelectionChangeKind.Mouse) return;
    const { fsPath } = event.textEditor.document.uri;
    const file = Object.keys(this.files).find((name) => this.files[name] === fsPath);
    if (file === undefined) return;
    const step = nextStepAt(this.steps, file, event.selections[0].active.line + 1, this.step);
    if (step !== undefined) void this.panel.webview.postMessage({ step });
  }
}
