import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const HERE = path.dirname(fileURLToPath(import.meta.url));

/**
 * How to start the fake worker in one of its modes.
 * @param {string} mode
 * @param {string} [argument]
 */
export function fake(mode, argument = "") {
  return () => ({ file: process.execPath, args: [path.join(HERE, "fake-worker.js"), mode, argument] });
}

/**
 * Whether a process runs; one that has ended and was not yet waited for by its parent does not.
 * @param {number} pid
 */
export function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/**
 * Wait until a condition holds; fail after so many ms.
 * @param {() => unknown} condition
 * @param {number} [ms]
 */
export async function until(condition, ms = 5000) {
  const end = performance.now() + ms;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`not within ${ms} ms: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/**
 * Run the host to its end.
 * @param {string[]} args
 */
export function runHost(...args) {
  const child = startHost(...args);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`the host did not end by itself: ${args}`));
    }, 10_000);
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.on("close", (code) => {
      clearTimeout(timer);
      const [pid, ...said] = output.trim().split("\n");
      resolve({ code, pid: Number(pid), said: said.join("\n"), output });
    });
  });
}

/** @param {string[]} args */
export function startHost(...args) {
  const command = [process.execPath, path.join(HERE, "host.js"), ...args];
  // The one host that must run out of descriptors is given few.
  const limited = args[0] === "exhausted" ? ["/bin/sh", "-c", 'ulimit -n 128; exec "$@"', "sh", ...command] : command;
  return spawn(limited[0], limited.slice(1), { stdio: ["ignore", "pipe", "inherit"] });
}

/**
 * A directory that is removed when the test ends.
 * @param {import("node:test").TestContext} t
 */
export function temporary(t) {
  const directory = mkdtempSync(path.join(tmpdir(), "vera-ccc-test-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
