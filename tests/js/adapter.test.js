import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { placeSection } from "../../extension/person/status.js";
import { isRunning, until } from "./helpers.js";
import { host, posix, ROOT } from "./pi-host.js";

test("the factory registers the four tools and starts no process", posix, async (t) => {
  const pi = await host(t);
  assert.deepEqual([...pi.tools.keys()], ["ccc_search", "ccc_index", "ccc_init", "ccc_doctor"]);
  assert.deepEqual(pi.log, []);
});

test("what is registered is the table: schema as parameters, every guideline names its tool", posix, async (t) => {
  const table = JSON.parse(readFileSync(path.join(ROOT, "extension", "tools.json"), "utf8")).tools;
  const pi = await host(t);
  for (const { name, inputSchema, description, promptGuidelines } of table) {
    const tool = pi.tools.get(name);
    assert.deepEqual([tool.parameters, tool.description], [inputSchema, description]);
    for (const guideline of promptGuidelines ?? []) assert.match(guideline, new RegExp(name));
  }
});

test("the worker is started outside the project, as bootstrap.py worker, with UTF-8", posix, async (t) => {
  const pi = await host(t);
  await pi.call("ccc_search", { query: "q" });
  const { argv, cwd, utf8, io } = pi.log[0];
  assert.deepEqual([argv, cwd], [[path.join(ROOT, "vera_ccc_tools", "bootstrap.py"), "worker"], ROOT]);
  assert.deepEqual([utf8, io], ["1", "utf-8"]);
});

test("a call carries its name, its arguments and the session's directory; its result is returned", posix, async (t) => {
  const pi = await host(t);
  const result = await pi.call("ccc_search", { query: "q", limit: 3 });
  assert.deepEqual(result, { content: [{ type: "text", text: "found" }], details: { results: [] } });
  assert.deepEqual(pi.log[1].params, { name: "ccc_search", arguments: { query: "q", limit: 3 }, cwd: pi.ctx.cwd });
});

test("a result that says isError is thrown, with its text", posix, async (t) => {
  const pi = await host(t);
  pi.say({ result: { content: [{ type: "text", text: "not indexed\ncall ccc_index" }], isError: true, details: { code: "x" } } });
  await assert.rejects(pi.call("ccc_search", { query: "q" }), { message: "not indexed\ncall ccc_index" });
});

test("an answer without content is an error, not a crash", posix, async (t) => {
  const pi = await host(t);
  pi.say({ result: {} });
  await assert.rejects(pi.call("ccc_doctor", {}), /no content/);
});

test("an abort becomes a cancel for the worker, and the call is over though it does not answer", posix, async (t) => {
  const pi = await host(t);
  pi.say({ silent: true });
  const abort = new AbortController();
  const call = pi.call("ccc_index", {}, abort.signal);
  await until(() => pi.log.some((entry) => entry.method === "tools/call"));
  abort.abort();
  await assert.rejects(call, /cancelled/);
  await until(() => pi.log.some((entry) => entry.method === "cancel" && entry.params.id === 1));
});

test("without Python the tools stay registered, say what to install, and work once it is there", posix, async (t) => {
  const pi = await host(t);
  const python = process.env.VERA_CCC_PYTHON;
  delete process.env.VERA_CCC_PYTHON;
  const path = process.env.PATH;
  process.env.PATH = "";
  pi.load();
  assert.equal(pi.tools.size, 4);
  await pi.emit("session_start");
  await assert.rejects(pi.call("ccc_search", { query: "q" }), /Install Python 3\.11 or newer/);
  assert.match(await pi.prompt(), /^ccc: the ccc tools cannot run.*\nInstall Python 3\.11/);
  process.env.PATH = path;
  process.env.VERA_CCC_PYTHON = python;
  assert.ok(await pi.call("ccc_search", { query: "q" }));
});

test("session_start asks for the status at once, and the prompt shows it", posix, async (t) => {
  const pi = await host(t);
  assert.equal(pi.emit("session_start"), undefined, "it waits for nothing");
  assert.equal(await pi.prompt(), "ready");
  assert.deepEqual(pi.log[1].params, { cwd: pi.ctx.cwd });
});

test("a turn asks for nothing itself; the end of an agent run fetches the next text", posix, async (t) => {
  const pi = await host(t);
  pi.emit("session_start");
  await pi.prompt();
  pi.say({ status: "indexing" });
  assert.deepEqual([await pi.prompt(), await pi.prompt(), pi.statusCalls], ["ready", "ready", 1]);
  assert.equal(pi.emit("agent_end"), undefined, "it waits for nothing");
  assert.deepEqual([await pi.prompt(), pi.statusCalls], ["indexing", 2]);
});

test("ends of runs that come while a status is fetched are answered by one more", posix, async (t) => {
  const pi = await host(t);
  pi.emit("session_start");
  for (let i = 0; i < 5; i++) pi.emit("agent_end");
  await pi.prompt();
  assert.equal(pi.statusCalls, 2);
});

test("a turn waits at most half a second, then shows a neutral text, later the last known", posix, async (t) => {
  const pi = await host(t);
  pi.say({ silent: true });
  pi.emit("session_start");
  const began = performance.now();
  assert.match(await pi.prompt(), /not known yet/);
  const took = performance.now() - began;
  assert.ok(took > 450 && took < 900, `${took} ms`);
});

test("when a fetch fails the last known text stays, byte for byte", posix, async (t) => {
  const pi = await host(t);
  pi.emit("session_start");
  assert.equal(await pi.prompt(), "ready");
  process.kill(pi.log[0].started, "SIGKILL");
  await until(() => !isRunning(pi.log[0].started));
  process.env.VERA_CCC_PYTHON = "/bin/false";
  pi.emit("agent_end");
  assert.equal(await pi.prompt(), "ready");
});

test("a session that ends leaves no process, and the next one has its own", posix, async (t) => {
  const pi = await host(t);
  for (let session = 0; session < 3; session++) {
    pi.emit("session_start");
    await pi.call("ccc_doctor", {});
    await pi.emit("session_shutdown");
    pi.load();
  }
  const pids = pi.log.filter((entry) => entry.started).map((entry) => entry.started);
  assert.equal(new Set(pids).size, 3);
  assert.deepEqual(pids.filter(isRunning), []);
});

test("what comes after the end of a session starts nothing", posix, async (t) => {
  const pi = await host(t);
  await pi.emit("session_shutdown");
  pi.emit("agent_end");
  await assert.rejects(pi.call("ccc_doctor", {}), /session has ended/);
  assert.deepEqual(pi.log, []);
});

test("the section is put last, also where it stood before", () => {
  const sections = { "ccc-status": "old", other: "x" };
  assert.equal(placeSection({ systemPrompt: "base", systemPromptOptions: { sections } }, "new"), undefined);
  assert.deepEqual(Object.entries(sections), [["other", "x"], ["ccc-status", "new"]]);
});

test("a host without sections, and a forced prompt, get the section at the end of the prompt", () => {
  const expected = { systemPrompt: "base\n\n<ccc-status>\nready\n</ccc-status>" };
  for (const systemPromptOptions of [undefined, {}, { sections: {}, forceSystemPrompt: "base" }]) {
    assert.deepEqual(placeSection({ systemPrompt: "base", systemPromptOptions }, "ready"), expected);
  }
});

test("an empty text shows no section", () => {
  assert.equal(placeSection({ systemPrompt: "base" }, ""), undefined);
});
