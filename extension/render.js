/** What a person sees of a call and of its result in the host's terminal. */
import { plain } from "./text.js";

/**
 * @typedef {{fg: (colour: string, text: string) => string, bold: (text: string) => string}} Theme
 * @typedef {{content?: {type: string, text?: string}[], details?: any}} Shown
 * @typedef {{file_path: string, language: string, start_line: number, end_line: number, score: number}} Match
 * @typedef {(details: any, theme: Theme) => string | undefined} Summary the collapsed form, where there is one
 */

/** @type {Record<string, (args: any) => string>} */
const ARGUMENTS = {
  ccc_search: (args) => [quote(args.query), args.path && `in ${args.path}`, args.languages?.join(", ")].filter(Boolean).join(" "),
  ccc_index: (args) => (args.background ? "in the background" : ""),
  ccc_init: (args) => [args.force && "force", args.litellm_model, args.background && "in the background"].filter(Boolean).join(" "),
  ccc_doctor: (args) => (args.verbose ? "verbose" : ""),
};

/** @type {Record<string, Summary>} */
const SUMMARIES = { ccc_search: summarizeSearch };

/**
 * The two renderers of a tool, or none where the host lends no components.
 * @param {string} name
 * @param {any} tui the host's terminal library
 */
export function renderersFor(name, tui) {
  if (!tui?.Text) return {};
  const component = (/** @type {string} */ text) => new tui.Text(text, 0, 0);
  return {
    renderCall: (/** @type {any} */ args, /** @type {Theme} */ theme) => component(callLine(name, args, theme)),
    renderResult: (/** @type {Shown} */ result, /** @type {any} */ options, /** @type {Theme} */ theme, /** @type {any} */ context) =>
      component(resultText(name, result, { ...options, isError: context?.isError }, theme)),
  };
}

/**
 * @param {string} name
 * @param {any} args what the model has written so far
 * @param {Theme} theme
 */
export function callLine(name, args, theme) {
  const said = plain(ARGUMENTS[name]?.(args ?? {}));
  return theme.fg("toolTitle", theme.bold(name)) + (said && ` ${theme.fg("accent", said)}`);
}

/**
 * @param {string} name
 * @param {Shown} result
 * @param {{expanded?: boolean, isPartial?: boolean, isError?: boolean}} options
 * @param {Theme} theme
 */
export function resultText(name, result, options, theme) {
  const text = (result.content ?? []).map((block) => block.text ?? "").join("\n");
  if (options.isError) return theme.fg("error", text);
  if (options.isPartial) return theme.fg("warning", text);
  const summary = options.expanded ? undefined : SUMMARIES[name]?.(result.details, theme);
  return summary ?? theme.fg("toolOutput", options.expanded ? text : firstLines(text, 5));
}

/** @type {Summary} */
function summarizeSearch(details, theme) {
  /** @type {Match[] | undefined} */
  const matches = details?.results;
  if (!matches) return undefined;
  const count = theme.fg("muted", matches.length === 1 ? "1 result" : `${matches.length} results`);
  return [count, ...matches.map((match) => matchLine(match, theme))].join("\n");
}

/**
 * @param {Match} match
 * @param {Theme} theme
 */
function matchLine({ file_path, start_line, end_line, language, score }, theme) {
  const place = theme.fg("toolOutput", `${plain(file_path)}:${start_line}-${end_line}`);
  return `${place} ${theme.fg("dim", `${language} ${score.toFixed(2)}`)}`;
}

/**
 * @param {string} text
 * @param {number} count
 */
function firstLines(text, count) {
  const lines = text.split("\n");
  return lines.length > count ? [...lines.slice(0, count), `… ${lines.length - count} more lines`].join("\n") : text;
}

/** @param {unknown} query */
function quote(query) {
  return `"${plain(query).replace(/\s+/g, " ")}"`;
}
