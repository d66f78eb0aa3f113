/**
 * The ccc-status section: fetched between turns, shown at each, the same bytes while nothing
 * worth telling changed.
 */
import { PythonMissing } from "../worker/python.js";

const NAME = "ccc-status";
const NOT_YET = "ccc: the state of the index is not known yet.";
const UNKNOWN = "ccc: the state of the index is not known; ccc_doctor can say why.";
/** ms that a turn waits for a fetch that is under way */
const PATIENCE = 500;

/** @typedef {import("../worker/worker.js").Worker} Worker */

export class Status {
  #worker;
  #text = NOT_YET;
  /** @type {Promise<void> | undefined} */
  #fetch;
  /** @type {string | undefined} */
  #cwd;
  /** @type {string | undefined} the directory of a fetch asked for while one was under way */
  #next;

  /** @param {Worker} worker */
  constructor(worker) {
    this.#worker = worker;
  }

  /**
   * Fetch the text without anybody waiting; at most one fetch at a time, the latest wish last.
   * @param {string | undefined} [cwd] the last one where it is not given
   */
  refresh(cwd = this.#cwd) {
    this.#next = this.#cwd = cwd;
    this.#fetch ??= this.#run();
  }

  /** Resolves when no fetch is under way any more. */
  async settled() {
    await this.#fetch;
  }

  /** The text, after at most a moment for a fetch under way. */
  async text() {
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    const late = new Promise((resolve) => (timer = setTimeout(resolve, PATIENCE)));
    await Promise.race([this.#fetch, late]);
    clearTimeout(timer);
    return this.#text;
  }

  async #run() {
    while (this.#next !== undefined) {
      const cwd = this.#next;
      this.#next = undefined;
      this.#text = await this.#worker.request("status", { cwd }).then(said, (error) => this.#failed(error));
    }
    this.#fetch = undefined;
  }

  /** @param {unknown} error */
  #failed(error) {
    if (error instanceof PythonMissing) return `ccc: the ccc tools cannot run. ${error.message}`;
    return this.#text === NOT_YET ? UNKNOWN : this.#text;
  }
}

/** @param {any} result */
function said(result) {
  return String(result?.text ?? UNKNOWN);
}

/**
 * Put the section last in the system prompt of this turn.
 *
 * @param {{systemPrompt: string, systemPromptOptions?: any}} event of before_agent_start
 * @param {string} text
 * @returns {{systemPrompt: string} | undefined} what the handler returns
 */
export function placeSection(event, text) {
  if (text === "") return undefined;
  const options = event.systemPromptOptions;
  // A host without sections, or a prompt that an earlier extension has forced, shows only what is returned.
  if (!options?.sections || options.forceSystemPrompt !== undefined) {
    return { systemPrompt: `${event.systemPrompt}\n\n<${NAME}>\n${text}\n</${NAME}>` };
  }
  delete options.sections[NAME];
  options.sections[NAME] = text;
  return undefined;
}
