import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { registerCards } from "../../../extension/views/cards.js";
import { describe, initQuestion } from "../../../extension/person/commands.js";
import { Terminal } from "../../../extension/views/terminal.js";
import { until } from "../helpers.js";
import { host, posix } from "../pi-host.js";

const ready = {
  state: "ready", root: "/p", files: 5711, chunks: 17204, languages: { python: 12000, go: 5204 },
  progress: null, job: null, fresh: true, message: "", hint: "", repository: "/p", init: /** @type {const} */ ("done"), has_model: true,
};
const unindexed = { ...ready, state: "unindexed", files: 0, message: "This project has no index yet.", hint: "Use /ccc-index." };
const content = [{ type: "text", text: "src/a.py:1-1 [python] 0.9\nx\n\n[Result 1; no more.]" }];
const details = { results: [{ file_path: "src/a.py" }] };

/** A loader as the host's, whose last one a test can abort. */
class BorderedLoader {
  static onAbort = () => {};
  #abort = new AbortController();
  signal = this.#abort.signal;
  /** @param {() => void} listener */
  set onAbort(listener) {
    BorderedLoader.onAbort = () => {
      this.#abort.abort();
      listener();
    };
  }
}

test("the six commands are there, each with a description", posix, async (t) => {
  const pi = await host(t);
  assert.deepEqual([...pi.commands.keys()], ["ccc", "ccc-search", "ccc-index", "ccc-init", "ccc-doctor", "ccc-sync"]);
  for (const { description } of pi.commands.values()) assert.ok(description.length > 20);
});

for (const mode of ["tui", "rpc"]) {
  test(`/ccc tells the state at a glance (${mode})`, posix, async (t) => {
    const pi = await host(t, { mode });
    pi.say({ overview: ready });
    await pi.type("/ccc");
    assert.deepEqual(pi.told, [["ccc ✓ 5,711 files, 17,204 chunks in /p\nChunks by language: python 12,000, go 5,204\nUp to date.", "info"]]);
    pi.say({ overview: { ...ready, state: "unavailable", message: "No ccc.", hint: "Install it; /ccc-doctor tells." } });
    await pi.type("/ccc");
    assert.deepEqual(pi.told[1], ["ccc ✗ No ccc.\nInstall it; /ccc-doctor tells.", "error"]);
  });
}

test("each state is described with its next step, in the words of a person", () => {
  assert.match(describe({ ...ready, state: "ready", fresh: false }), /the next search brings it up to date/);
  assert.match(describe({ ...ready, state: "ready", fresh: null }), /\nNot compared with the files yet; the next search does that\.$/);
  assert.equal(describe({ ...unindexed, state: "unindexed" }), "ccc ✗ This project has no index yet.\nUse /ccc-index.");
  const job = { tool: "ccc_index", running: true, line: "/ccc-index is running in the background." };
  assert.equal(describe({ ...ready, state: "indexing", message: "Being built.", job }), "ccc ● Being built.\n/ccc-index is running in the background.");
});

test("a search is shown in the terminal as a tool's result, and the model never sees it", posix, async (t) => {
  const pi = await host(t, { mode: "tui" });
  pi.say({ result: { content, details } });
  await pi.type("/ccc-search retry  a failed upload");
  const [{ type, name, title, args, details: kept }] = pi.entries;
  assert.deepEqual([type, name, title, args.query, kept], ["ccc", "ccc_search", "/ccc-search", "retry  a failed upload", details]);
  assert.deepEqual(pi.requests("tools/call")[0].params.arguments, { query: "retry  a failed upload", limit: 10 });
  assert.deepEqual([pi.told, pi.messages], [[], []]);
});

test("an older host shows it in a message, which is taken out of what the model gets", posix, async (t) => {
  const pi = await host(t, { mode: "tui", older: true });
  pi.say({ result: { content, details } });
  await pi.type("/ccc-search retry");
  assert.deepEqual([pi.messages[0].customType, pi.messages[0].display, pi.messages[0].details.name], ["ccc", true, "ccc_search"]);
  /** @type {Record<string, Function>} */
  const handlers = {};
  const older = { on: (/** @type {string} */ name, /** @type {Function} */ handler) => (handlers[name] = handler), registerMessageRenderer: () => {} };
  registerCards(older, /** @type {any} */ ({ canDraw: true }));
  const hello = { role: "user", content: "hello" };
  assert.deepEqual(handlers.context({ messages: [{ role: "custom", ...pi.messages[0] }, hello] }), { messages: [hello] });
});

test("a card is the command and its result, drawn in the host's box", () => {
  let draw = /** @type {any} */ (undefined);
  class Box {
    /** @type {any[]} */
    children = [];
    /** @param {any} child */
    addChild(child) {
      this.children.push(child);
    }
  }
  const tui = { Box, visibleWidth: (/** @type {string} */ text) => text.length, truncateToWidth: String, wrapTextWithAnsi: (/** @type {string} */ text) => [text] };
  const pi = { registerEntryRenderer: (/** @type {string} */ _type, /** @type {any} */ renderer) => (draw = renderer) };
  registerCards(pi, new Terminal(tui, { keyText: () => "ctrl+o" }));
  const theme = { fg: (/** @type {string} */ _colour, /** @type {string} */ text) => text, bg: String, bold: String };
  const card = { name: "ccc_search", title: "/ccc-search", args: { query: "q" }, content: "cause\nremedy", isError: true };
  assert.deepEqual(draw({ data: card }, {}, theme).children[0].render(80), ['/ccc-search "q"', "✗ cause", "  remedy"]);
});

test("in RPC mode a search is told, and a failure as an error with the words of a person", posix, async (t) => {
  const pi = await host(t, { mode: "rpc" });
  pi.say({ result: { content, details } });
  await pi.type("/ccc-search retry");
  pi.say({ result: { content: [{ type: "text", text: "No index.\nUse /ccc-index." }], isError: true } });
  await pi.type("/ccc-search retry");
  assert.deepEqual(pi.told, [[content[0].text, "info"], ["No index.\nUse /ccc-index.", "error"]]);
});

test("/ccc-search more goes on where the last search has ended, and code is quoted as it is", posix, async (t) => {
  const pi = await host(t, { mode: "rpc" });
  const code = "src/a.py:1-1 [python] 0.9\ncall ccc_index: go on with offset 1";
  const found = { results: [{ file_path: "src/a.py", language: "python", start_line: 1, end_line: 1, score: 0.9, lines: 2 }] };
  const answer = (/** @type {string} */ notes, /** @type {number | null} */ next_offset) => ({ content: [{ type: "text", text: `${code}\n\n${notes}` }], details: { ...found, next_offset } });
  await pi.type("/ccc-search more");
  pi.say({ result: answer("[Results 1 to 10; there are more: /ccc-search more.]", 10) });
  await pi.type("/ccc-search retry");
  pi.say({ result: answer("[Results 11 to 20; no more.]", null) });
  await pi.type("/ccc-search more");
  await pi.type("/ccc-search more");
  const none = "No search has more results to show: /ccc-search QUERY searches.";
  assert.deepEqual(pi.told.map(([text]) => text), [none, `${code}\n\n[Results 1 to 10; there are more: /ccc-search more.]`, `${code}\n\n[Results 11 to 20; no more.]`, none]);
  assert.ok(pi.requests("tools/call").every(({ params }) => params.reader === "person"));
  assert.deepEqual(pi.requests("tools/call").map(({ params }) => params.arguments), [{ query: "retry", limit: 10 }, { query: "retry", offset: 10, limit: 10 }]);
});

test("a search without a query asks for it; no answer is no search", posix, async (t) => {
  const pi = await host(t, { mode: "tui" });
  await pi.type("/ccc-search");
  assert.deepEqual(pi.requests("tools/call"), []);
  pi.answer.input = "typed";
  await pi.type("/ccc-search");
  assert.equal(pi.requests("tools/call")[0].params.arguments.query, "typed");
});

test("in the terminal what takes long can be cancelled, and the worker is told", posix, async (t) => {
  const pi = await host(t, { mode: "tui", agent: { BorderedLoader } });
  pi.say({ silent: true });
  const search = pi.type("/ccc-search retry");
  await until(() => pi.requests("tools/call").length === 1);
  BorderedLoader.onAbort();
  await search;
  await until(() => pi.requests("cancel").length === 1);
  assert.deepEqual([pi.told, pi.entries], [[], []]);
});

test("a worker that fails is told with its hint", posix, async (t) => {
  const pi = await host(t, { mode: "tui", agent: { BorderedLoader } });
  pi.say({ errors: { sync: { code: -32602, message: "No project.", data: { hint: "Use /ccc-index." } } } });
  await pi.type("/ccc-sync");
  assert.deepEqual(pi.told, [["No project.\nUse /ccc-index.", "error"]]);
});

test("/ccc-sync is a dry run, and /ccc-doctor shows its report", posix, async (t) => {
  const pi = await host(t, { mode: "tui" });
  pi.say({ sync: { text: "unchanged", report: {} }, result: { content: [{ type: "text", text: "✓ ccc" }], details: { checks: [] } } });
  await pi.type("/ccc-sync");
  await pi.type("/ccc-doctor");
  await pi.type("/ccc-doctor verbose");
  assert.deepEqual(pi.requests("tools/call").map(({ params }) => params.arguments), [{}, { verbose: true }]);
  assert.deepEqual(pi.requests("sync")[0].params, { cwd: pi.ctx.cwd, dry_run: true });
  assert.deepEqual(pi.entries.map(({ title, content }) => [title, content]), [["/ccc-sync", "unchanged"], ["/ccc-doctor", "✓ ccc"], ["/ccc-doctor", "✓ ccc"]]);
});

test("/ccc-init asks first where it makes a project, and takes force and a model", posix, async (t) => {
  const pi = await host(t, { mode: "rpc" });
  pi.say({ overview: { ...unindexed, state: "none", root: null, init: "free", has_model: false }, result: { content: [{ type: "text", text: "Initialized." }] } });
  pi.answer.confirm = false;
  await pi.type("/ccc-init");
  assert.deepEqual(pi.requests("tools/call"), []);
  pi.answer.confirm = true;
  await pi.type("/ccc-init force ollama/nomic-embed-text");
  assert.equal(pi.asked.length, 2);
  assert.deepEqual(pi.requests("tools/call")[0].params.arguments, { force: true, litellm_model: "ollama/nomic-embed-text" });
  assert.deepEqual(pi.told, [["Initialized.", "info"]]);
});

test("/ccc-init asks nothing where it can only say why it does nothing", posix, async (t) => {
  const pi = await host(t, { mode: "rpc" });
  pi.say({ overview: ready, result: { content: [{ type: "text", text: "/p is a ccc project already. Its index exists. Use /ccc-search." }] } });
  await pi.type("/ccc-init");
  pi.say({ overview: { ...ready, state: "unavailable", message: "No ccc.", hint: "" } });
  await pi.type("/ccc-init");
  assert.deepEqual(pi.told, [["/p is a ccc project already. Its index exists. Use /ccc-search.", "info"], ["ccc ✗ No ccc.", "error"]]);
  assert.deepEqual([pi.asked, pi.requests("tools/call").length], [[], 1]);
});

test("the question of /ccc-init says what it does here", () => {
  const given = { cwd: "/p", force: false };
  const fresh = { ...unindexed, state: /** @type {const} */ ("none"), root: null, repository: null, init: /** @type {const} */ ("free") };
  const within = { ...fresh, repository: "/r", init: /** @type {const} */ ("within") };
  const none = { ...ready, has_model: false };
  const writes = "It writes .cocoindex_code/settings.yml in /p and adds .cocoindex_code to .gitignore.";
  assert.deepEqual(initQuestion(fresh, given), ["Make this directory a project for code search?", writes]);
  assert.deepEqual(initQuestion(fresh, { ...given, force: true }), initQuestion(fresh, given));
  assert.match(initQuestion({ ...fresh, has_model: false }, given)?.[1] ?? "", /all your projects: ccc's default one\.$/);
  assert.equal(initQuestion(fresh, { ...given, model: "openai/other" }), undefined);
  assert.equal(initQuestion(within, given), undefined);
  assert.match(initQuestion(within, { ...given, force: true })?.join(" ") ?? "", /directory alone\? It lies inside the repository \/r\. Searches/);
  assert.match(initQuestion({ ...within, root: "/r" }, { ...given, force: true })?.[1] ?? "", /inside the project \/r, which stays as it is/);
  assert.equal(initQuestion(ready, { ...given, force: true }), undefined);
  assert.deepEqual(initQuestion(none, { ...given, model: "a/b" }), ["Set the embedding model?", "It sets ccc's embedding model for all your projects: a/b."]);
});

test("/ccc-index outside git and any project says at once what to do", posix, async (t) => {
  const pi = await host(t, { mode: "rpc" });
  pi.say({ overview: { ...unindexed, state: "none", root: null, repository: null, message: "No project.", hint: "Use /ccc-init, then /ccc-index." } });
  await pi.type("/ccc-index");
  assert.deepEqual([pi.told, pi.asked], [[["ccc ✗ No project.\nUse /ccc-init, then /ccc-index.", "error"]], []]);
});

test("/ccc-index asks before a first index only", posix, async (t) => {
  const pi = await host(t, { mode: "rpc" });
  pi.say({ overview: unindexed, result: { content } });
  pi.answer.confirm = false;
  await pi.type("/ccc-index");
  assert.match(pi.asked[0].join(" "), /Build the index.*project of \/p/);
  assert.deepEqual(pi.requests("tools/call"), []);
  pi.say({ overview: ready, result: { content: [{ type: "text", text: "Indexed /p." }] } });
  await pi.type("/ccc-index");
  await until(() => pi.told.length === 2);
  assert.equal(pi.asked.length, 1);
  assert.deepEqual(pi.told[1], ["Indexed /p.", "info"]);
});

test("/ccc-index answers at once; while it runs, it and /ccc tell how far it is", posix, async (t) => {
  const pi = await host(t, { mode: "tui" });
  pi.say({ overview: ready, progress: "Indexing: 3 files done", hold: { method: "tools/call", until: path.join(pi.ctx.cwd, "never") } });
  await pi.type("/ccc-index");
  assert.match(pi.told[0][0], /^Indexing\. The footer shows/);
  await until(() => pi.requests("tools/call").length === 1);
  await pi.type("/ccc");
  await pi.type("/ccc-index");
  assert.match(pi.told[1][0], /\nIndexing: 3 files done$/);
  assert.deepEqual(pi.told[2], ["Indexing: 3 files done", "info"]);
  assert.equal(pi.requests("tools/call").length, 1);
});

test("an index run in the footer: it goes on until the run has ended", posix, async (t) => {
  const pi = await host(t, { mode: "rpc" });
  const go = path.join(pi.ctx.cwd, "go");
  pi.say({ status: "s", overview: ready });
  pi.emit("session_start");
  await until(() => pi.footers.length === 1);
  pi.say({ overview: ready, hold: { method: "tools/call", until: go }, result: { content } });
  await pi.type("/ccc-index");
  await until(() => pi.footers.length === 2);
  writeFileSync(go, "");
  await until(() => pi.footers.length === 3);
  assert.deepEqual(pi.footers, ["ccc ✓ 5,711 files", "ccc ● indexing 5,711 files", "ccc ✓ 5,711 files"]);
});

test("a background run of the agent is told instead of a second one", posix, async (t) => {
  const pi = await host(t, { mode: "rpc" });
  pi.say({ overview: { ...ready, job: { tool: "ccc_index", running: true, line: "/ccc-index is running in the background." } } });
  await pi.type("/ccc-index");
  assert.deepEqual([pi.told, pi.requests("tools/call")], [[["/ccc-index is running in the background.", "info"]], []]);
});

test("the end of a session says nothing of the index run that it ends", posix, async (t) => {
  const pi = await host(t, { mode: "tui" });
  pi.say({ overview: ready, hold: { method: "tools/call", until: path.join(pi.ctx.cwd, "never") } });
  await pi.type("/ccc-index");
  await pi.emit("session_shutdown");
  assert.equal(pi.told.length, 1);
});

test("where nobody can be asked nothing costly is done, and a failure is one of the process", posix, async (t) => {
  const pi = await host(t, { mode: "print" });
  pi.say({ overview: { ...unindexed, init: "free" } });
  const { write } = process.stderr;
  let said = "";
  process.stderr.write = /** @type {any} */ ((/** @type {string} */ text) => Boolean((said += text)));
  t.after(() => (process.exitCode = 0));
  try {
    await pi.type("/ccc-index");
    await pi.type("/ccc-init");
    await pi.type("/ccc-search");
  } finally {
    process.stderr.write = write;
  }
  assert.equal(process.exitCode, 1);
  assert.match(said, /Build the index.*\n.*nothing was done.*\nMake this directory.*\n.*nothing was done.*\nSay what to search for/);
  assert.deepEqual(pi.requests("tools/call"), []);
});

test("in JSON mode what is told is an entry of the stream", posix, async (t) => {
  const pi = await host(t, { mode: "json" });
  pi.say({ overview: ready });
  await pi.type("/ccc");
  assert.match(pi.entries[0].content, /^ccc ✓ 5,711 files/);
});
