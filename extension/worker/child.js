/**
 * One worker process from its start to its end: requests out, answers and progress in.
 *
 * Nothing here keeps the host alive but a pending call; nothing that happens to the process
 * reaches the host but as a rejected promise.
 */
import { spawn } from "node:child_process";
import { LineSplitter } from "./frames.js";
import { plain } from "../views/text.js";

const CANCELLED = -32800;
/** what begins a message of the worker's own on its stderr */
const OURS = /^vera-ccc-tools: /;

/**
 * @typedef {{file: string, args: string[], cwd?: string, env?: NodeJS.ProcessEnv}} Launch what to start, and where
 * @typedef {typeof LIMITS} Limits
 * @typedef {{done?: number, listed?: number, total?: number, seconds?: number}} Numbers how far a call is
 * @typedef {(text: string, numbers: Numbers) => void} OnProgress
 * @typedef {{signal?: AbortSignal, onProgress?: OnProgress, keepsAlive?: boolean}} RequestOptions
 * @typedef {{resolve: (value: any) => void, reject: (error: Error) => void} & RequestOptions} Pending
 */

export const LIMITS = {
  /** characters of a line on the worker's stdout; its answers are bounded far below this */
  frame: 16 * 1024 * 1024,
  /** bytes of a request; the worker takes 8 MiB */
  request: 7 * 1024 * 1024,
  /** characters of a line on its stderr */
  stderrLine: 4096,
  /** ms that a cancelled request may take to answer */
  cancel: 1000,
  /** ms between the first sign that a pipe is broken and the end of the process */
  broken: 500,
  /** ms that the worker has to end by itself when its stdin closes */
  stop: 1500,
  /** ms that it has after a polite signal; while it makes its environment it does not read its stdin */
  terminate: 500,
  /** ms that a killed process has to be gone */
  kill: 1000,
  deaths: 3,
  /** ms within which so many deaths are too many */
  deathWindow: 60_000,
};

export class Child {
  #process;
  #limits;
  #onDeath;
  /** @type {Map<number, Pending>} */
  #pending = new Map();
  #lastId = 0;
  #lastLines = ["", ""];
  #hasSpoken = false;
  #stopping = false;
  /** @type {string | undefined} why it was killed, where it did not end by itself */
  #verdict;
  /** @type {() => void} */
  #markEnded = () => {};
  #isOver = false;
  /** @type {Promise<void>} */
  #ended = new Promise((resolve) => (this.#markEnded = resolve));

  /**
   * @param {Launch} launch
   * @param {Limits} limits
   * @param {(reason: string) => void} onDeath called once, unless the process was stopped
   */
  constructor(launch, limits, onDeath) {
    this.#limits = limits;
    this.#onDeath = onDeath;
    this.#process = spawn(launch.file, launch.args, {
      cwd: launch.cwd,
      env: launch.env,
      stdio: "pipe",
      windowsHide: true,
      // A session of its own: the terminal's Ctrl-C is for the host. Windows gives a hidden child its own console.
      detached: process.platform !== "win32",
    });
    this.#listen();
    this.#holdHost(false);
  }

  get pid() {
    return this.#process.pid;
  }

  /**
   * @param {string} method
   * @param {object} params
   * @param {RequestOptions} options
   * @returns {Promise<any>} the result; rejects with an Error that a person can read
   */
  request(method, params, options) {
    const { signal, keepsAlive } = options;
    if (this.#isOver) return Promise.reject(new Error("The ccc worker has ended."));
    if (signal?.aborted) return Promise.reject(cancelled());
    const id = ++this.#lastId;
    const frame = encode({ id, method, params });
    if (frame.length > this.#limits.request) return Promise.reject(tooLong(frame.length));
    const answer = new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject, ...options }));
    this.#process.stdin.write(frame);
    if (keepsAlive) this.#holdHost(true);
    if (!this.#hasSpoken && this.#lastLines[1]) tell(this.#pending.get(id), { text: this.#lastLines[1].replace(OURS, "") });
    return this.#cancellable(id, answer, signal).finally(() => this.#forget(id));
  }

  /** End the process: close its stdin, wait, kill. Resolves when it is gone, within a bound. */
  async stop() {
    this.#stopping = true;
    this.#rejectAll("The session has ended.");
    this.#process.stdin.end();
    if (await this.#isGoneWithin(this.#limits.stop)) return;
    this.#kill("SIGTERM");
    if (await this.#isGoneWithin(this.#limits.terminate)) return;
    this.#kill("SIGKILL");
    await this.#isGoneWithin(this.#limits.kill);
    this.#letGo();
  }

  #listen() {
    const { stdin, stdout, stderr } = this.#process;
    this.#process.on("error", (error) => this.#end(`could not be started (${error.message})`));
    this.#process.on("exit", (code, signal) => this.#exited(code, signal));
    if (!stdin) throw new Error("The ccc worker could not be started: too many files are open.");
    stdin.on("error", () => this.#endSoon("closed its input"));
    for (const stream of [stdout, stderr]) stream.on("error", () => {});
    this.#read(stdout, stderr);
  }

  /**
   * @param {import("node:stream").Readable} stdout
   * @param {import("node:stream").Readable} stderr
   */
  #read(stdout, stderr) {
    const frames = new LineSplitter(this.#limits.frame, this.#receive, this.#violate);
    const words = new LineSplitter(this.#limits.stderrLine, this.#note, this.#note);
    stdout.on("data", (chunk) => {
      if (!this.#verdict) frames.push(chunk);
    });
    stdout.on("end", () => this.#endSoon("closed its output"));
    stderr.on("data", (chunk) => words.push(chunk));
    stderr.on("end", () => words.end());
  }

  /** @param {string} line */
  #receive = (line) => {
    if (this.#verdict || line.trim() === "") return;
    const message = parse(line);
    if (!message) return this.#violate(line);
    this.#hasSpoken = true;
    if (message.method === "progress") tell(this.#pending.get(message.params?.id), message.params ?? {});
    else if (!message.method) this.#settle(message);
  };

  /** @param {any} message */
  #settle({ id, result, error }) {
    // A late answer to a request that was given up is nobody's.
    const pending = this.#pending.get(id);
    if (!error) pending?.resolve(result);
    else pending?.reject(error.code === CANCELLED ? cancelled() : new Error([error.message, error.data?.hint].filter(Boolean).join("\n")));
  }

  /** @param {string} line */
  #violate = (line) => {
    this.#verdict ??= `wrote what is not its protocol: ${JSON.stringify(plain(line.slice(0, 80)))}`;
    this.#kill("SIGKILL");
  };

  /** @param {string} line */
  #note = (line) => {
    const words = plain(line).slice(0, 500);
    if (words === "") return;
    this.#lastLines = [this.#lastLines[1], words];
    // Before its first answer it may be making its environment, and its stderr says how far it is.
    if (this.#hasSpoken) return;
    for (const pending of this.#pending.values()) tell(pending, { text: words.replace(OURS, "") });
  };

  /** The last line on its stderr; a message of its own with a hint has two. */
  #lastWords() {
    const [before, last] = this.#lastLines;
    return (OURS.test(before) ? `${before} ${last}` : last).replace(OURS, "");
  }

  /**
   * @param {number} id
   * @param {Promise<any>} answer
   * @param {AbortSignal | undefined} signal
   */
  #cancellable(id, answer, signal) {
    if (!signal) return answer;
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    const cancel = () => {
      this.#process.stdin.write(encode({ method: "cancel", params: { id } }));
      timer = setTimeout(() => this.#pending.get(id)?.reject(cancelled()), this.#limits.cancel);
    };
    signal.addEventListener("abort", cancel, { once: true });
    return answer.finally(() => {
      clearTimeout(timer);
      signal.removeEventListener("abort", cancel);
    });
  }

  /** @param {number} id */
  #forget(id) {
    this.#pending.delete(id);
    if (![...this.#pending.values()].some((pending) => pending.keepsAlive)) this.#holdHost(false);
  }

  /** @param {string} message */
  #rejectAll(message) {
    for (const pending of this.#pending.values()) pending.reject(new Error(message));
  }

  /**
   * Keep the host's event loop running for the process and its pipes, or not.
   * @param {boolean} hold
   */
  #holdHost(hold) {
    const verb = hold && !this.#isOver ? "ref" : "unref";
    for (const handle of [this.#process, ...this.#streams()]) handle[verb]();
  }

  /**
   * A process that lives on without a pipe can answer nobody. Its normal end closes the pipes first.
   * @param {string} what
   */
  #endSoon(what) {
    if (this.#isOver || this.#stopping) return;
    const timer = setTimeout(() => {
      this.#verdict ??= what;
      this.#kill("SIGKILL");
    }, this.#limits.broken);
    this.#ended.then(() => clearTimeout(timer));
  }

  /**
   * @param {number | null} code
   * @param {NodeJS.Signals | null} signal
   */
  #exited(code, signal) {
    const reason = this.#verdict ?? `ended (${signal ?? `exit code ${code}`})`;
    // What it wrote last may still be in the pipes, which a grandchild may hold open for ever.
    const timer = setTimeout(() => this.#end(reason), this.#limits.broken);
    this.#process.once("close", () => {
      clearTimeout(timer);
      this.#end(reason);
    });
  }

  /** @param {string} reason */
  #end(reason) {
    if (this.#isOver) return;
    this.#isOver = true;
    const words = this.#lastWords();
    const death = `The ccc worker ${reason}${words && `: ${words}`}`;
    if (!this.#stopping) this.#onDeath(death);
    this.#rejectAll(death);
    this.#letGo();
    this.#markEnded();
  }

  /** @param {NodeJS.Signals} signal */
  #kill(signal) {
    try {
      if (process.platform !== "win32" && this.pid) process.kill(-this.pid, signal);
    } catch {
      // Its group is gone, or it does not lead one yet.
    }
    this.#process.kill(signal);
  }

  #letGo() {
    for (const stream of this.#streams()) stream.destroy();
    this.#holdHost(false);
  }

  /** Its pipes, as sockets: none when the host had no descriptor left for them. */
  #streams() {
    const { stdin, stdout, stderr } = this.#process;
    return /** @type {import("node:net").Socket[]} */ ([stdin, stdout, stderr].filter(Boolean));
  }

  /** @param {number} ms */
  async #isGoneWithin(ms) {
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    const late = new Promise((resolve) => (timer = setTimeout(resolve, ms, false)));
    const gone = await Promise.race([this.#ended.then(() => true), late]);
    clearTimeout(timer);
    return gone;
  }
}

/**
 * @param {Pending | undefined} pending
 * @param {{text?: unknown} & Numbers} params
 */
function tell(pending, { text, ...numbers }) {
  try {
    pending?.onProgress?.(String(text), numbers);
  } catch {
    // A listener that fails costs its progress; thrown from here it would end the host.
  }
}

/** @param {object} message */
function encode(message) {
  return Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

/** @param {number} bytes */
function tooLong(bytes) {
  return new Error(`The arguments of the call are too long: ${(bytes / 1024 / 1024).toFixed(1)} MiB.`);
}

function cancelled() {
  return new Error("The call was cancelled.");
}

/**
 * @param {string} line
 * @returns {any} a JSON-RPC message, or undefined
 */
function parse(line) {
  try {
    const message = JSON.parse(line);
    const isMessage = message?.jsonrpc === "2.0" && ("method" in message || typeof message.id === "number");
    return isMessage ? message : undefined;
  } catch {
    return undefined;
  }
}
