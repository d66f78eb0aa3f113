/**
 * Stands for the interpreter: ignores the script it is given and answers as the worker, by what
 * the file named in FAKE_SCRIPT says at that moment.
 */
import { appendFileSync, readFileSync } from "node:fs";

const read = () => JSON.parse(readFileSync(/** @type {string} */ (process.env.FAKE_SCRIPT), "utf8"));
const log = (/** @type {object} */ entry) => appendFileSync(`${process.env.FAKE_SCRIPT}.log`, `${JSON.stringify(entry)}\n`);

/** @param {any} request */
function answer({ id, method, params }) {
  log({ method, params, pid: process.pid });
  const script = read();
  if (method === "cancel" || script.silent) return;
  const result = method === "status" ? { text: script.status } : script.result;
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
}

log({ started: process.pid, argv: process.argv.slice(2), cwd: process.cwd(), utf8: process.env.PYTHONUTF8, io: process.env.PYTHONIOENCODING });
let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) answer(JSON.parse(line));
});
