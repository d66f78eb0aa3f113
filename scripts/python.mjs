/** Runs a script with whichever of `python3`, `python` and `py -3` there is. */
import { spawnSync } from "node:child_process";
import { findPython } from "../extension/worker/python.js";

try {
  const { file, args } = findPython();
  const { status, error } = spawnSync(file, [...args, ...process.argv.slice(2)], { stdio: "inherit" });
  if (error) throw error;
  process.exitCode = status ?? 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
