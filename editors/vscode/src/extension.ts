// The client of the language server `bivalence lsp`. All that is known of specs is there; here are
// only a terminal for `explore`, and the page of a counterexample in a webview.

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";
import { bridged, lineOf, stepsAt } from "./page.mjs";

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
    const say = `${program} lsp can't be started: pip install 'bivalence[editor]', or set bivalence.command`;
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
    await show(answer as { page: string; trace: string }, check);
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

async function show(written: { page: string; trace: string }, check: string): Promise<void> {
  const read = async (path: string) =>
    new TextDecoder().decode(await vscode.workspace.fs.readFile(vscode.Uri.file(path)));
  const trace = JSON.parse(await read(written.trace));
  shown?.panel.dispose();
  shown = new Counterexample(check, await read(written.page), trace.steps);
  shown.panel.onDidDispose(() => (shown = undefined));
}

/** The page of a run beside its spec: each step shows its line, each line its steps. */
class Counterexample {
  readonly panel: vscode.WebviewPanel;
  private readonly mark = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("editor.findMatchHighlightBackground"),
  });

  constructor(
    check: string,
    page: string,
    private readonly steps: Parameters<typeof lineOf>[0],
  ) {
    this.panel = vscode.window.createWebviewPanel(
      "bivalence.counterexample",
      `Counterexample of ${check}`,
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: true, localResourceRoots: [], retainContextWhenHidden: true },
    );
    this.panel.webview.html = bridged(page);
    this.panel.webview.onDidReceiveMessage((said: { step?: number }) => this.reveal(said.step));
    this.panel.onDidDispose(() => this.mark.dispose());
  }

  /** Shows the line of a step in the editor of its file. */
  private async reveal(step: number | undefined): Promise<void> {
    const place = step === undefined ? undefined : lineOf(this.steps, step);
    if (place === undefined) return;
    const found = vscode.window.visibleTextEditors.find((e) => e.document.uri.fsPath.endsWith(place.file));
    if (found === undefined) return;
    const range = found.document.lineAt(Math.min(place.line, found.document.lineCount) - 1).range;
    found.setDecorations(this.mark, [range]);
    found.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  /** Shows, of the line that was clicked, the next step that is written there. */
  follow(event: vscode.TextEditorSelectionChangeEvent): void {
    if (event.kind !== vscode.TextEditorSelectionChangeKind.Mouse) return;
    const { fsPath } = event.textEditor.document.uri;
    const [step] = stepsAt(this.steps, fsPath, event.selections[0].active.line + 1);
    if (step !== undefined) void this.panel.webview.postMessage({ step });
  }
}

