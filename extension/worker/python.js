/**
 * Which Python runs the worker. Only absolute directories of PATH are searched, never the
 * current one: a project must not be able to plant the interpreter that we start.
 */
import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";

const HINT =
  "Install Python 3.11 or newer (python.org, or your system's packages) so that python3 is on PATH, " +
  "or set VERA_CCC_PYTHON to its absolute path. The next call looks again.";

/** There is no interpreter to start: something to install or to set, not a crash. */
export class PythonMissing extends Error {}

/**
 * @typedef {{file: string, args: string[]}} Interpreter an executable and the arguments before the script
 * @param {NodeJS.ProcessEnv} [env]
 * @param {NodeJS.Platform} [platform]
 * @returns {Interpreter}
 * @throws {PythonMissing} with what to install
 */
export function findPython(env = process.env, platform = process.platform) {
  if (env.VERA_CCC_PYTHON) return namedPython(env.VERA_CCC_PYTHON, env, platform);
  for (const [name, ...args] of candidates(platform)) {
    const file = onPath(name, env, platform);
    if (file) return { file, args };
  }
  throw new PythonMissing(`The ccc tools run in Python 3.11 or newer, and none was found on PATH.\n${HINT}`);
}

/** @param {NodeJS.Platform} platform */
function candidates(platform) {
  // On Windows "python3" may be a stub that opens a shop; the launcher knows what is installed.
  return platform === "win32" ? [["py", "-3"], ["python"], ["python3"]] : [["python3"], ["python"]];
}

/**
 * @param {string} named
 * @param {NodeJS.ProcessEnv} env
 * @param {NodeJS.Platform} platform
 * @returns {Interpreter}
 */
function namedPython(named, env, platform) {
  const isBareName = path.basename(named) === named;
  const file = isBareName ? onPath(named, env, platform) : named.replace(/^~(?=[/\\])/, homedir());
  if (file && path.isAbsolute(file) && isExecutable(file)) return { file, args: [] };
  throw new PythonMissing(
    `VERA_CCC_PYTHON is ${JSON.stringify(named)}, which is neither the absolute path of an executable ` +
      `nor the name of one on PATH.\n${HINT}`,
  );
}

/**
 * @param {string} name
 * @param {NodeJS.ProcessEnv} env
 * @param {NodeJS.Platform} platform
 */
function onPath(name, env, platform) {
  const listed = (env.PATH ?? env.Path ?? "").split(platform === "win32" ? ";" : ":");
  const suffix = platform === "win32" && !name.toLowerCase().endsWith(".exe") ? ".exe" : "";
  return listed
    .filter((directory) => path.isAbsolute(directory))
    .map((directory) => path.join(directory, name + suffix))
    .find(isExecutable);
}

/** @param {string} file */
function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
