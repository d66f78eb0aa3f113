/** What is said once to a person, remembered in the user's cache directory. */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";

/**
 * Whether nothing was said of a place yet, in any session; from then on it was.
 * @param {string} place an absolute path
 * @param {NodeJS.ProcessEnv} env
 */
export function isFirstTime(place, env) {
  // Where the disk refuses, this process remembers at least, through a reload as well.
  const said = (/** @type {any} */ (globalThis)[Symbol.for("vera-ccc-tools.said")] ??= new Set());
  if (said.has(place)) return false;
  said.add(place);
  const directory = path.join(cacheDirectory(env), "introduced");
  const name = createHash("sha256").update(place).digest("hex").slice(0, 16);
  try {
    mkdirSync(directory, { recursive: true });
    writeFileSync(path.join(directory, name), `${place}\n`, { flag: "wx" });
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST";
  }
}

/**
 * The directory that the Python side uses as well (`environments.cache_directory`).
 * @param {NodeJS.ProcessEnv} env
 */
function cacheDirectory(env) {
  const home = os.homedir();
  const usual = process.platform === "darwin" ? path.join(home, "Library", "Caches") : path.join(home, ".cache");
  const base = process.platform === "win32" ? env.LOCALAPPDATA || path.join(home, "AppData", "Local") : env.XDG_CACHE_HOME || usual;
  return path.join(base, "vera-ccc-tools");
}
