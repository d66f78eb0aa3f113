import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { Footer, footerText } from "../../../extension/person/footer.js";
import { temporary, until } from "../helpers.js";
import { host, posix } from "../pi-host.js";

const NOTHING = { state: "none", root: null, files: 0, chunks: 0, languages: {}, progress: null, job: null, fresh: null, message: "", hint: "" };
/** @param {object} changes @returns {any} */
const seen = (changes) => ({ ...NOTHING, ...changes });
const ready = seen({ state: "ready", root: "/p", files: 5711 });
const unindexed = seen({ state: "unindexed", root: "/p" });

test("the footer tells the state of the index, and nothing where nobody made a project", () => {
  const run = { tool: "ccc_index", running: true, line: "" };
  assert.equal(footerText(ready), "ccc ✓ 5,711 files");
  assert.equal(footerText(seen({ ...ready, files: 1 })), "ccc ✓ 1 file");
  assert.equal(footerText(seen({ state: "indexing", root: "/p", files: 3, progress: { done: 1204 } })), "ccc ● indexing 1,204 files");
  assert.equal(footerText(seen({ state: "indexing", root: "/p" })), "ccc ● indexing");
  assert.equal(footerText(seen({ job: run })), "ccc ● indexing");
  assert.equal(footerText(seen({ job: { ...run, tool: "ccc_init" } })), "ccc ● initializing");
  assert.equal(footerText(ready, { isHeld: true }), "ccc ● indexing 5,711 files");
  assert.equal(footerText(unindexed), "ccc ✗ not indexed");
  assert.equal(footerText(seen({ state: "empty", root: "/p" })), "ccc ✗ empty index");
  assert.equal(footerText(seen({ state: "unavailable", root: "/p" })), "ccc ✗ not available");
  assert.equal(footerText(NOTHING), undefined);
  assert.equal(footerText(seen({ state: "unavailable" })), undefined);
  assert.equal(footerText(NOTHING, { isAsked: true }), "ccc ✗ not indexed");
  assert.equal(footerText(ready, { theme: /** @type {any} */ ({ fg: (/** @type {string} */ colour, /** @type {string} */ text) => `${colour}:${text}` }) }), "dim:ccc success:✓ dim:5,711 files");
});

/**
 * A footer with a worker that answers by a list, the last answer again and again, and what a person saw of it.
 * @param {import("node:test").TestContext} t
 * @param {any[]} answers errors are thrown
 * @param {{env?: object, mode?: string, cwd?: string, cache?: string}} [options]
 */
function footer(t, answers, { env = {}, mode = "rpc", cwd = temporary(t), cache = temporary(t) } = {}) {
  const looks = /** @type {any} */ ({ footers: [], told: [], changes: 0, count: 0 });
  const worker = { request: async () => {
    looks.count += 1;
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer instanceof Error) throw answer;
    return answer;
  } };
  const person = { cwd, isThere: mode === "rpc", setFooter: (/** @type {any} */ text) => looks.footers.push(text), say: async (/** @type {any} */ ...words) => looks.told.push(words) };
  const made = new Footer(/** @type {any} */ (worker), () => (looks.changes += 1), { first: 1, most: 1, failures: 6 });
  t.after(() => made.end());
  made.begin(/** @type {any} */ (person), { XDG_CACHE_HOME: cache, LOCALAPPDATA: cache, ...env });
  return { made, looks, person };
}

test("it looks once where nothing goes on, and again and again while an index run does", async (t) => {
  const idle = footer(t, [ready]);
  const busy = footer(t, [seen({ state: "indexing", root: "/p", progress: { done: 3 } }), seen({ ...ready, job: { tool: "ccc_index", running: true, line: "" } }), ready]);
  await until(() => busy.looks.footers.length === 3);
  assert.deepEqual(busy.looks.footers, ["ccc ● indexing 3 files", "ccc ● indexing 5,711 files", "ccc ✓ 5,711 files"]);
  assert.deepEqual([idle.looks.count, busy.looks.count], [1, 3]);
});

test("while a command runs it keeps looking, whatever the index says yet", async (t) => {
  const { made, looks } = footer(t, [unindexed]);
  await until(() => looks.footers.length === 1);
  let end = () => {};
  made.hold(new Promise((resolve) => (end = () => resolve(undefined))));
  await until(() => looks.count > 4);
  end();
  await until(() => looks.footers.length === 3);
  assert.deepEqual(looks.footers, ["ccc ✗ not indexed", "ccc ● indexing", "ccc ✗ not indexed"]);
});

test("while a command tells how far it is, the footer shows the same number, and no longer", async (t) => {
  const { made, looks } = footer(t, [ready]);
  await until(() => looks.footers.length === 1);
  made.hear({ done: 7 });
  let end = () => {};
  made.hold(new Promise((resolve) => (end = () => resolve(undefined))));
  for (const numbers of [{ done: 0 }, { done: 1 }, {}, { done: 1204 }]) made.hear(numbers);
  end();
  await until(() => looks.footers.length === 6);
  assert.deepEqual(looks.footers.slice(1), ["ccc ● indexing 5,711 files", "ccc ● indexing", "ccc ● indexing 1 file", "ccc ● indexing 1,204 files", "ccc ✓ 5,711 files"]);
});

test("a background command that has failed is told, and what the model is told is fetched anew", async (t) => {
  const job = { tool: "ccc_index", running: true, line: "" };
  const line = "/ccc-index in the background failed: no model.";
  const { looks } = footer(t, [seen({ ...unindexed, job }), seen({ ...unindexed, job: { ...job, running: false, failed: true, line } })]);
  await until(() => looks.changes === 1);
  assert.deepEqual(looks.told.at(-1), ["/ccc-index in the background failed: no model.", "error"]);
});

test("a daemon that is only starting is not told of; one that does not come is, and then it looks no more", async (t) => {
  const missing = seen({ state: "unavailable", root: "/p" });
  const starting = footer(t, [missing, new Error("late"), ready]);
  await until(() => starting.looks.footers.length === 1);
  assert.deepEqual(starting.looks.footers, ["ccc ✓ 5,711 files"]);
  const gone = footer(t, [missing]);
  await until(() => gone.looks.count === 6);
  assert.deepEqual([gone.looks.footers, gone.looks.count], [["ccc ✗ not available"], 6]);
});

test("one that comes back later changes what the model is told", async (t) => {
  const { made, looks } = footer(t, [seen({ state: "unavailable" }), ready]);
  await until(() => looks.count === 1);
  made.look();
  await until(() => looks.changes === 1);
});

test("the end of a session takes away what it has shown", async (t) => {
  const { made, looks } = footer(t, [ready]);
  await until(() => looks.footers.length === 1);
  made.end();
  assert.deepEqual(looks.footers, ["ccc ✓ 5,711 files", undefined]);
});

test("a session that has ended, or whose worker cannot start, shows nothing", async (t) => {
  const { made, looks } = footer(t, [seen({ state: "indexing", root: "/p" })]);
  made.end();
  await until(() => looks.count === 1);
  const broken = footer(t, [new Error("Install Python")]);
  await until(() => broken.looks.count === 6);
  assert.deepEqual([looks.footers, broken.looks.footers, broken.looks.told], [[], [], []]);
});

for (const off of ["0", "no", " OFF ", "false"]) {
  test(`VERA_CCC_FOOTER=${off} turns it off: nothing is asked or shown`, async (t) => {
    const { made, looks } = footer(t, [unindexed], { env: { VERA_CCC_FOOTER: off } });
    made.ask();
    await Promise.resolve();
    assert.deepEqual([looks.count, looks.footers, looks.told], [0, [], []]);
  });
}

test("where nobody sees it, nothing is asked", async (t) => {
  assert.equal(footer(t, [unindexed], { mode: "print" }).looks.count, 0);
});

test("a project without an index gets its line once, in this session and in all later ones", async (t) => {
  const cache = temporary(t);
  const lines = async (/** @type {string} */ root) => {
    const { looks } = footer(t, [seen({ ...unindexed, root })], { cwd: root, cache });
    await until(() => looks.footers.length === 1);
    return looks.told.filter((/** @type {string[]} */ [text]) => /\/ccc-index builds one/.test(text)).length;
  };
  const later = () => delete (/** @type {any} */ (globalThis)[Symbol.for("vera-ccc-tools.said")]);
  const [one, other] = [temporary(t), temporary(t)];
  assert.deepEqual([await lines(one), await lines(one), later() && (await lines(one)), await lines(other)], [1, 0, 0, 1]);
});

test("a home directory that is a repository is no project to be", async (t) => {
  const home = temporary(t);
  const cwd = path.join(home, "notes");
  mkdirSync(path.join(home, ".git"));
  mkdirSync(cwd);
  const variable = process.platform === "win32" ? "USERPROFILE" : "HOME";
  const before = process.env[variable];
  t.after(() => (process.env[variable] = before));
  process.env[variable] = home;
  const { looks } = footer(t, [NOTHING], { cwd });
  await until(() => looks.count === 1);
  await Promise.resolve();
  assert.deepEqual(looks.told, []);
});

test("where the cache cannot be written the line is said once in a process", async (t) => {
  const root = temporary(t);
  const cache = path.join(root, "file");
  writeFileSync(cache, "");
  for (const expected of [1, 0]) {
    const { looks } = footer(t, [seen({ ...unindexed, root })], { cwd: root, cache });
    await until(() => looks.footers.length === 1);
    assert.equal(looks.told.length, expected);
  }
});

test("a repository that is no project gets the line and no footer, another directory neither", async (t) => {
  const repository = path.join(temporary(t), "a", "b");
  mkdirSync(repository, { recursive: true });
  const outside = footer(t, [NOTHING]);
  await until(() => outside.looks.count === 1);
  writeFileSync(path.join(repository, "..", ".git"), "gitdir: elsewhere");
  const inside = footer(t, [NOTHING], { cwd: repository });
  await until(() => inside.looks.told.length === 1);
  assert.deepEqual([outside.looks.told, outside.looks.footers, inside.looks.footers], [[], [], []]);
});

test("the extension shows it from the start of a session, and anew after each run of the agent", posix, async (t) => {
  const pi = await host(t, { mode: "rpc" });
  pi.say({ status: "ready", overview: ready });
  pi.emit("session_start");
  await until(() => pi.footers.length === 1);
  pi.say({ status: "ready", overview: { ...ready, files: 5712 } });
  pi.emit("agent_end");
  await until(() => pi.footers.length === 2);
  assert.deepEqual(pi.footers, ["ccc ✓ 5,711 files", "ccc ✓ 5,712 files"]);
});
