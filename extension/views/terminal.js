/** What the host lends to draw with, and views that fit any width of the terminal. */
import { plainCode } from "./text.js";

/**
 * @typedef {{fg: (colour: string, text: string) => string, bg: (colour: string, text: string) => string,
 *   bold: (text: string) => string}} Theme
 * @typedef {(width: number) => string[]} Row one thing to show, as the lines that it takes at a width
 * @typedef {[text: string, colour: string, whole?: "whole"]} Piece a part of a line; one that is whole or not there
 */

export class Terminal {
  #tui;
  #host;

  /**
   * @param {any} tui the host's terminal library
   * @param {any} [host] its coding agent, which highlights code
   */
  constructor(tui, host) {
    this.#tui = tui;
    this.#host = host;
  }

  /** Whether the host lends what views need. */
  get canDraw() {
    return Boolean(this.#tui?.truncateToWidth && this.#tui.wrapTextWithAnsi && this.#tui.visibleWidth);
  }

  /**
   * Cells that a text takes.
   * @param {string} text
   * @returns {number}
   */
  width(text) {
    return this.#tui.visibleWidth(text);
  }

  /**
   * The start of a text, with an ellipsis where it does not fit.
   * @param {string} text
   * @param {number} width
   * @returns {string}
   */
  cut(text, width) {
    // The host ends a cut with a reset, which would end the background as well.
    return this.#tui.truncateToWidth(text, Math.max(0, width), "…").replaceAll("\x1b[0m", "");
  }

  /**
   * The end of a path, from a slash on where that is possible.
   * @param {string} path
   * @param {number} width
   */
  cutStart(path, width) {
    if (this.width(path) <= width) return path;
    const parts = path.split("/");
    while (parts.length > 1 && this.width(`…/${parts.slice(1).join("/")}`) > width) parts.shift();
    const whole = `…/${parts.slice(1).join("/")}`;
    if (parts.length > 1 && this.width(whole) <= width) return whole;
    const letters = [...new Intl.Segmenter().segment(parts[parts.length - 1])].map(({ segment }) => segment);
    while (letters.length > 0 && this.width(`…${letters.join("")}`) > width) letters.shift();
    return this.cut(`…${letters.join("")}`, width);
  }

  /**
   * @param {string} text with or without colours, which each line takes up again
   * @param {number} width
   * @returns {string[]}
   */
  wrap(text, width) {
    return this.#tui.wrapTextWithAnsi(text, Math.max(1, width));
  }

  /**
   * Code in the colours of the host's own tools, a string for each line.
   * @param {string[]} lines
   * @param {string} path
   * @param {string} language where the path does not say
   * @param {Theme} theme
   * @returns {string[]}
   */
  highlight(lines, path, language, theme) {
    const code = lines.map(plainCode);
    try {
      const name = this.#host.getLanguageFromPath(path) ?? language;
      const coloured = this.#host.highlightCode(code.join("\n"), name).join("\n");
      // A colour that reaches over a line's end begins anew on the next one.
      const apart = this.wrap(coloured, Number.MAX_SAFE_INTEGER);
      if (apart.length === code.length) return apart;
    } catch {
      // A host that highlights otherwise, or not at all, shows plain code.
    }
    return code.map((line) => theme.fg("toolOutput", line));
  }

  /**
   * What the user presses to expand what is shown.
   * @param {any} [context] of the renderer, which knows it where the host is newer
   * @returns {string}
   */
  expandKey(context) {
    try {
      return (context?.keyText ?? this.#host.keyText)("app.tools.expand");
    } catch {
      return "";
    }
  }

  /**
   * @param {Theme} theme
   * @param {...Piece} pieces
   * @returns {Row} one line; what does not fit is cut
   */
  line(theme, ...pieces) {
    return (width) => {
      let left = width;
      let line = "";
      for (const [text, colour, whole] of pieces) {
        if (whole && this.width(text) > left) continue;
        const shown = this.cut(text, left);
        left -= this.width(shown);
        line += theme.fg(colour, shown);
        if (shown !== text) break;
      }
      return [line];
    };
  }

  /**
   * @param {Theme} theme
   * @param {string} text of one line
   * @param {string} colour
   * @param {string} [mark] before the first line; the others are indented as far
   * @returns {Row} as many lines as it takes
   */
  words(theme, text, colour, mark = "") {
    return (width) => {
      const indent = this.width(mark);
      const lines = this.wrap(text, width - indent);
      return lines.map((line, at) => theme.fg(colour, (at === 0 ? mark : " ".repeat(indent)) + line));
    };
  }

  /**
   * @param {Row[]} rows
   */
  view(rows) {
    return new View(rows, this);
  }

  /**
   * Rows on the background of what extensions say.
   * @param {Row[]} rows
   * @param {Theme} theme
   * @param {number} [padding]
   */
  card(rows, theme, padding = 1) {
    const box = new this.#tui.Box(padding, 1, (/** @type {string} */ text) => theme.bg("customMessageBg", text));
    box.addChild(this.view(rows));
    return box;
  }
}

/** A component of the host's terminal library. */
class View {
  #rows;
  #terminal;
  /** @type {{width: number, lines: string[]} | undefined} */
  #drawn;

  /**
   * @param {Row[]} rows
   * @param {Terminal} terminal
   */
  constructor(rows, terminal) {
    this.#rows = rows;
    this.#terminal = terminal;
  }

  /** @param {number} width */
  render(width) {
    if (this.#drawn?.width !== width) {
      const lines = this.#rows.flatMap((row) => row(width));
      // The host ends at a line that is too wide, as some are in a terminal of a few cells.
      const fitting = lines.map((line) => (this.#terminal.width(line) > width ? this.#terminal.cut(line, width) : line));
      this.#drawn = { width, lines: fitting };
    }
    return this.#drawn.lines;
  }

  invalidate() {
    this.#drawn = undefined;
  }
}
