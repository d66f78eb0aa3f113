/** What a person sees of a call and of its result in the host's terminal. */
import { listed, opened } from "./results.js";
import { counted, plain, seconds } from "./text.js";

/**
 * @typedef {import("./terminal.js").Terminal} Terminal
 * @typedef {import("./terminal.js").Theme} Theme
 * @typedef {import("./terminal.js").Row} Row
 * @typedef {{content?: {type: string, text?: string}[], details?: any}} Shown
 * @typedef {{expanded?: boolean, isPartial?: boolean, isError?: boolean, key?: string, title?: string}} Options
 *   key: what expands it; title: what was called, where it is no tool
 * @typedef {(details: any, text: string) => string | undefined} Summary one line, where the details have what it needs
 */

/** cells below which the start of a query says nothing */
const LEAST = 16;
/** lines of a text that are shown before it is expanded */
const FIRST = 5;

/** @type {Record<string, (args: any) => unknown[]>} what is shown of a call's arguments; the first gives way to the others */
const ARGUMENTS = {
  ccc_search: (args) => [quote(args.query), args.path && `in ${args.path}`, ...searchOptions(args)],
  ccc_index: (args) => [args.background && "in the background"],
  ccc_init: (args) => [args.force && "force", args.litellm_model, args.background && "in the background"],
  ccc_doctor: (args) => [args.verbose && "verbose"],
};

/** @type {Record<string, Summary>} */
const SUMMARIES = { ccc_index: summarizeIndex, ccc_init: summarizeInit, ccc_doctor: summarizeDoctor };

/**
 * The two renderers of a tool, or none where the host lends nothing to draw with.
 * @param {string} name
 * @param {Terminal} terminal
 */
export function renderersFor(name, terminal) {
  if (!terminal.canDraw) return {};
  return {
    /** @type {(args: any, theme: Theme, context: any) => any} */
    renderCall: (args, theme, context) => terminal.view([callRow(name, args, { expanded: context?.expanded }, theme, terminal)]),
    /** @type {(result: Shown, options: Options, theme: Theme, context: any) => any} */
    renderResult: (result, options, theme, context) => {
      const known = { ...options, isError: context?.isError, key: terminal.expandKey(context) };
      return terminal.view(resultRows(name, result, known, theme, terminal));
    },
  };
}

/**
 * @param {string} name
 * @param {any} args what the model has written so far
 * @param {Options} options
 * @param {Theme} theme
 * @param {Terminal} terminal
 * @returns {Row}
 */
export function callRow(name, args, options, theme, terminal) {
  const [first = "", ...others] = (ARGUMENTS[name]?.(args ?? {}) ?? []).filter(Boolean).map(plain);
  const rest = others.map((part) => ` ${part}`).join("");
  const title = theme.fg("toolTitle", theme.bold(options.title ?? name));
  return (width) => {
    if (!first) return [title];
    if (options.expanded) return terminal.wrap(`${title} ${theme.fg("accent", first + rest)}`, width);
    const room = width - terminal.width(options.title ?? name) - 1;
    const left = room - terminal.width(rest);
    return [`${title} ${theme.fg("accent", left < LEAST ? terminal.cut(first + rest, room) : terminal.cut(first, left) + rest)}`];
  };
}

/**
 * @param {string} name
 * @param {Shown} result
 * @param {Options} options
 * @param {Theme} theme
 * @param {Terminal} terminal
 * @returns {Row[]}
 */
export function resultRows(name, result, options, theme, terminal) {
  const text = (result.content ?? []).map((block) => block.text ?? "").join("\n");
  if (options.isError) return failure(text, options, theme, terminal);
  if (options.isPartial) return [terminal.words(theme, plain(text), "muted", "● ")];
  const { details } = result;
  if (name === "ccc_search" && Array.isArray(details?.results)) {
    const rows = options.expanded ? opened(details, text, theme, terminal) : listed(details, theme, terminal, options.key ?? "");
    if (rows) return rows;
  }
  const summary = options.expanded ? undefined : SUMMARIES[name]?.(details, text);
  if (summary === undefined) return paragraphs(text.split("\n"), options, theme, terminal);
  return [terminal.line(theme, [plain(summary), "toolOutput"], [hint(options), "muted", "whole"])];
}

/**
 * The cause stands out, what to do follows it, all else waits until it is asked for.
 * @param {string} text
 * @param {Options} options
 * @param {Theme} theme
 * @param {Terminal} terminal
 */
function failure(text, options, theme, terminal) {
  const [cause, ...others] = text.trimEnd().split("\n");
  const remedy = others.indexOf("");
  const rows = [terminal.words(theme, plain(cause), "error", "✗ ")];
  return [...rows, ...paragraphs(others, options, theme, terminal, { indent: "  ", first: remedy < 0 ? FIRST : remedy })];
}

/**
 * @param {string[]} lines
 * @param {Options} options
 * @param {Theme} theme
 * @param {Terminal} terminal
 * @param {{indent?: string, first?: number}} [form] first: so many lines are shown before it is expanded
 * @returns {Row[]}
 */
function paragraphs(lines, options, theme, terminal, { indent = "", first = FIRST } = {}) {
  const shown = options.expanded || lines.length <= first + 1 ? lines : lines.slice(0, first);
  const rows = shown.map((line) => terminal.words(theme, plain(line), "toolOutput", indent + depth(line)));
  const left = lines.length - shown.length;
  return left ? [...rows, terminal.line(theme, [`${indent}… ${counted(left, "more line")}${hint(options)}`, "muted"])] : rows;
}

/**
 * The spaces that a line begins with.
 * @param {string} line
 */
function depth(line) {
  return /^ */.exec(line)?.[0].slice(0, 8) ?? "";
}

/** @param {Options} options */
function hint({ key }) {
  return key ? ` · ${key} expands` : "";
}

/** @type {Summary} */
function summarizeIndex(details, text) {
  if (details?.files === undefined) return details?.background ? `● ${firstLine(text)}` : undefined;
  const { files, chunks, changes, elapsed_ms } = details;
  const held = `${counted(files, "file")}, ${counted(chunks, "chunk")}`;
  return `✓ ${[held, changed(changes), elapsed_ms && seconds(elapsed_ms.total)].filter(Boolean).join(" · ")}`;
}

/** @param {Record<string, number> | null | undefined} changes files of an index run */
function changed(changes) {
  if (!changes) return "";
  const parts = [[changes.added, "added"], [changes.reprocessed, "changed"], [changes.deleted, "deleted"], [changes.errors, "failed"]];
  const told = parts.filter(([number]) => number).map(([number, word]) => `${number.toLocaleString("en-US")} ${word}`);
  return told.join(", ") || "nothing changed";
}

/** @type {Summary} */
function summarizeInit(details, text) {
  if (details?.created === undefined) return details?.background ? `● ${firstLine(text)}` : undefined;
  return `✓ ${firstLine(text)}`;
}

/** @type {Summary} */
function summarizeDoctor(details) {
  return Array.isArray(details?.checks) ? `✓ ${counted(details.checks.length, "check")}, no problem found` : undefined;
}

/** @param {string} text */
function firstLine(text) {
  return text.split("\n")[0];
}

/** @param {any} args */
function searchOptions({ languages, limit, offset, rank, refresh_index }) {
  return [
    languages?.length && `(${languages.join(", ")})`,
    limit && limit !== 5 && `limit ${limit}`,
    offset && `from ${offset}`,
    rank && rank !== "best" && `ranked by ${rank}`,
    refresh_index === false && "as indexed",
  ];
}

/** @param {unknown} query */
function quote(query) {
  return `"${plain(query).replace(/\s+/g, " ")}"`;
}
