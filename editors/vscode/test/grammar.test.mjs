// What TextMate makes of a spec, with the engine that the editor has.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";

const require = createRequire(import.meta.url);
const textmate = require("vscode-textmate");
const oniguruma = require("vscode-oniguruma");
const here = new URL("..", import.meta.url);

const SPEC = `// flood
protocol P implements ReliableBroadcast {
  stable state seen : set<Proc> = {}
  upon receive DATA(s, m) from p when s not in seen {
    send DATA(s, m) to all      // again
  }
  property p1 "says \`so\`" : always forall p in Proc: true
}
check c of P { n = 3  faults crash <= 1  prove agreement }`;

async function scopes() {
  const wasm = readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const path = new URL("syntaxes/bivalence.tmLanguage.json", here);
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (sources) => new oniguruma.OnigScanner(sources),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => textmate.parseRawGrammar(readFileSync(path, "utf8"), "a.json"),
  });
  const grammar = await registry.loadGrammar("source.bivalence");
  let stack = textmate.INITIAL;
  const found = new Map();
  for (const line of SPEC.split("\n")) {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, stack);
    for (const { startIndex, endIndex, scopes } of tokens) {
      found.set(line.slice(startIndex, endIndex).trim(), scopes.at(-1));
    }
    stack = ruleStack;
  }
  return found;
}

test("words, comments, strings and numbers have their scopes", async () => {
  const found = await scopes();
  const expected = {
    "// flood": "comment.line", protocol: "keyword.declaration", upon: "keyword.control", stable: "storage.modifier",
    not: "keyword.operator", Proc: "support.type", always: "keyword.operator", crash: "support.constant",
    "3": "constant.numeric", '"says `so`"': "string.quoted", P: "entity.name.type", send: "keyword.control",
  };
  for (const [word, scope] of Object.entries(expected)) {
    assert.ok(found.get(word)?.startsWith(scope), `${word}: ${found.get(word)}`);
  }
});
