import assert from "node:assert/strict";
import { test } from "node:test";
import { callRow, renderersFor, resultRows } from "../../../extension/views/render.js";
import { Terminal } from "../../../extension/views/terminal.js";

/** A terminal library in which a CJK character takes two cells, as in the host's. */
const width = (/** @type {string} */ text) => [...text].reduce((sum, letter) => sum + (/[\u3000-\u9fff]/.test(letter) ? 2 : 1), 0);
const tui = {
  visibleWidth: width,
  truncateToWidth: (/** @type {string} */ text, /** @type {number} */ most, /** @type {string} */ ellipsis) => {
    if (width(text) <= most) return text;
    const letters = [...text];
    while (letters.length && width(letters.join("")) + 1 > most) letters.pop();
    return most > 0 ? `${letters.join("")}\x1b[0m${ellipsis}\x1b[0m` : "";
  },
  wrapTextWithAnsi: (/** @type {string} */ text, /** @type {number} */ most) =>
    text.split("\n").flatMap((line) => (line ? (line.match(new RegExp(`.{1,${Math.min(most, 9999)}}`, "gu")) ?? []) : [""])),
};
const agent = {
  getLanguageFromPath: (/** @type {string} */ path) => (path.endsWith(".py") ? "python" : undefined),
  highlightCode: (/** @type {string} */ code, /** @type {string} */ language) => code.split("\n").map((line) => (line ? `<${language}>${line}` : "")),
};
const terminal = new Terminal(tui, agent);
const theme = {
  fg: (/** @type {string} */ _colour, /** @type {string} */ text) => text,
  bg: (/** @type {string} */ _colour, /** @type {string} */ text) => text,
  bold: (/** @type {string} */ text) => text,
};
const coloured = { ...theme, fg: (/** @type {string} */ colour, /** @type {string} */ text) => (text ? `${colour}(${text})` : "") };

/** @param {string} name @param {any} args @param {object} [options] @param {number} [cells] */
const call = (name, args, options = {}, cells = 100) => callRow(name, args, options, theme, terminal)(cells).join("\n");
/** @param {string} name @param {any} result @param {object} [options] @param {number} [cells] @param {any} [colours] */
const shown = (name, result, options = {}, cells = 100, colours = theme) =>
  resultRows(name, result, options, colours, terminal).flatMap((row) => row(cells)).join("\n");

const match = { file_path: "src/a.py", start_line: 1, end_line: 3, language: "python", score: 0.8125, lines: 4, preview: "def a():" };
const other = { file_path: "docs/guide.md", start_line: 7, end_line: 7, language: "markdown", score: 0.5, lines: 2, preview: "# Guide" };
const text = (/** @type {string} */ value) => [{ type: "text", text: value }];
const found = {
  content: text("src/a.py:1-3 [python] 0.812\ndef a():\n\n\treturn 1\n\ndocs/guide.md:7-7 [markdown] 0.500\n# Guide\n\n[Results 1 to 2; no more.]\n\nNote: as it was"),
  details: { results: [match, other], notes: ["as it was"], elapsed_ms: { total: 412 } },
};

test("a search is a line, its results a line each in columns, then their number and the time", () => {
  assert.equal(call("ccc_search", { query: "retry\nbackoff", path: "src" }), 'ccc_search "retry backoff" in src');
  assert.equal(
    shown("ccc_search", found, { key: "ctrl+o" }),
    "src/a.py:1-3       python 0.81    <python>def a():\ndocs/guide.md:7-7  markdown 0.50  <markdown># Guide\n2 results · 0.4 s · ctrl+o expands",
  );
});

test("a search that is opened shows the code with its line numbers, highlighted, and what else was said", () => {
  assert.equal(
    shown("ccc_search", found, { expanded: true }),
    "src/a.py:1-3  python 0.81\n1  <python>def a():\n2  \n3  <python>    return 1\n\n" +
      "docs/guide.md:7-7  markdown 0.50\n7  <markdown># Guide\n\nas it was\n2 results · 0.4 s",
  );
  const more = { ...found, details: { ...found.details, next_offset: 2 } };
  assert.match(shown("ccc_search", more, { expanded: true }), /\nThere are more results\.\nas it was\n2 results/);
});

test("a result of an older session, without lines and preview, is shown all the same", () => {
  const { lines: _lines, preview: _preview, ...old } = match;
  const result = { content: text("the whole text"), details: { results: [old] } };
  assert.equal(shown("ccc_search", result), "src/a.py:1-3  python 0.81\n1 result");
  assert.equal(shown("ccc_search", result, { expanded: true }), "the whole text");
});

test("a text that is not what the details say is not taken apart", () => {
  const [{ text: whole }] = found.content;
  for (const content of [text(`x\n${whole}`), text("src/a.py:1-3 [python] 0.812\ndef a():")])
    assert.equal(shown("ccc_search", { ...found, content }, { expanded: true }), content[0].text.replace("\t", ""));
});

test("a search that finds nothing says what to try, and a result by words has no score", () => {
  const none = { content: text("No results. Describe what the code does."), details: { results: [], notes: [] } };
  assert.equal(shown("ccc_search", none, { expanded: true }), "No results. Describe what the code does.\n0 results");
  const lead = text(`By words, not by meaning: no ccc.\n\n${found.content[0].text}`);
  const instead = { content: lead, details: { ...found.details, by: "words", lead: 2 } };
  assert.match(shown("ccc_search", instead, { expanded: true }), /^By words, not by meaning: no ccc\.\nsrc\/a.py:1-3 .* · by words, not by meaning$/s);
  const { score: _score, ...byWords } = { ...match, path: "../src/a.py" };
  assert.equal(shown("ccc_search", { details: { results: [byWords] } }), "../src/a.py:1-3  python by words  <python>def a():\n1 result");
});

test("no result fits in as little room as there is: never wider, the end of a path and the start of the code", () => {
  const long = { ...match, file_path: "packages/server/src/upload/retry_policy.py", preview: "def retry_upload(file, 再試行する回数, wait):" };
  const plainly = new Terminal(tui, { ...agent, highlightCode: (/** @type {string} */ code) => code.split("\n") });
  const { renderCall, renderResult } = renderersFor("ccc_search", plainly);
  for (let cells = 1; cells < 160; cells++) {
    const views = [renderCall?.({ query: "q" }, theme, {}), renderResult?.({ details: { results: [long, other] } }, {}, theme, {}), renderResult?.(found, { expanded: true }, theme, {})];
    for (const line of views.flatMap((view) => view.render(cells))) assert.ok(width(line) <= cells, `${cells}: ${line}`);
  }
  const narrow = shown("ccc_search", { details: { results: [long] } }, {}, 58).split("\n")[0];
  assert.match(narrow, /^…\/retry_policy.py:1-3 +python 0.81 +<python>def retry_upl.*…$/);
});

test("code too long for the terminal goes on in the next line, under itself", () => {
  const result = { content: text("a.py:9-10 [python] 0.500\n12345678901\nx"), details: { results: [{ ...match, file_path: "a.py", start_line: 9, end_line: 10, lines: 3 }] } };
  const plainly = { ...agent, highlightCode: (/** @type {string} */ code) => code.split("\n") };
  const rows = resultRows("ccc_search", result, { expanded: true }, theme, new Terminal(tui, plainly));
  assert.deepEqual(rows[1](12), [" 9  12345678", "    901", "10  x"]);
});

test("a host that highlights otherwise shows plain code", () => {
  for (const broken of [{}, { ...agent, highlightCode: () => ["one line"] }, { ...agent, highlightCode: () => assert.fail() }]) {
    const rows = resultRows("ccc_search", found, { expanded: true }, theme, new Terminal(tui, broken));
    assert.equal(rows[1](40).at(-1), "3      return 1");
  }
});

test("what a path, a query, a preview or the code holds cannot move the cursor, colour the line or turn it round", () => {
  const evil = "a\x1b[2J\x1b]0;title\x07\u202e\u061cb\rc";
  assert.equal(call("ccc_search", { query: evil, path: evil }), 'ccc_search "a b c" in a  b c');
  const details = { results: [{ ...match, file_path: evil, preview: `\x1b[31m${evil}` }] };
  assert.equal(shown("ccc_search", { details }), "a  b c:1-3  python 0.81  <python>a  b c\n1 result");
  const code = { content: text(`a.py:1-1 [python] 0.5\nx\t\x1b[31m\x1b[Ay\x9b1m\r`), details: { results: [{ ...match, file_path: "a.py", end_line: 1, lines: 2 }] } };
  assert.match(shown("ccc_search", code, { expanded: true }), /\n1 {2}<python>x {4}y 1m\n/);
});

test("a call that is still being written is shown, a long one is cut until it is opened", () => {
  assert.equal(call("ccc_search", undefined), 'ccc_search ""');
  assert.equal(call("ccc_init", { force: true, background: true }), "ccc_init force in the background");
  assert.equal(call("ccc_search", { query: "q", languages: ["py", "go"], limit: 9, offset: 5, rank: "ccc" }), 'ccc_search "q" (py, go) limit 9 from 5 ranked by ccc');
  assert.equal(call("ccc_search", { query: "x".repeat(50) }, {}, 20), 'ccc_search "xxxxxxx…');
  assert.equal(call("ccc_search", { query: "x".repeat(50), path: "src" }, {}, 40), `ccc_search "${"x".repeat(20)}… in src`);
  assert.equal(call("ccc_search", { query: "x".repeat(20) }, { expanded: true }, 20), `ccc_search "${"x".repeat(8)}\n${"x".repeat(12)}"`);
});

test("a failure shows its cause and the remedy first", () => {
  const result = { content: text("The project has no index yet.\nCall ccc_index to build it.\n\na\nb\nc\nd\ne"), details: {} };
  const failed = shown("ccc_search", result, { isError: true, key: "ctrl+o" }, 100, coloured);
  assert.equal(failed.split("\n")[0], "error(✗ The project has no index yet.)");
  assert.equal(failed.split("\n")[1], "toolOutput(  Call ccc_index to build it.)");
  assert.equal(failed.split("\n").slice(2).join("\n"), "muted(  … 6 more lines · ctrl+o expands)");
  assert.match(shown("ccc_search", result, { isError: true, expanded: true }), /\n {2}e$/);
});

test("progress is one line, wrapped where it is too long", () => {
  assert.equal(shown("ccc_index", { content: text("7 of 9") }, { isPartial: true }), "● 7 of 9");
  assert.equal(shown("ccc_index", { content: text("12345678") }, { isPartial: true }, 6), "● 1234\n  5678");
});

test("an index run is told by what the index holds, what changed, and the time", () => {
  const changes = { listed: 9, added: 3, reprocessed: 1204, deleted: 0, unchanged: 5, errors: 1 };
  const details = { files: 5711, chunks: 1, changes, elapsed_ms: { total: 12345 } };
  const result = { content: text("Indexed /p: …\nThis run: …"), details };
  assert.equal(shown("ccc_index", result), "✓ 5,711 files, 1 chunk · 3 added, 1,204 changed, 1 failed · 12.3 s");
  assert.equal(shown("ccc_index", { content: text("a"), details: { files: 1, chunks: 2, changes: { added: 0 } } }), "✓ 1 file, 2 chunks · nothing changed");
  assert.equal(shown("ccc_index", result, { expanded: true }), "Indexed /p: …\nThis run: …");
  assert.equal(shown("ccc_index", { content: text("runs\nb"), details: { background: true } }), "● runs");
  assert.equal(shown("ccc_index", { content: text("goes on"), details: { indexing: true } }), "goes on");
});

test("init and doctor are told in a line", () => {
  assert.equal(shown("ccc_init", { content: text("Initialized /p.\nNote: b"), details: { created: true } }), "✓ Initialized /p.");
  assert.equal(shown("ccc_doctor", { content: text("a\nb"), details: { checks: [{}, {}] } }, { key: "ctrl+o" }), "✓ 2 checks, no problem found · ctrl+o expands");
});

test("a text of which nothing is known is shown by its first lines until it is opened", () => {
  const long = { content: text([..."abcdefgh"].join("\n")) };
  assert.equal(shown("ccc_doctor", long), "a\nb\nc\nd\ne\n… 3 more lines");
  assert.equal(shown("ccc_doctor", long, { expanded: true }), [..."abcdefgh"].join("\n"));
});

test("a host that lends nothing to draw with gets no renderers; another gets components that fit", () => {
  assert.deepEqual(renderersFor("ccc_search", new Terminal(undefined)), {});
  const { renderCall, renderResult } = renderersFor("ccc_search", terminal);
  assert.deepEqual(renderCall?.({ query: "q" }, theme, {}).render(80), ['ccc_search "q"']);
  const view = renderResult?.(found, {}, theme, { keyText: () => "alt+o" });
  assert.equal(view.render(100).at(-1), "2 results · 0.4 s · alt+o expands");
  assert.equal(view.render(100), view.render(100), "a frame costs nothing while the width stays");
  assert.equal(view.render(20).at(-1), "2 results · 0.4 s");
});
