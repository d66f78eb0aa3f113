import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { LineSplitter } from "../../../extension/worker/frames.js";
import { Worker } from "../../../extension/worker/worker.js";
import { fake, isRunning, runHost, startHost, temporary, until } from "../helpers.js";

/** @param {import("node:test").TestContext} t @param {string} mode @param {{argument?: string, limits?: object}} [options] */
function start(t, mode, { argument, limits } = {}) {
  const worker = new Worker(fake(mode, argument), limits);
  t.after(() => worker.stop());
  return worker;
}

/** @param {Worker} worker @param {object} [args] @param {object} [options] */
const call = (worker, args = {}, options = {}) =>
  worker.request("tools/call", { name: "t", arguments: args }, { keepsAlive: true, ...options });

/** @param {() => Promise<unknown>} run @returns {Promise<number>} */
async function elapsed(run) {
  const began = performance.now();
  await run();
  return performance.now() - began;
}

test("a request is answered with what the worker says", async (t) => {
  const worker = start(t, "echo");
  assert.deepEqual(await call(worker, { query: "ä\u2028\n語" }), { name: "t", arguments: { query: "ä\u2028\n語" } });
});

test("many requests at once each get their own answer from one process", async (t) => {
  const worker = start(t, "echo");
  const answers = await Promise.all([...Array(50).keys()].map((n) => call(worker, { n })));
  assert.deepEqual(answers.map((answer) => answer.arguments.n), [...Array(50).keys()]);
});

test("progress comes before the answer and in order", async (t) => {
  const heard = [];
  await call(start(t, "echo"), { progress: ["one", "two"] }, { onProgress: (text) => heard.push(text) });
  assert.deepEqual(heard, ["one", "two"]);
});

test("a progress listener that throws costs nothing but its progress", async (t) => {
  const onProgress = () => {
    throw new Error("the row is gone");
  };
  assert.ok(await call(start(t, "echo"), { progress: ["one"] }, { onProgress }));
});

test("a frame that comes byte by byte is whole, with U+2028 and characters of many bytes", async (t) => {
  assert.deepEqual(await call(start(t, "bytewise")), { text: "line\u2028separator\u2029 \u0085 語 🙂" });
});

test("frames that come together are taken apart, empty lines passed over", async (t) => {
  const heard = [];
  assert.equal(await call(start(t, "together"), {}, { onProgress: (text) => heard.push(text) }), "all");
  assert.deepEqual(heard, ["1", "2", "3"]);
});

test("an error answer is a rejection with its message", async (t) => {
  await assert.rejects(call(start(t, "failing")), { message: "no such method" });
});

test("a worker that dies fails its calls with its last words, and the next call starts another", async (t) => {
  const modes = ["dying", "echo"];
  const worker = new Worker(() => fake(modes.shift() ?? "echo")());
  t.after(() => worker.stop());
  await assert.rejects(Promise.all([call(worker), call(worker)]), {
    message: "The ccc worker ended (exit code 3): no module named bracex",
  });
  assert.ok(await call(worker));
});

test("a worker that is killed fails its calls with the signal's name", { skip: process.platform === "win32" }, async (t) => {
  await assert.rejects(call(start(t, "killed")), { message: "The ccc worker ended (SIGKILL)" });
});

test("a message of the worker's own is told with its hint", async (t) => {
  await assert.rejects(call(start(t, "hinting")), { message: "The ccc worker ended (exit code 1): Python is too old. Install a newer one." });
});

test("a worker that ends in the middle of a frame fails the call", async (t) => {
  await assert.rejects(call(start(t, "half")), /The ccc worker ended \(exit code 4\)/);
});

for (const [mode, quoted] of [["garbage", "Loading model weights"], ["json", "no jsonrpc member"]]) {
  test(`output that is not the protocol (${mode}) ends the worker and is quoted`, async (t) => {
    const worker = start(t, mode);
    const answer = call(worker);
    await until(() => worker.pid);
    const { pid } = worker;
    await assert.rejects(answer, (error) => /not its protocol/.test(error.message) && error.message.includes(quoted));
    assert.ok(!isRunning(pid));
  });
}

test("a line without end is cut off, and the worker with it", async (t) => {
  const worker = start(t, "huge", { limits: { frame: 1024 * 1024 } });
  await assert.rejects(call(worker), (error) => error.message.length < 300 && /not its protocol: "xxx/.test(error.message));
});

test("a flood on stderr neither blocks the worker nor fills the memory", async (t) => {
  const before = process.memoryUsage().heapUsed;
  assert.equal(await call(start(t, "loud")), "heard");
  assert.ok(process.memoryUsage().heapUsed - before < 30e6);
});

test("a worker that has closed its stdin is ended at the next write, and every call fails", async (t) => {
  const worker = start(t, "deaf", { limits: { broken: 50 } });
  const heard = [];
  const first = call(worker, {}, { onProgress: (text) => heard.push(text) }).catch((error) => error);
  await until(() => heard.includes("deaf"));
  const { pid } = worker;
  await assert.rejects(call(worker), { message: "The ccc worker closed its input: deaf" });
  assert.equal((await first).message, "The ccc worker closed its input: deaf");
  await until(() => !isRunning(/** @type {number} */ (pid)));
});

test("a worker that has closed its stdout is ended, and its call fails", async (t) => {
  const worker = start(t, "mute", { limits: { broken: 50 } });
  const answer = call(worker);
  await until(() => worker.pid);
  const { pid } = worker;
  await assert.rejects(answer, { message: "The ccc worker closed its output" });
  await until(() => !isRunning(/** @type {number} */ (pid)));
});

test("three deaths within a minute are told instead of a fourth start", async (t) => {
  const worker = start(t, "dying");
  for (let death = 0; death < 3; death++) await assert.rejects(call(worker), /ended \(exit code 3\)/);
  await assert.rejects(call(worker), /died 3 times within a minute.* \d+ s.*no module named bracex/);
  assert.equal(worker.pid, undefined);
});

test("after the minute it is started again", async (t) => {
  const worker = start(t, "dying", { limits: { deaths: 1, deathWindow: 100 } });
  await assert.rejects(call(worker), /exit code 3/);
  await assert.rejects(call(worker), /died 1 times/);
  /** @type {Error[]} */
  const told = [];
  await until(() => {
    call(worker).catch((error) => told.push(error));
    return told.some((error) => /exit code 3/.test(error.message) && !/died/.test(error.message));
  });
});

test("a call that is aborted tells the worker and is rejected by its answer", async (t) => {
  const abort = new AbortController();
  const worker = start(t, "echo");
  const answer = call(worker, { wait: true }, { signal: abort.signal });
  abort.abort();
  await assert.rejects(answer, { message: "The call was cancelled." });
  assert.ok(await call(worker), "the worker goes on");
});

test("an abort that the worker does not answer is over within its bound", async (t) => {
  const abort = new AbortController();
  const worker = start(t, "silent", { limits: { cancel: 80 } });
  const answer = call(worker, {}, { signal: abort.signal });
  abort.abort();
  const took = await elapsed(() => assert.rejects(answer, { message: "The call was cancelled." }));
  assert.ok(took < 1000, `${took} ms`);
});

test("a call aborted before it began is not sent", async (t) => {
  await assert.rejects(call(start(t, "silent"), {}, { signal: AbortSignal.abort() }), { message: "The call was cancelled." });
});

test("a request too long for the worker fails alone", async (t) => {
  const worker = start(t, "echo", { limits: { request: 1000 } });
  const other = call(worker);
  await assert.rejects(call(worker, { query: "q".repeat(1000) }), /arguments of the call are too long/);
  assert.ok(await other);
});

test("an executable that is not there is a rejection, every time", async (t) => {
  const worker = new Worker(() => ({ file: "/nowhere/python3", args: [] }), { deaths: 9 });
  t.after(() => worker.stop());
  for (let i = 0; i < 2; i++) await assert.rejects(call(worker), /could not be started.*ENOENT/);
});

test("a host without a free descriptor is told and lives on", { skip: process.platform === "win32" }, async () => {
  const { code, output } = await runHost("exhausted", "echo");
  assert.equal(code, 0);
  assert.match(output, /could not be started/);
});

test("a launch that fails leaves no handle: the next call starts afresh", async (t) => {
  const launches = [() => assert.fail("no Python"), fake("echo")];
  const worker = new Worker(() => /** @type {any} */ (launches.shift())());
  t.after(() => worker.stop());
  await assert.rejects(call(worker), /no Python/);
  assert.ok(await call(worker));
});

test("before the first answer a call's progress is what the worker says on stderr, afterwards not", async (t) => {
  const go = path.join(temporary(t), "go");
  const heard = [];
  const worker = start(t, "preparing", { argument: go });
  const answer = call(worker, {}, { onProgress: (text) => heard.push(text) });
  await until(() => heard.length > 0);
  const later = call(worker, {}, { onProgress: (text) => heard.push(text) });
  writeFileSync(go, "");
  await later;
  assert.equal(await answer, "ready");
  assert.equal(await call(worker, {}, { onProgress: (text) => heard.push(text) }), "ready");
  assert.deepEqual(new Set(heard), new Set(["Making the Python environment"]));
  assert.ok(heard.length >= 2, "a call that comes later hears it too");
});

test("the worker leads a process group of its own, which a terminal's Ctrl-C does not reach", { skip: process.platform === "win32" }, async (t) => {
  const worker = start(t, "echo");
  await call(worker);
  assert.ok(process.kill(-/** @type {number} */ (worker.pid), 0));
});

test("stop ends the process by closing its stdin", async (t) => {
  const worker = start(t, "echo");
  await call(worker);
  const pid = /** @type {number} */ (worker.pid);
  await worker.stop();
  assert.ok(!isRunning(pid));
  await assert.rejects(call(worker), { message: "The session has ended." });
});

test("stop kills a process that does not end by itself", async (t) => {
  const worker = start(t, "stubborn", { limits: { stop: 100, terminate: 100 } });
  await call(worker);
  const pid = /** @type {number} */ (worker.pid);
  const took = await elapsed(() => worker.stop());
  assert.ok(took < 1000, `${took} ms`);
  assert.ok(!isRunning(pid));
});

test("stop sends a polite signal to a process that does not read its stdin", { skip: process.platform === "win32" }, async (t) => {
  const file = path.join(temporary(t), "said");
  const worker = start(t, "polite", { argument: file, limits: { stop: 100 } });
  await call(worker);
  await worker.stop();
  assert.equal(readFileSync(file, "utf8"), "SIGTERM");
});

test("stop before any start, and twice, is quiet", async (t) => {
  const worker = start(t, "echo");
  await worker.stop();
  await worker.stop();
});

test("an idle worker does not keep its host, and ends with it", async () => {
  const { code, pid } = await runHost("status", "silent");
  assert.equal(code, 0);
  await until(() => !isRunning(pid));
});

test("a pending call keeps its host until it is answered", async () => {
  const { code, said } = await runHost("call", "bytewise");
  assert.equal(code, 0);
  assert.match(said, /語/);
});

test("a call whose worker dies is told in a host that has nothing else to do", async () => {
  assert.match((await runHost("call", "dying")).said, /no module named bracex/);
});

test("a host that stops a stubborn worker ends, and its pending call is told", async () => {
  const { pid, said } = await runHost("stop", "stubborn");
  assert.equal(said, "The session has ended.");
  assert.ok(!isRunning(pid));
});

test("a grandchild that keeps the pipes open keeps neither the call nor the host", async (t) => {
  const file = path.join(temporary(t), "pid");
  const { code, said } = await runHost("call", "orphaning", file);
  assert.equal(code, 0);
  process.kill(Number(readFileSync(file, "utf8")), "SIGKILL");
  assert.equal(said, readFileSync(file, "utf8"));
});

test("a host that is killed leaves no worker", { skip: process.platform === "win32" }, async () => {
  const host = startHost("linger", "echo");
  const pid = await new Promise((resolve) => host.stdout.once("data", (chunk) => resolve(Number(String(chunk).split("\n")[0]))));
  assert.ok(isRunning(pid));
  host.kill("SIGKILL");
  await until(() => !isRunning(pid));
});

test("the splitter gives a last line without LF only at the end", () => {
  const lines = [];
  const splitter = new LineSplitter(100, (line) => lines.push(line), () => assert.fail());
  splitter.push(Buffer.from("a\r\nb"));
  assert.deepEqual(lines, ["a\r"]);
  splitter.end();
  assert.deepEqual(lines, ["a\r", "b"]);
});
