/** What a command shows in the transcript: for the person, never for the model. */
import { callRow, resultRows } from "./render.js";

/**
 * @typedef {{name: string, title?: string, args?: any, content: string, details?: any, isError?: boolean}} Card
 *   a tool's name, which says how to show it, and what the command was and brought
 */

export const CARD = "ccc";

/**
 * @param {any} pi the host's extension API
 * @param {import("./terminal.js").Terminal} terminal
 */
export function registerCards(pi, terminal) {
  if (!terminal.canDraw) return;
  /** @type {(card: Card, options: any, theme: import("./terminal.js").Theme) => any} */
  const draw = (card, options, theme) => terminal.card(cardRows(card, options, theme, terminal), theme, options.outputPad);
  if (pi.registerEntryRenderer) {
    pi.registerEntryRenderer(CARD, (/** @type {any} */ entry, /** @type {any} */ options, /** @type {any} */ theme) => draw(entry.data, options, theme));
    return;
  }
  // An older host has messages only, and the model would read them.
  pi.registerMessageRenderer?.(CARD, (/** @type {any} */ message, /** @type {any} */ options, /** @type {any} */ theme) => draw(message.details, options, theme));
  pi.on("context", (/** @type {any} */ event) => ({ messages: event.messages.filter((/** @type {any} */ message) => message.customType !== CARD) }));
}

/**
 * @param {Card} card
 * @param {any} options
 * @param {import("./terminal.js").Theme} theme
 * @param {import("./terminal.js").Terminal} terminal
 */
export function cardRows(card, options, theme, terminal) {
  const known = { expanded: options.expanded, isError: card.isError, key: terminal.expandKey(options), title: card.title };
  const result = { content: [{ type: "text", text: card.content }], details: card.details };
  return [callRow(card.name, card.args, known, theme, terminal), ...resultRows(card.name, result, known, theme, terminal)];
}
