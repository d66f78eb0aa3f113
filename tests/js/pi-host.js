/** A host as the adapter's tests use it. */
import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { adapt } from "../../extension/adapter.js";
import { temporary } from "./helpers.js";

export const ROOT = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
export const posix = { skip: process.platform === "win32" && "the fake interpreter is a script with a #! line" };

const theme = { fg: (/** @type {string} */ colour, /** @type {string} */ text) => `<${colour}>${text}`, bold: String, bg: String };

/** A host with what the extension uses of Pi, and a fake interpreter on VERA_CCC_PYTHON. */
class Host {
  tools = new Map();
  /** @type {Record<string, Function>} */
  handlers = {};
  commands = new Map();
  /** @type {[string, string][]} what the person was told, and how */
  told = [];
  /** @type {(string | undefined)[]} what the footer has shown */
  footers = [];
  /** @type {any[]} what the transcript has got that the model does not see */
  entries = [];
  /** @type {any[]} */
  messages = [];
  /** @type {[string, string][]} */
  asked = [];
  /** what the person answers */
  answer = { confirm: true, input: "" };
  ctx;
  #script;
  #options;

  /** @param {string} directory @param {{mode?: string, agent?: any, older?: boolean}} options */
  constructor(directory, options) {
    this.#options = options;
    this.ctx = { cwd: directory, ...this.#context(options.mode) };
    this.#script = path.join(directory, "script.json");
    this.say({ status: "ready", result: { content: [{ type: "text", text: "found" }], details: { results: [] } } });
  }

  /** @param {string | undefined} mode */
  #context(mode) {
    if (!mode) return {};
    const hasUI = mode === "tui" || mode === "rpc";
    const ui = {
      notify: (/** @type {string} */ text, /** @type {string} */ level) => this.told.push([text, level]),
      setStatus: (/** @type {string} */ key, /** @type {string | undefined} */ text) => this.footers.push(key === "ccc" ? text : `of ${key}`),
      confirm: async (/** @type {string} */ title, /** @type {string} */ message) => (this.asked.push([title, message]), this.answer.confirm),
      input: async (/** @type {string} */ title, /** @type {string} */ example) => (this.asked.push([title, example]), this.answer.input),
      custom: (/** @type {Function} */ build) => new Promise((done) => build({}, theme, {}, done)),
      getAllThemes: () => (mode === "tui" ? [{}] : []),
      theme,
    };
    return { ui, hasUI, waitForIdle: async () => {}, ...(!this.#options.older && { mode }) };
  }

  /** @param {object} script */
  say(script) {
    writeFileSync(this.#script, JSON.stringify(script));
  }

  /** @returns {any[]} what the fake interpreter has seen */
  get log() {
    if (!existsSync(`${this.#script}.log`)) return [];
    const lines = readFileSync(`${this.#script}.log`, "utf8").split("\n");
    return lines.slice(0, -1).map((line) => JSON.parse(line)); // the last one may be half written
  }

  get statusCalls() {
    return this.log.filter((entry) => entry.method === "status").length;
  }

  load() {
    this.tools.clear();
    process.env.FAKE_SCRIPT = this.#script;
    const pi = {
      registerTool: (/** @type {any} */ tool) => this.tools.set(tool.name, tool),
      registerCommand: (/** @type {string} */ name, /** @type {any} */ command) => this.commands.set(name, command),
      on: (/** @type {string} */ name, /** @type {Function} */ handler) => (this.handlers[name] = handler),
      registerMessageRenderer: () => {},
      sendMessage: (/** @type {any} */ message) => this.messages.push(message),
      ...(!this.#options.older && {
        registerEntryRenderer: () => {},
        appendEntry: (/** @type {string} */ type, /** @type {any} */ data) => this.entries.push({ type, ...data }),
      }),
    };
    adapt(pi, { agent: this.#options.agent });
  }

  /** @param {string} line a command as a person types it */
  async type(line) {
    const [name, ...words] = line.slice(1).split(" ");
    await this.commands.get(name).handler(words.join(" "), this.ctx);
  }

  /** @param {string} method */
  requests(method) {
    return this.log.filter((entry) => entry.method === method);
  }

  /** @param {string} name @param {object} [event] */
  emit(name, event = {}) {
    return this.handlers[name](event, this.ctx);
  }

  /** @returns {Promise<string>} the section's text at a prompt */
  async prompt() {
    const systemPromptOptions = { sections: /** @type {Record<string, string>} */ ({ other: "x" }) };
    assert.equal(await this.emit("before_agent_start", { systemPrompt: "base", systemPromptOptions }), undefined);
    return systemPromptOptions.sections["ccc-status"];
  }

  /** @param {string} name @param {object} args @param {AbortSignal} [signal] @param {Function} [onUpdate] */
  call(name, args, signal, onUpdate) {
    return this.tools.get(name).execute("call-1", args, signal, onUpdate, this.ctx);
  }
}

/**
 * @param {import("node:test").TestContext} t
 * @param {{mode?: string, agent?: any, older?: boolean}} [options] how the host runs, and whether it is one without entries
 */
export async function host(t, options = {}) {
  const before = { ...process.env };
  /** @type {Host | undefined} */
  let made;
  // First, since the directory is removed next, and the fake interpreter writes to it.
  t.after(async () => {
    await made?.emit("session_shutdown");
    process.env = before;
  });
  const directory = temporary(t);
  const python = path.join(directory, "python");
  writeFileSync(python, `#!/bin/sh\nexec "${process.execPath}" "${path.join(ROOT, "tests", "js", "fake-python.js")}" "$@"\n`);
  chmodSync(python, 0o755);
  process.env.VERA_CCC_PYTHON = python;
  made = new Host(directory, options);
  made.load();
  return made;
}
