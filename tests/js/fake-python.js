/**
 * Stands for the interpreter: ignores the script it is given and answers as the worker, by what
 * the file named in FAKE_SCRIPT says at that moment.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";

const NOTHING = { state: "none", root: null, files: 0, chunks: 0, languages: {}, progress: null, job: null, fresh: null, message: "none", hint: "" };
const read = () => JSON.parse(readFileSync(/** @type {string} */ (process.env.FAKE_SCRIPT), "utf8"));
const log = (/** @type {object} */ entry) => appendFileSync(`${process.env.FAKE_SCRIPT}.log`, `${JSON.stringify(entry)}\n`);

/** @param {any} request */
function answer({ id, method, params }) {
  log({ method, params, pid: process.pid });
  const script = read();
  if (method === "cancel" || script.silent) return;
  const results = { status: { text: script.status }, overview: script.overview ?? NOTHING, sync: script.sync };
  const said = script.errors?.[method] ? { error: script.errors[method] } : { result: method in results ? results[method] : script.result };
  if (script.progress && method === "tools/call") send({ method: "progress", params: { id, text: script.progress } });
  if (method === script.hold?.method) return release(script.hold.until, () => send({ id, ...said }));
  send({ id, ...said });
}

/** @param {string} file @param {() => void} answer given once the file is there */
function release(file, answer) {
  const wait = setInterval(() => {
    if (!existsSync(file)) return;
    clearInterval(wait);
    answer();
  }, 5);
}

/** @param {object} message */
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

log({ started: process.pid, argv: process.argv.slice(2), cwd: process.cwd(), utf8: process.env.PYTHONUTF8, io: process.env.PYTHONIOENCODING });
let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) answer(JSON.parse(line));
});
