/**
 * The state of the index in the host's footer, and once a line for a project that has none. It
 * looks when something may have changed, and again and again only while an index run goes on.
 */
import { existsSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { isFirstTime } from "./once.js";
import { counted } from "../views/text.js";

/**
 * @typedef {import("./person.js").Person} Person
 * @typedef {{state: "ready" | "indexing" | "empty" | "unindexed" | "none" | "unavailable", root: string | null,
 *   files: number, chunks: number, languages: Record<string, number>, progress: Record<string, number> | null,
 *   job: {tool: string, running: boolean, failed: boolean, line: string} | null, fresh: boolean | null, message: string, hint: string,
 *   repository: string | null, init: "done" | "within" | "free", has_model: boolean}} Overview
 *   the result of the worker's method of that name
 */

const OFF = new Set(["0", "false", "no", "off"]);
const FIRST_LINE = "ccc: no semantic index here yet; /ccc-index builds one.";
export const PERIOD = {
  /** ms between the first looks while an index run goes on */
  first: 1500,
  /** ms between the later ones */
  most: 8000,
  growth: 1.2,
  /** looks after which it gives up; some four hours */
  looks: 2000,
  /** looks in a row without an answer after which that is shown; a daemon that starts needs some seconds */
  quiet: 5,
  /** such looks after which it gives up until something happens; some two minutes */
  failures: 20,
};

export class Footer {
  #worker;
  #period;
  #onChange;
  #env = process.env;
  /** @type {Person | undefined} undefined before a session, after it, and where nobody sees it */
  #person;
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  /** @type {string | undefined} */
  #shown;
  /** @type {Overview | undefined} what was shown last */
  #seen;
  #isLooking = false;
  #isDue = false;
  #isAsked = false;
  #wasRunning = false;
  #held = 0;
  /** @type {number | undefined} files that are done, by the progress of the command that holds it */
  #heard;
  #looks = 0;
  #failures = 0;

  /**
   * @param {import("../worker/worker.js").Worker} worker
   * @param {() => void} onChange called when what the model has read is no longer true
   * @param {Partial<typeof PERIOD>} [period]
   */
  constructor(worker, onChange, period = {}) {
    this.#worker = worker;
    this.#onChange = onChange;
    this.#period = { ...PERIOD, ...period };
  }

  /**
   * @param {Person} person
   * @param {NodeJS.ProcessEnv} [env]
   */
  begin(person, env = process.env) {
    const isOff = OFF.has((env.VERA_CCC_FOOTER ?? "").trim().toLowerCase());
    this.#person = person.isThere && !isOff ? person : undefined;
    this.#env = env;
    this.look();
  }

  end() {
    // The next session may be elsewhere.
    if (this.#shown) this.#person?.setFooter(undefined);
    this.#person = undefined;
    clearTimeout(this.#timer);
  }

  /** Look anew, and show a project without an index as well from now on. */
  ask() {
    this.note();
    this.look();
  }

  /** From the next look on, show a project without an index as well: somebody has use for it. */
  note() {
    this.#isAsked = true;
  }

  /**
   * Keep looking until a command has ended.
   * @param {Promise<unknown>} work
   */
  hold(work) {
    this.#held += 1;
    if (this.#person && this.#seen) this.#show(this.#person, this.#seen);
    this.ask();
    const release = () => {
      this.#held -= 1;
      this.#heard = undefined;
      this.look();
    };
    work.then(release, release);
  }

  /**
   * Show how far the command is that holds it.
   * @param {import("../worker/child.js").Numbers} numbers
   */
  hear({ done }) {
    if (done === undefined || this.#held === 0) return;
    this.#heard = done;
    if (this.#person && this.#seen) this.#show(this.#person, this.#seen);
  }

  /** Look now, and as long as something goes on; nobody waits for it. */
  look() {
    this.#looks = this.#failures = 0;
    this.#isDue = true;
    void this.#run();
  }

  async #run() {
    if (this.#isLooking) return;
    this.#isLooking = true;
    while (this.#isDue && this.#person) {
      this.#isDue = false;
      clearTimeout(this.#timer);
      const person = this.#person;
      const seen = await this.#worker.request("overview", { cwd: person.cwd }).catch(() => undefined);
      if (person === this.#person) this.#take(person, seen);
    }
    this.#isLooking = false;
  }

  /**
   * @param {Person} person
   * @param {Overview | undefined} seen undefined where the worker did not answer
   */
  #take(person, seen) {
    this.#looks += 1;
    const isMissing = !seen || (seen.state === "unavailable" && seen.root !== null);
    this.#failures = isMissing ? this.#failures + 1 : 0;
    if (seen && (!isMissing || this.#failures >= this.#period.quiet)) this.#tell(person, seen);
    const goesOn = this.#held > 0 || isMissing || seen.state === "indexing" || seen.job?.running;
    if (goesOn && this.#failures < this.#period.failures && this.#looks < this.#period.looks) this.#wait();
  }

  /**
   * @param {Person} person
   * @param {Overview} seen
   */
  #tell(person, seen) {
    this.#show(person, seen);
    if (this.#seen?.state === "unavailable" && seen.state !== "unavailable") this.#onChange();
    this.#seen = seen;
    this.#tellOfJob(person, seen);
    if (!this.#isAsked) tellOnce(person, seen, this.#env);
  }

  #wait() {
    const { first, growth, most } = this.#period;
    this.#timer = setTimeout(() => {
      this.#isDue = true;
      void this.#run();
    }, Math.min(most, first * growth ** this.#looks));
    this.#timer.unref();
  }

  /**
   * @param {Person} person
   * @param {Overview} seen
   */
  #show(person, seen) {
    const text = footerText(seen, { isHeld: this.#held > 0, heard: this.#heard, isAsked: this.#isAsked, theme: person.theme });
    if (text === this.#shown) return;
    this.#shown = text;
    person.setFooter(text);
  }

  /**
   * @param {Person} person
   * @param {Overview} seen
   */
  #tellOfJob(person, { job }) {
    const hasEnded = this.#wasRunning && job !== null && !job.running;
    this.#wasRunning = Boolean(job?.running);
    if (!hasEnded) return;
    this.#onChange();
    if (job.failed) person.say(job.line, "error").catch(() => {});
  }
}

/**
 * @param {Overview} seen
 * @param {{isHeld?: boolean, heard?: number, isAsked?: boolean, theme?: import("../views/terminal.js").Theme}} [options]
 * @returns {string | undefined} undefined where there is nothing to say
 */
export function footerText(seen, { isHeld = false, heard, isAsked = false, theme } = {}) {
  const paint = (/** @type {string} */ colour, /** @type {string} */ text) => theme?.fg(colour, text) ?? text;
  const text = (/** @type {string} */ mark, /** @type {string} */ colour, /** @type {string} */ words) =>
    `${paint("dim", "ccc")} ${paint(colour, mark)} ${paint("dim", words)}`;
  if (seen.state === "indexing" || isHeld || seen.job?.running) return text("●", "accent", activity(seen, heard));
  if (seen.state === "ready") return text("✓", "success", counted(seen.files, "file"));
  // Where nobody has made a project of this directory, nobody wants to hear of ccc before it is asked for.
  if (seen.root === null && !isAsked) return undefined;
  if (seen.state === "unavailable") return text("✗", "error", "not available");
  return text("✗", "warning", seen.state === "empty" ? "empty index" : "not indexed");
}

/**
 * @param {Overview} seen
 * @param {number} [heard]
 */
function activity({ job, progress, files }, heard) {
  if (job?.running && job.tool !== "ccc_index") return "initializing";
  const done = heard ?? (progress?.done || files);
  return done ? `indexing ${counted(done, "file")}` : "indexing";
}

/**
 * Say once what a project without an index needs; no later session says it again.
 * @param {Person} person
 * @param {Overview} seen
 * @param {NodeJS.ProcessEnv} env
 */
function tellOnce(person, { state, root }, env) {
  const place = state === "none" ? repositoryOf(person.cwd) : root;
  if (!place || (state !== "unindexed" && state !== "none") || !isFirstTime(place, env)) return;
  person.say(FIRST_LINE).catch(() => {});
}

/**
 * The repository that `ccc_index` would make a project of; never the home directory's own.
 * @param {string} directory
 * @returns {string | undefined}
 */
function repositoryOf(directory) {
  const above = path.dirname(directory);
  if (directory === os.homedir() || above === directory) return undefined;
  return existsSync(path.join(directory, ".git")) ? directory : repositoryOf(above);
}
