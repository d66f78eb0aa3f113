import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { forPerson } from "../../../extension/person/wording.js";
import { ROOT } from "../pi-host.js";

const PACKAGE = path.join(ROOT, "vera_ccc_tools");
/** what no command of a person shows: the model's section and table, and the command line */
const OTHERS = /(?:status|table|verbs|main|presentation)\.py$|^(?:mcp_server|setup|memory|import_graph|chunks|usage)/;
const FOR_A_MODEL = /ccc_(search|index|init|doctor)|the user\b|\brg\b|ccc-status|`(litellm_model|force|verbose)`|\bcall \//i;

/** @returns {string[]} what the package can say: its strings, the pieces of one text joined */
function texts() {
  const files = readdirSync(PACKAGE, { encoding: "utf8", recursive: true }).filter((name) => name.endsWith(".py") && !OTHERS.test(name));
  const source = files.map((name) => readFileSync(path.join(PACKAGE, name), "utf8")).join("\n");
  const spoken = source.replace(/"""[^]*?"""/g, '""').replace(/^\s*#.*$/gm, "").replace(/"\n\s*f?"/g, "");
  return [...spoken.matchAll(/"((?:[^"\\\n]|\\.)*)"/g)].map(([, text]) => text.replaceAll("\\n", "\n")).filter((text) => /[a-z] [a-z]/.test(text));
}

test("no hint of the package speaks to a model once it is worded for a person", () => {
  const found = texts();
  const before = found.filter((text) => FOR_A_MODEL.test(text));
  assert.ok(found.length > 150 && before.length > 30, `${found.length} texts, ${before.length} for a model`);
  const left = found.map(forPerson).filter((text) => FOR_A_MODEL.test(text));
  assert.deepEqual(left, []);
});

for (const [told, worded] of [
  ["Call ccc_init without `litellm_model`, or ask the user to edit that file.", "Use /ccc-init without a model, or edit that file."],
  ["Call ccc_init with `litellm_model` (the user's choice), or ask the user to run `ccc init` once in a terminal.", "Use /ccc-init MODEL, or run `ccc init` once in a terminal."],
  ["Call ccc_index in a git repository, or run `ccc init` in the project's root.", "Use /ccc-index in a git repository, or use /ccc-init in the project's root."],
  ["Use ccc_search and ccc_index as they are, or call ccc_init with `force` to make one.", "Use /ccc-search and /ccc-index as they are, or use /ccc-init force to make one."],
  ["Use rg meanwhile, and search again later; ccc-status tells when it is ready.", "Search again later; /ccc tells when it is ready."],
  ["ccc_index runs in the background for /p. The ccc-status section of the next turn tells how it goes; use rg meanwhile.", "/ccc-index runs in the background for /p. /ccc tells how it goes."],
  ["Tell the user these words of ccc; its report below and ccc_doctor with `verbose` say more.", "These are ccc's words; its report below and /ccc-doctor verbose say more."],
  ["Ask the user to make room on the disk; use rg meanwhile.", "Make room on the disk."],
  ["No results. Describe what the code does rather than its name, or use rg for exact text.", "No results. Describe what the code does rather than its name."],
]) test(`worded for a person: ${worded}`, () => assert.equal(forPerson(told), worded));
