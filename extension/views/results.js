/** The results of a search as a person sees them: a line each, or all their code. */
import { counted, plain, plainCode, seconds } from "./text.js";

/**
 * @typedef {import("./terminal.js").Terminal} Terminal
 * @typedef {import("./terminal.js").Theme} Theme
 * @typedef {import("./terminal.js").Row} Row
 * @typedef {{file_path: string, path?: string, language: string, start_line: number, end_line: number, score?: number,
 *   lines?: number, preview?: string}} Match a row of the details; older sessions have no path, lines and preview
 */

/** cells below which the start of a line of code says nothing */
const LEAST_PREVIEW = 12;
/** cells that a line of code may take from places that are long */
const MOST_PREVIEW = 60;
/** how much of the width the places may take before the code */
const PLACES = 0.45;

/**
 * @param {any} details
 * @param {Theme} theme
 * @param {Terminal} terminal
 * @param {string} key that expands it
 * @returns {Row[]}
 */
export function listed(details, theme, terminal, key) {
  /** @type {Match[]} */
  const matches = details.results;
  const rows = [(/** @type {number} */ width) => table(matches, width, theme, terminal)];
  return [...(matches.length ? rows : []), summary(details, theme, terminal, key && ` · ${key} expands`)];
}

/**
 * @param {any} details
 * @param {string} text
 * @param {Theme} theme
 * @param {Terminal} terminal
 * @returns {Row[] | undefined} undefined where the text does not hold the results that the details name
 */
export function opened(details, text, theme, terminal) {
  /** @type {Match[]} */
  const matches = details.results;
  const found = code(text, matches, details.lead ?? 0);
  if (!found) return undefined;
  const rows = matches.flatMap((match, at) => openedMatch(match, found[at], theme, terminal));
  const lead = text.split("\n").slice(0, Math.max(0, (details.lead ?? 0) - 1));
  const more = details.next_offset ? ["There are more results."] : [];
  const rest = matches.length ? [...more, ...(details.notes ?? [])] : text.split("\n").slice(details.lead ?? 0).filter(Boolean);
  const said = (/** @type {string[]} */ texts, /** @type {string} */ colour) => texts.map((line) => terminal.words(theme, plain(line), colour));
  return [...said(lead, "warning"), ...rows, ...said(rest, "muted"), summary(details, theme, terminal, "")];
}

/**
 * @param {Match[]} matches
 * @param {number} width
 * @param {Theme} theme
 * @param {Terminal} terminal
 */
function table(matches, width, theme, terminal) {
  const places = matches.map(place);
  const kinds = matches.map(kindOf);
  const kind = Math.max(...kinds.map((text) => terminal.width(text)));
  const room = Math.max(1, width - kind - 2);
  const widest = Math.max(...places.map((text) => terminal.width(text)));
  const shared = Math.min(widest, Math.max(Math.floor(width * PLACES), room - MOST_PREVIEW - 2));
  const last = room - shared - 2 < LEAST_PREVIEW ? 0 : room - shared - 2;
  const first = last ? shared : Math.min(widest, room);
  return matches.map((match, at) => {
    const where = pad(terminal.cutStart(places[at], first), first, terminal);
    const head = `${theme.fg("accent", where)}  ${theme.fg("dim", pad(kinds[at], kind, terminal))}`;
    const preview = plainCode(match.preview).trim();
    if (!preview || !last) return head;
    return `${head}  ${terminal.highlight([terminal.cut(preview, last)], match.file_path, match.language, theme)[0]}`;
  });
}

/**
 * @param {string} text
 * @param {number} width
 * @param {Terminal} terminal
 */
function pad(text, width, terminal) {
  return text + " ".repeat(Math.max(0, width - terminal.width(text)));
}

/**
 * @param {Match} match
 * @param {string[]} lines
 * @param {Theme} theme
 * @param {Terminal} terminal
 * @returns {Row[]}
 */
function openedMatch(match, lines, theme, terminal) {
  const head = terminal.line(theme, [place(match), "accent"], [`  ${kindOf(match)}`, "dim"]);
  const gutter = String(match.start_line + lines.length - 1).length;
  const numbered = (/** @type {number} */ width) =>
    terminal.highlight(lines, match.file_path, match.language, theme).flatMap((line, at) => {
      const number = String(match.start_line + at).padStart(gutter);
      const parts = terminal.wrap(line, width - gutter - 2);
      return parts.map((part, nth) => `${theme.fg("dim", nth === 0 ? number : " ".repeat(gutter))}  ${part}`);
    });
  return [head, numbered, () => [""]];
}

/**
 * How many there are, how long it took, and what a person should know of them.
 * @param {any} details
 * @param {Theme} theme
 * @param {Terminal} terminal
 * @param {string} hint
 */
function summary(details, theme, terminal, hint) {
  const total = details.elapsed_ms?.total;
  const said = [counted(details.results.length, "result"), total !== undefined && seconds(total)].filter(Boolean);
  const byWords = details.by === "words" ? " · by words, not by meaning" : "";
  const stale = details.stale ? " · the index is being brought up to date" : byWords;
  return terminal.line(theme, [said.join(" · "), "muted"], [stale, "warning"], [hint, "muted", "whole"]);
}

/** @param {Match} match */
function place({ path, file_path, start_line, end_line }) {
  return `${plain(path ?? file_path)}:${start_line}-${end_line}`;
}

/** @param {Match} match */
function kindOf({ language, score }) {
  return `${language} ${score === undefined ? "by words" : score.toFixed(2)}`;
}

/**
 * The lines of code that the text of a search shows of each result.
 * @param {string} text
 * @param {Match[]} matches
 * @param {number} at the line that the first one begins in
 * @returns {string[][] | undefined} undefined where it is another text
 */
function code(text, matches, at) {
  const lines = text.split("\n");
  /** @type {string[][]} */
  const found = [];
  for (const match of matches) {
    const end = at + (match.lines ?? Infinity);
    if (end > lines.length || !lines[at].startsWith(`${match.path ?? match.file_path}:${match.start_line}-${match.end_line} `)) return undefined;
    found.push(lines.slice(at + 1, end));
    at = end + 1;
  }
  return found;
}
