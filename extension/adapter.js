/**
 * Gives the four ccc tools and the ccc-status section to Pi. The work is done by one Python
 * process, the worker, over JSON-RPC on its stdin and stdout.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { registerCards } from "./views/cards.js";
import { Commands } from "./person/commands.js";
import { Footer } from "./person/footer.js";
import { Person } from "./person/person.js";
import { findPython } from "./worker/python.js";
import { renderersFor } from "./views/render.js";
import { placeSection, Status } from "./person/status.js";
import { Terminal } from "./views/terminal.js";
import { Worker } from "./worker/worker.js";

/**
 * @typedef {{name: string, label: string, description: string, promptSnippet?: string, promptGuidelines?: string[],
 *   annotations?: object, inputSchema: object}} Tool an entry of tools.json
 * @typedef {{content: {type: string, text: string}[], isError?: boolean, details?: any}} Result of tools/call
 */

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const TABLE = path.join(ROOT, "extension", "tools.json");

/**
 * @param {any} pi the host's extension API
 * @param {{tui?: any, agent?: any}} host its terminal library and its coding agent
 */
export function adapt(pi, host) {
  const terminal = new Terminal(host.tui, host.agent);
  const worker = new Worker(launchWorker);
  const status = new Status(worker);
  const footer = new Footer(worker, () => status.refresh());
  const commands = new Commands({ pi, agent: host.agent, worker, footer });
  for (const tool of readTable()) pi.registerTool(define(tool, { worker, terminal, footer }));
  registerCards(pi, terminal);
  commands.register();
  pi.on("session_start", (/** @type {any} */ _event, /** @type {any} */ ctx) => {
    status.refresh(ctx.cwd);
    // One after the other: two questions at once could start ccc's daemon twice.
    const person = new Person(ctx, pi);
    void status.settled().then(() => footer.begin(person));
  });
  pi.on("agent_end", (/** @type {any} */ _event, /** @type {any} */ ctx) => {
    status.refresh(ctx.cwd);
    void status.settled().then(() => footer.look());
  });
  pi.on("before_agent_start", async (/** @type {any} */ event) => placeSection(event, await status.text()));
  pi.on("session_shutdown", () => {
    footer.end();
    commands.end();
    return worker.stop();
  });
}

/** @returns {Tool[]} */
function readTable() {
  return JSON.parse(readFileSync(TABLE, "utf8")).tools;
}

/**
 * @param {Tool} tool
 * @param {{worker: Worker, terminal: Terminal, footer: Footer}} means
 */
function define({ inputSchema, ...tool }, { worker, terminal, footer }) {
  return {
    ...tool,
    parameters: inputSchema,
    /** @type {(id: string, params: object, signal: AbortSignal | undefined, onUpdate: any, ctx: any) => Promise<any>} */
    execute: async (_id, params, signal, onUpdate, ctx) => {
      const request = { name: tool.name, arguments: params, cwd: ctx.cwd };
      /** @type {import("./worker/child.js").OnProgress} */
      const onProgress = (text, numbers) => {
        onUpdate?.(partial(text));
        if (tool.name === "ccc_index") footer.hear(numbers);
      };
      const work = worker.request("tools/call", request, { signal, onProgress, keepsAlive: true });
      if (tool.name === "ccc_index") footer.hold(work);
      else footer.note();
      return told(await work);
    },
    ...renderersFor(tool.name, terminal),
  };
}

/** @param {string} text */
function partial(text) {
  return { content: [{ type: "text", text }], details: {} };
}

/**
 * What the host hears of a result. A failure is thrown: an older host takes a returned one for a success.
 * @param {Result} result
 */
function told({ content, isError, details }) {
  if (!Array.isArray(content)) throw new Error("The ccc worker's answer has no content.");
  if (isError) throw new Error(content.map((block) => block.text).join("\n"));
  return { content, details: details ?? {} };
}

/** @returns {import("./worker/child.js").Launch} */
function launchWorker() {
  const { file, args } = findPython();
  return {
    file,
    args: [...args, path.join(ROOT, "vera_ccc_tools", "bootstrap.py"), "worker"],
    // Not the project: nothing that a project plants may come before the worker's own modules.
    cwd: ROOT,
    env: { ...process.env, PYTHONIOENCODING: "utf-8", PYTHONUTF8: "1" },
  };
}
