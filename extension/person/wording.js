/** What the worker tells a model to do, in the words of a person who types commands. */

/** @type {[RegExp, string | ((...found: string[]) => string)][]} one after the other */
const RULES = [
  [/\bccc_init with `litellm_model`(?: \(the user's choice\))?/g, "/ccc-init MODEL"],
  [/\bccc_init without `litellm_model`/g, "/ccc-init without a model"],
  [/\bccc_init with `force`/g, "/ccc-init force"],
  [/\bccc_doctor with `verbose`/g, "/ccc-doctor verbose"],
  [/\bccc_(search|index|init|doctor)\b/g, "/ccc-$1"],
  [/\brun `ccc init` in the project's root/g, "use /ccc-init in the project's root"],
  [/\b([Cc])all (?=\/ccc)/g, (_all, letter) => (letter === "C" ? "Use " : "use ")],
  [/\bthe ccc-status section of the next turn\b|\bccc-status\b/gi, "/ccc"],
  [/\bAsk the user to (\w)/g, (_all, letter) => letter.toUpperCase()],
  [/\bask the user to /g, ""],
  [/\bTell the user these words of ccc;/g, "These are ccc's words;"],
  [/\bTell the user\. /g, ""],
  [/\bUse rg meanwhile, and (\w)/g, (_all, letter) => letter.toUpperCase()],
  [/ ?\bUse rg meanwhile\.|; use rg meanwhile\b| ?\bCheck with rg or read\.|, or use rg for exact text\b/g, ""],
  [/; --json names them\b/g, ""],
];

/**
 * @param {string} text a message, a hint or a note; no code
 * @returns {string}
 */
export function forPerson(text) {
  return RULES.reduce((said, [words, instead]) => said.replace(words, /** @type {any} */ (instead)), text);
}
