/** The commands of a person. What they bring is shown to the person, and never to the model. */
import { Person } from "./person.js";
import { counted, plain } from "../views/text.js";

/**
 * @typedef {import("./footer.js").Overview} Overview
 * @typedef {import("../adapter.js").Result} Result
 * @typedef {{pi: any, agent?: any, worker: import("../worker/worker.js").Worker, footer: import("./footer.js").Footer}} Means
 * @typedef {(person: Person, said: string) => Promise<void>} Run
 */

/** results of a search, which a person takes in at a glance */
const LIMIT = 10;

export class Commands {
  #means;
  #hasEnded = false;
  /** how far the index run is that a command has begun; empty where none goes on */
  #progress = "";
  /** @type {{query: string, offset: number} | undefined} the last search, where it has more results */
  #more;

  /** @param {Means} means */
  constructor(means) {
    this.#means = means;
  }

  register() {
    const { pi, agent } = this.#means;
    for (const [name, { description, run }] of Object.entries(this.#table())) {
      const handler = async (/** @type {string} */ said, /** @type {any} */ ctx) => {
        const person = new Person(ctx, pi, agent);
        await run(person, (said ?? "").trim()).catch((error) => this.#fail(person, error));
      };
      pi.registerCommand(name, { description, handler });
    }
  }

  /** What comes after this is nobody's. */
  end() {
    this.#hasEnded = true;
  }

  /** @returns {Record<string, {description: string, run: Run}>} */
  #table() {
    return {
      ccc: { description: "Show the state of the code index", run: (person) => this.#state(person) },
      "ccc-search": { description: "Search the code by meaning: /ccc-search QUERY; then /ccc-search more", run: (person, said) => this.#search(person, said) },
      "ccc-index": { description: "Build the code index or bring it up to date", run: (person) => this.#index(person) },
      "ccc-init": { description: "Make this directory a project for code search: /ccc-init [force] [MODEL]", run: (person, said) => this.#init(person, said) },
      "ccc-doctor": { description: "Find out why code search does not work: /ccc-doctor [verbose]", run: (person, said) => this.#doctor(person, said) },
      "ccc-sync": { description: "Show what the index leaves out and why; changes nothing", run: (person) => this.#sync(person) },
    };
  }

  /** @param {Person} person */
  async #state(person) {
    const seen = await person.during("Looking at the index…", (signal) => this.#overview(person, signal));
    if (!seen) return;
    this.#means.footer.ask();
    await person.say([describe(seen), this.#progress].filter(Boolean).join("\n"), seen.state === "unavailable" ? "error" : "info");
  }

  /** @type {Run} */
  async #search(person, said) {
    const query = said || (await person.tells("Search the code for", "where are failed uploads retried"));
    if (!query) return person.isThere ? undefined : person.say("Say what to search for: /ccc-search where are uploads retried", "error");
    if (query === "more" && !this.#more) return person.say("No search has more results to show: /ccc-search QUERY searches.", "error");
    const asked = query === "more" ? this.#more : { query };
    const result = await this.#show(person, "ccc_search", { ...asked, limit: LIMIT }, "Searching…");
    const following = result?.details?.next_offset;
    if (result && !result.isError) this.#more = following ? { query: asked?.query ?? "", offset: following } : undefined;
  }

  /** @type {Run} */
  async #doctor(person, said) {
    await this.#show(person, "ccc_doctor", said === "verbose" ? { verbose: true } : {}, "Checking…");
  }

  /**
   * Call a tool and show what it brings.
   * @param {Person} person
   * @param {string} name
   * @param {object} args
   * @param {string} message
   * @returns {Promise<Result | undefined>} undefined where it was cancelled
   */
  async #show(person, name, args, message) {
    const result = await person.during(message, (signal) => this.#call(person, name, args, { signal }));
    if (!result) return undefined;
    this.#means.footer.ask();
    const title = `/${name.replace("_", "-")}`;
    await person.show({ name, title, args: { ...args, limit: undefined }, content: textOf(result), details: result.details, isError: result.isError });
    return result;
  }

  /** @param {Person} person */
  async #sync(person) {
    const work = (/** @type {AbortSignal | undefined} */ signal) => this.#request("sync", { cwd: person.cwd, dry_run: true }, { signal });
    const result = await person.during("Asking git…", work);
    if (result) await person.show({ name: "ccc_sync", title: "/ccc-sync", content: String(result.text) });
  }

  /** @type {Run} */
  async #init(person, said) {
    const words = said.split(/\s+/).filter(Boolean);
    const model = words.find((word) => word !== "force");
    const force = words.includes("force");
    const seen = await person.during("Looking at the index…", (signal) => this.#overview(person, signal));
    if (!seen) return;
    if (seen.state === "unavailable") return person.say(describe(seen), "error");
    const question = initQuestion(seen, { cwd: plain(person.cwd), force, model });
    if (question && !(await this.#agrees(person, ...question))) return;
    const args = { force, ...(model && { litellm_model: model }) };
    const result = await person.during("Initializing…", (signal) => this.#call(person, "ccc_init", args, { signal }));
    if (result) await this.#tell(person, result);
  }

  /** @param {Person} person */
  async #index(person) {
    if (this.#progress) return person.say(this.#progress);
    const seen = await person.during("Looking at the index…", (signal) => this.#overview(person, signal));
    if (!seen) return;
    if (seen.state === "unavailable") return person.say(describe(seen), "error");
    if (seen.job?.running) return person.say(seen.job.line);
    if (seen.state === "none" && !seen.repository) return person.say(describe(seen), "error");
    const isNew = seen.state === "none" || seen.state === "unindexed";
    const place = plain(seen.root ?? seen.repository);
    const question = `ccc reads and embeds every file that git does not ignore in the project of ${place}. In a large one that takes minutes.`;
    if (isNew && !(await this.#agrees(person, "Build the index for code search?", question))) return;
    const run = this.#run(person);
    if (!person.isThere) return run;
    run.catch(() => {}); // nobody waits for it
    await person.say("Indexing. The footer shows how it goes, and /ccc-index again shows more.");
  }

  /**
   * An index run beside which the session goes on. There is no command that stops it: ccc's daemon
   * would go on with it.
   * @param {Person} person
   */
  async #run(person) {
    this.#progress = "Indexing.";
    /** @type {import("../worker/child.js").OnProgress} */
    const onProgress = (text, numbers) => {
      this.#progress = text;
      this.#means.footer.hear(numbers);
    };
    const work = this.#call(person, "ccc_index", {}, { onProgress });
    this.#means.footer.hold(work);
    try {
      await this.#tell(person, await work);
    } catch (error) {
      await this.#fail(person, error);
    } finally {
      this.#progress = "";
    }
  }

  /**
   * Ask before what costs much; where nobody can answer, say how it is done instead.
   * @param {Person} person
   * @param {string} title
   * @param {string} message
   */
  async #agrees(person, title, message) {
    if (person.isThere) return person.agrees(title, message);
    await person.say(`${title} ${message}\nNobody is here to say yes, so nothing was done: use the command in a session of Pi, or ask the agent.`, "error");
    return false;
  }

  /**
   * @param {Person} person
   * @param {Result} result
   */
  async #tell(person, result) {
    if (this.#hasEnded) return;
    this.#means.footer.ask();
    await person.say(textOf(result), result.isError ? "error" : "info");
  }

  /**
   * @param {Person} person
   * @param {unknown} error
   */
  async #fail(person, error) {
    if (this.#hasEnded) return;
    await person.say(error instanceof Error ? error.message : String(error), "error");
  }

  /**
   * @param {Person} person
   * @param {AbortSignal} [signal]
   * @returns {Promise<Overview>}
   */
  #overview(person, signal) {
    return this.#request("overview", { cwd: person.cwd }, { signal });
  }

  /**
   * @param {Person} person
   * @param {string} name
   * @param {object} args
   * @param {import("../worker/child.js").RequestOptions} options
   * @returns {Promise<Result>}
   */
  #call(person, name, args, options) {
    return this.#request("tools/call", { name, arguments: args, cwd: person.cwd, reader: "person" }, options);
  }

  /**
   * @param {string} method
   * @param {object} params
   * @param {import("../worker/child.js").RequestOptions} options
   */
  #request(method, params, options) {
    return this.#means.worker.request(method, params, { ...options, keepsAlive: true });
  }
}

/**
 * The state of the index at a glance.
 * @param {Overview} seen
 */
export function describe(seen) {
  const { state, root, files, chunks, fresh, job, message, hint } = seen;
  if (state !== "ready") return [`ccc ${state === "indexing" ? "●" : "✗"} ${message}`, hint, job?.line].filter(Boolean).join("\n");
  const freshness = { true: "Up to date.", false: "Files have changed since; the next search brings it up to date.", null: "Not compared with the files yet; the next search does that." }[String(fresh)];
  const lines = [`ccc ✓ ${counted(files, "file")}, ${counted(chunks, "chunk")} in ${root}`, languages(seen), freshness, job?.line];
  return lines.filter(Boolean).join("\n");
}

/** @param {Overview} seen */
function languages({ languages }) {
  const named = Object.entries(languages).map(([name, chunks]) => `${name} ${chunks.toLocaleString("en-US")}`);
  return named.length ? `Chunks by language: ${named.slice(0, 8).join(", ")}${named.length > 8 ? " …" : ""}` : "";
}

/**
 * What to ask before `ccc_init`; nothing where it changes nothing for sure, and only says why.
 * @param {Overview} seen
 * @param {{cwd: string, force: boolean, model?: string}} given
 * @returns {[string, string] | undefined} the question and what it is about
 */
export function initQuestion({ init, root, repository, has_model }, { cwd, force, model }) {
  const isRefused = (init === "within" && !force) || (has_model && model);
  if (isRefused || (init === "done" && has_model)) return undefined;
  const sets = has_model ? "" : ` It sets ccc's embedding model for all your projects: ${model ? plain(model) : "ccc's default one"}.`;
  if (init === "done") return ["Set the embedding model?", sets.trim()];
  const writes = `It writes .cocoindex_code/settings.yml in ${cwd} and adds .cocoindex_code to .gitignore.${sets}`;
  if (init !== "within") return ["Make this directory a project for code search?", writes];
  const above = root ? `the project ${plain(root)}, which stays as it is` : `the repository ${plain(repository)}`;
  return ["Make a project of this directory alone?", `It lies inside ${above}. Searches from here will find only what lies here. ${writes}`];
}

/** @param {Result} result */
function textOf({ content }) {
  return content.map((block) => block.text).join("\n");
}
