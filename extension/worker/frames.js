/**
 * Bytes in, lines out. A line ends at LF alone: U+2028 and its like are ordinary characters inside
 * JSON, and a chunk may end in the middle of a character.
 */
import { StringDecoder } from "node:string_decoder";

export class LineSplitter {
  #decoder = new StringDecoder("utf8");
  /** @type {string[]} the pieces of the line that has not ended yet */
  #pieces = [];
  #held = 0;
  #limit;
  #onLine;
  #onOverflow;

  /**
   * @param {number} limit characters that a line may have
   * @param {(line: string) => void} onLine
   * @param {(head: string) => void} onOverflow given the start of a line over the limit, which is dropped
   */
  constructor(limit, onLine, onOverflow) {
    this.#limit = limit;
    this.#onLine = onLine;
    this.#onOverflow = onOverflow;
  }

  /** @param {Buffer} chunk */
  push(chunk) {
    const [first, ...others] = this.#decoder.write(chunk).split("\n");
    this.#hold(first);
    for (const piece of others) {
      this.#finish();
      this.#hold(piece);
    }
  }

  /** Hand over what stands after the last LF. */
  end() {
    this.#hold(this.#decoder.end());
    if (this.#held > 0) this.#finish();
  }

  /** @param {string} piece */
  #hold(piece) {
    this.#pieces.push(piece);
    this.#held += piece.length;
    if (this.#held <= this.#limit) return;
    const head = this.#take().slice(0, this.#limit);
    this.#onOverflow(head);
  }

  #finish() {
    this.#onLine(this.#take());
  }

  #take() {
    const line = this.#pieces.join("");
    this.#pieces = [];
    this.#held = 0;
    return line;
  }
}
