import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { findPython, PythonMissing } from "../../../extension/worker/python.js";
import { temporary } from "../helpers.js";

const posix = { skip: process.platform === "win32" };

/** @param {string} directory @param {string} name */
function plant(directory, name) {
  mkdirSync(directory, { recursive: true });
  const file = path.join(directory, name);
  writeFileSync(file, "#!/bin/sh\n");
  chmodSync(file, 0o755);
  return file;
}

test("python3 is found before python, in the order of PATH", posix, (t) => {
  const [a, b] = [path.join(temporary(t), "a"), path.join(temporary(t), "b")];
  plant(a, "python");
  const python3 = plant(b, "python3");
  assert.deepEqual(findPython({ PATH: `${a}:${b}` }, "linux"), { file: python3, args: [] });
});

test("python alone will do", posix, (t) => {
  const directory = temporary(t);
  const python = plant(directory, "python");
  assert.equal(findPython({ PATH: directory }, "linux").file, python);
});

test("empty and relative entries of PATH are passed over, the current directory with them", posix, (t) => {
  const directory = temporary(t);
  plant(directory, "python3");
  const before = process.cwd();
  t.after(() => process.chdir(before));
  process.chdir(directory);
  assert.throws(() => findPython({ PATH: `:.:${path.relative("/", directory)}:` }, "linux"), PythonMissing);
});

test("a directory and a file that may not be run are no interpreters", posix, (t) => {
  const directory = temporary(t);
  mkdirSync(path.join(directory, "python3"));
  writeFileSync(path.join(directory, "python"), "");
  assert.throws(() => findPython({ PATH: directory }, "linux"), PythonMissing);
});

test("without any Python the message says what to install", () => {
  assert.throws(() => findPython({ PATH: "" }), /none was found on PATH\.\nInstall Python 3\.11 or newer/);
});

test("VERA_CCC_PYTHON comes first, as a path or as a name on PATH", posix, (t) => {
  const directory = temporary(t);
  plant(directory, "python3");
  const named = plant(directory, "python3.12");
  for (const VERA_CCC_PYTHON of [named, "python3.12"]) {
    assert.equal(findPython({ PATH: directory, VERA_CCC_PYTHON }, "linux").file, named);
  }
});

for (const named of ["./python3", "bin/python3", "/nowhere/python3", "no-such-python"]) {
  test(`VERA_CCC_PYTHON=${named} is refused, and quoted`, () => {
    const env = { PATH: process.env.PATH, VERA_CCC_PYTHON: named };
    assert.throws(() => findPython(env), (error) => error instanceof PythonMissing && error.message.includes(named));
  });
}
