/**
 * The worker as the adapter sees it: ask, and a process is there. It starts with the first need,
 * starts again after a death, and says so instead of looping when it keeps dying.
 */
import { Child, LIMITS } from "./child.js";

/**
 * @typedef {import("./child.js").Launch} Launch
 * @typedef {import("./child.js").RequestOptions} RequestOptions
 */

export class Worker {
  #launch;
  #limits;
  /** @type {Child | undefined} */
  #child;
  /** @type {number[]} when the last ones died */
  #deaths = [];
  #lastDeath = "";
  #isClosed = false;

  /**
   * @param {() => Launch} launch asked at each start; may throw what the caller shall read
   * @param {Partial<import("./child.js").Limits>} [limits]
   */
  constructor(launch, limits = {}) {
    this.#launch = launch;
    this.#limits = { ...LIMITS, ...limits };
  }

  get pid() {
    return this.#child?.pid;
  }

  /**
   * @param {string} method
   * @param {object} params
   * @param {RequestOptions} [options]
   * @returns {Promise<any>}
   */
  async request(method, params, options = {}) {
    return this.#running().request(method, params, options);
  }

  /** End the process and start none any more. */
  async stop() {
    this.#isClosed = true;
    const child = this.#child;
    this.#child = undefined;
    await child?.stop();
  }

  #running() {
    if (this.#isClosed) throw new Error("The session has ended.");
    if (this.#child) return this.#child;
    this.#refuseToLoop();
    /** @type {Child | undefined} */
    let child;
    child = new Child(this.#launch(), this.#limits, (reason) => this.#died(child, reason));
    return (this.#child = child);
  }

  /**
   * @param {Child | undefined} child undefined where its start has failed halfway
   * @param {string} reason
   */
  #died(child, reason) {
    if (this.#child === child) this.#child = undefined;
    this.#deaths.push(performance.now());
    this.#lastDeath = reason;
  }

  #refuseToLoop() {
    const since = performance.now() - this.#limits.deathWindow;
    this.#deaths = this.#deaths.filter((time) => time > since);
    if (this.#deaths.length < this.#limits.deaths) return;
    const wait = Math.ceil((this.#deaths[0] - since) / 1000);
    throw new Error(
      `The ccc worker has died ${this.#deaths.length} times within a minute and is not started again ` +
        `for another ${wait} s. The last time: ${this.#lastDeath}`,
    );
  }
}
