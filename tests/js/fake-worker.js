/** A worker that misbehaves as its first argument says; run as a real process by the tests. */
import { spawn } from "node:child_process";
import { closeSync, existsSync, writeFileSync, writeSync } from "node:fs";

const [mode, argument] = process.argv.slice(2);

/** @param {object} message */
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

/** @type {Record<string, (request: any) => void>} */
const behaviours = {
  echo: (request) => {
    if (request.method === "cancel") return send({ id: request.params.id, error: { code: -32800, message: "cancelled" } });
    if (request.params.arguments?.wait) return undefined;
    for (const text of request.params.arguments?.progress ?? []) send({ method: "progress", params: { id: request.id, text } });
    return send({ id: request.id, result: request.params });
  },
  silent: () => {},
  failing: (request) => send({ id: request.id, error: { code: -32601, message: "no such method" } }),
  // Every byte alone, so that each frame and each character comes in pieces.
  bytewise: (request) => {
    const text = "line\u2028separator\u2029 \u0085 語 🙂";
    const frame = Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id: request.id, result: { text } })}\n`);
    const step = (/** @type {number} */ at) => {
      if (at < frame.length) process.stdout.write(frame.subarray(at, at + 1), () => setImmediate(step, at + 1));
    };
    step(0);
  },
  together: (request) => {
    const frames = [1, 2, 3].map((n) => JSON.stringify({ jsonrpc: "2.0", method: "progress", params: { id: request.id, text: `${n}` } }));
    process.stdout.write(`${frames.join("\n")}\n\n${JSON.stringify({ jsonrpc: "2.0", id: request.id, result: "all" })}\n`);
  },
  garbage: () => process.stdout.write("Loading model weights\n"),
  json: () => process.stdout.write('{"id":1,"result":"no jsonrpc member"}\n'),
  half: () => {
    process.stdout.write('{"jsonrpc":"2.0","id":1,"res');
    process.exitCode = 4;
    process.stdin.destroy();
  },
  huge: () => {
    for (let i = 0; i < 64; i++) process.stdout.write("x".repeat(64 * 1024));
  },
  loud: (request) => {
    for (let i = 0; i < 200; i++) process.stderr.write(`${"e".repeat(100_000)}\n`);
    process.stderr.write("\n", () => send({ id: request.id, result: "heard" }));
  },
  dying: () => {
    process.stderr.write("first\n\x1b[31mno module named bracex\x1b[0m\n\n");
    process.exitCode = 3;
    process.stdin.destroy();
  },
  hinting: () => {
    process.stderr.write("vera-ccc-tools: Python is too old.\nInstall a newer one.\n");
    process.exitCode = 1;
    process.stdin.destroy();
  },
  killed: () => process.kill(process.pid, "SIGKILL"),
  deaf: () => {
    closeSync(0);
    setInterval(() => {}, 1000);
    writeSync(2, "deaf\n");
  },
  mute: () => {
    closeSync(1);
    setInterval(() => {}, 1000);
  },
  orphaning: (request) => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit", detached: true });
    child.unref();
    writeFileSync(argument, String(child.pid));
    send({ id: request.id, result: child.pid });
    process.stdin.destroy();
  },
  preparing: (request) => {
    prepared += 1; // the test makes two calls before the first answer, and one after it
    process.stderr.write(prepared > 2 ? "a later log line\n" : "Making the Python environment\n");
    const wait = setInterval(() => {
      if (!existsSync(argument)) return;
      clearInterval(wait);
      send({ id: request.id, result: "ready" });
    }, 5);
  },
};

if (mode === "stubborn" || mode === "polite") setInterval(() => {}, 1000);
if (mode === "stubborn") process.on("SIGTERM", () => {});
if (mode === "polite") {
  process.on("SIGTERM", (signal) => {
    writeFileSync(argument, signal);
    process.exit();
  });
}

let prepared = 0;
let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) (behaviours[mode] ?? behaviours.echo)(JSON.parse(line));
});
