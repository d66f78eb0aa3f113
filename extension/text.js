/** Text of a foreign origin, made fit for one line of a terminal. */

const ESCAPES = /\x1b(\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?)/g;
// Control characters, and those that turn the direction of what follows them.
const CONTROLS = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]/g;

/** @param {unknown} text */
export function plain(text) {
  return String(text ?? "").replace(ESCAPES, "").replace(CONTROLS, " ").trim();
}
