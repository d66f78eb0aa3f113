/**
 * The person at the other end, in each mode of the host: in its terminal, behind its RPC,
 * or of one prompt whose answer is printed.
 */
import { writeSync } from "node:fs";
import { CARD } from "../views/cards.js";

/**
 * @typedef {import("../views/cards.js").Card} Card
 * @typedef {"tui" | "rpc" | "json" | "print"} Mode
 * @typedef {"info" | "warning" | "error"} Level
 */

/** ms between two tries to write to a pipe that is full */
const PAUSE = 10;

export class Person {
  #pi;
  #agent;
  #ui;
  #waitForIdle;

  /**
   * What is needed of a context is taken at once: a context that a new session has replaced throws.
   * @param {any} ctx the host's context
   * @param {any} pi the host's extension API
   * @param {any} [agent] the host's coding agent
   */
  constructor(ctx, pi, agent) {
    this.#pi = pi;
    this.#agent = agent;
    this.#ui = ctx.ui;
    this.#waitForIdle = ctx.waitForIdle?.bind(ctx);
    /** @type {string} */
    this.cwd = ctx.cwd;
    this.mode = modeOf(ctx);
  }

  /** Whether somebody is there to answer a question and to see what comes later. */
  get isThere() {
    return this.mode === "tui" || this.mode === "rpc";
  }

  /** @returns {import("../views/terminal.js").Theme | undefined} colours, where they are seen */
  get theme() {
    return this.mode === "tui" ? this.#ui.theme : undefined;
  }

  /** @param {string | undefined} text */
  setFooter(text) {
    try {
      this.#ui.setStatus("ccc", text);
    } catch {
      // It comes at any time: a session that has just been replaced must not end the host.
    }
  }

  /**
   * A short text; an error where a person has to do something.
   * @param {string} text
   * @param {Level} [level]
   */
  async say(text, level = "info") {
    if (this.isThere) this.#ui.notify(text, level);
    else if (level === "error") fail(text);
    else if (this.mode === "json") await this.#enter({ name: CARD, content: text });
    else await print(text);
  }

  /**
   * A long text, which the terminal shows as it shows a tool's result.
   * @param {Card} card
   */
  async show(card) {
    if (this.mode === "tui" || this.mode === "json") await this.#enter(card);
    else await this.say(card.content, card.isError ? "error" : "info");
  }

  /**
   * @param {string} title
   * @param {string} message
   * @returns {Promise<boolean>} false as well where nobody is there
   */
  async agrees(title, message) {
    return this.isThere && Boolean(await this.#ui.confirm(title, message));
  }

  /**
   * @param {string} title
   * @param {string} example
   * @returns {Promise<string>} empty where nobody answers
   */
  async tells(title, example) {
    return this.isThere ? ((await this.#ui.input(title, example)) ?? "") : "";
  }

  /**
   * Wait for some work; in the terminal it can be seen and cancelled.
   * @template T
   * @param {string} message
   * @param {(signal?: AbortSignal) => Promise<T>} work
   * @returns {Promise<T | undefined>} undefined where it was cancelled
   */
  async during(message, work) {
    if (this.mode !== "tui" || !this.#agent?.BorderedLoader) return work();
    /** @type {{value?: T, error?: Error}} */
    const ended = await this.#ui.custom((/** @type {any} */ tui, /** @type {any} */ theme, /** @type {any} */ _keys, /** @type {any} */ done) => {
      const loader = new this.#agent.BorderedLoader(tui, theme, message);
      loader.onAbort = () => done({});
      work(loader.signal).then((value) => done({ value }), (error) => done({ error }));
      return loader;
    });
    if (ended?.error) throw ended.error;
    return ended?.value;
  }

  /**
   * Into the transcript, past the model: as an entry, or in an older host as a message that `cards` keeps from it.
   * @param {Card} card
   */
  async #enter(card) {
    if (this.#pi.registerEntryRenderer) return this.#pi.appendEntry(CARD, card);
    await this.#waitForIdle?.(); // a message would steer a run that goes on
    this.#pi.sendMessage({ customType: CARD, content: card.content, display: true, details: card });
  }
}

/**
 * @param {any} ctx
 * @returns {Mode}
 */
function modeOf(ctx) {
  if (ctx.mode) return ctx.mode;
  // An older host does not say; it has themes in the terminal only.
  if (ctx.hasUI) return ctx.ui.getAllThemes?.().length ? "tui" : "rpc";
  return /--mode[ =]json/.test(process.argv.join(" ")) ? "json" : "print";
}

/**
 * The host sends what an extension prints to stderr; what was asked for belongs on stdout.
 * @param {string} text
 */
async function print(text) {
  let rest = Buffer.from(`${text.trimEnd()}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EAGAIN") return; // nobody reads any more
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }
}

/** @param {string} text */
function fail(text) {
  process.stderr.write(`${text.trimEnd()}\n`);
  process.exitCode = 1;
}
