/** Text of a foreign origin, made fit for the lines of a terminal. */

const ESCAPES = /\x1b(\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?)/g;
// Control characters, and those that turn the direction of what follows them.
const CONTROLS = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]/g;

/**
 * Words for one line.
 * @param {unknown} text
 */
export function plain(text) {
  return String(text ?? "").replace(ESCAPES, "").replace(CONTROLS, " ").trim();
}

/**
 * One line of code: nothing in it moves the cursor, and its indentation stays.
 * @param {unknown} text
 */
export function plainCode(text) {
  return String(text ?? "").replace(ESCAPES, "").replaceAll("\t", "    ").replace(CONTROLS, " ").trimEnd();
}

/**
 * @param {number} number
 * @param {string} noun
 */
export function counted(number, noun) {
  return `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;
}

/** @param {number} ms */
export function seconds(ms) {
  return `${(ms / 1000).toLocaleString("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 })} s`;
}
