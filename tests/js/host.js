/**
 * A host that uses a worker as its arguments say and then has nothing more to do: it must end by
 * itself. Prints the worker's process id, then what a call said.
 */
import { openSync } from "node:fs";
import { Worker } from "../../extension/worker/worker.js";
import { fake } from "./helpers.js";

const [what, mode, argument] = process.argv.slice(2);
const worker = new Worker(fake(mode, argument));

const uses = {
  status: () => void worker.request("status", {}).catch(() => {}),
  call: () => worker.request("tools/call", {}, { keepsAlive: true }).then(console.log, (error) => console.log(error.message)),
  stop: async () => {
    const answer = worker.request("tools/call", {}, { keepsAlive: true }).catch((error) => error.message);
    await worker.stop();
    console.log(await answer);
  },
  exhausted: () => {
    try {
      for (;;) openSync("/dev/null", "r");
    } catch {
      return uses.call();
    }
  },
  linger: () => void worker.request("status", {}).catch(() => {}).finally(() => setInterval(() => {}, 1000)),
};

const done = uses[/** @type {keyof typeof uses} */ (what)]();
await Promise.resolve();
console.log(worker.pid);
if (what === "linger") setInterval(() => {}, 1000);
await done;
