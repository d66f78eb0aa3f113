from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera_ccc_tools.ranking import file_kinds
from vera_ccc_tools.ranking import words as identifiers


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("HttpRouter", ("http", "router")),
        ("HTTPServer", ("http", "server")),
        ("parse_args", ("parse", "args")),
        ("__init__", ("init",)),
        ("getURLForID", ("get", "url", "for", "id")),
        ("utf8Decoder", ("utf", "8", "decoder")),
        ("SCREAMING_CASE", ("screaming", "case")),
        ("größe", ("größe",)),
        ("压缩响应", ("压缩响应",)),
        ("", ()),
    ],
)
def test_a_name_is_split_into_its_parts(name: str, parts: tuple[str, ...]) -> None:
    assert identifiers.split(name) == parts


@pytest.mark.parametrize(
    "words",
    [
        "parse parses parsed parsing parser parsers",
        "compress compression compressing compressed",
        "recover recovery recoverer recovering",
        "throttle throttling throttled",
        "strip stripping stripped",
        "redirect redirects redirection",
        "quantize quantization quantizing",
        "class classes",
        "query queries",
        "token tokens tokenizer tokenization",
        "validate validation validator validating valid",
        "create creates created creation creator",
        "configure configuration",
        "utility utilities util utils",
        "state states",
        "build building builder",
    ],
)
def test_the_forms_of_a_word_have_one_stem(words: str) -> None:
    assert len({identifiers.stem(word) for word in words.split()}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [("format", "form"), ("status", "state"), ("router", "root"), ("less", "lens")],
)
def test_different_words_keep_different_stems(one: str, other: str) -> None:
    assert identifiers.stem(one) != identifiers.stem(other)


@pytest.mark.parametrize("word", ["id", "go", "bus", "is", "漢字", "123", "sing", ""])
def test_a_short_or_foreign_word_keeps_its_letters(word: str) -> None:
    assert word.startswith(identifiers.stem(word))
    assert len(identifiers.stem(word)) >= min(3, len(word))


@given(st.text(max_size=30))
def test_a_stem_begins_its_word(word: str) -> None:
    assert word.startswith(identifiers.stem(word))


@given(st.text(max_size=60))
def test_no_text_is_too_strange_to_be_taken_apart(text: str) -> None:
    for run in identifiers.runs(text):
        assert [term for term, _ in identifiers.typed(run)] == list(identifiers.terms(run))
    for name in identifiers.names(text):
        identifiers.Definition([name]).within(text)
    identifiers.code_lines(text)
    file_kinds.asked(text)
    file_kinds.of_path(text)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("HttpRouter", ["HttpRouter"]),
        (" parse_args() ", ["parse_args"]),
        ("Rack::Builder", ["Builder"]),
        ("axum::Router", ["Router"]),
        ("App\\Web\\Store", ["Store"]),
        ("res.sendFile", ["sendFile"]),
        ("response", ["response"]),
        ("$store", ["$store"]),
        ("how StaticModel encodes text", ["StaticModel"]),
        ("where parse_args and Rack::Builder are used", ["parse_args", "Builder"]),
        ("who calls close()", ["close"]),
        ("how requests are routed", []),
        ("HTTP and JSON", []),
        ("", []),
    ],
)
def test_the_names_that_a_question_asks_for_are_seen(query: str, names: list[str]) -> None:
    assert list(identifiers.names(query)) == names


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("run", "def run(self):"),
        ("run", "    async def run(self):"),
        ("run", "  def self.run(argument)"),
        ("Job", "class Job(Base):"),
        ("Job", "    export default abstract class Job<T> {"),
        ("Job", "module.exports = class Job {"),
        ("Job", "pub(crate) struct Job<'a> {"),
        ("Job", "type Job struct {"),
        ("Job", "public final class Job {"),
        ("Job", "typedef struct Job {"),
        ("Job", "data class Job(val id: Int)"),
        ("Job", "defmodule App.Job do"),
        ("Job", "export type Job = {"),
        ("run", "func (job *Job) run(ctx context.Context) error {"),
        ("run", "func run[T any](job T) {"),
        ("run", "pub async fn run<T>(job: T) {"),
        ("run", "fun Job.run() = 1"),
        ("run", "export function run(job) {"),
        ("run", "exports.run = function (job) {"),
        ("run", "Job.prototype.run = async (job) => {"),
        ("run", "const run = (job) => {"),
        ("run", "  run(job) {"),
        ("run", "  private static async run(job: Job): Promise<void> {"),
        ("run", "    public List<String> run(Job job) throws IOException {"),
        ("run", "    public function run(Job $job): void\n    {"),
        ("run", "static int run(struct job *job)\n{"),
        ("run", "(defn run [job]"),
        ("LIMIT", "LIMIT = 10"),
        ("LIMIT", "    LIMIT = [1, 2].freeze"),
        ("LIMIT", "LIMIT: Final[int] = 10"),
        ("LIMIT", "const LIMIT: usize = 10;"),
        ("LIMIT", "    public static final int LIMIT = 10;"),
        ("vec_of", "macro_rules! vec_of {"),
    ],
)
def test_a_definition_is_recognised(name: str, line: str) -> None:
    for text in (line, f"first line\n{line}\nlast line"):
        assert identifiers.Definition([name]).within(text)
        assert identifiers.Definition(["other", name]).within(text)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("run", "    run(job)"),
        ("run", "    return run(job) if job else {}"),
        ("run", "    if (run(job)) {"),
        ("run", "    await run(job, function () {"),
        ("run", "    result = run(job)"),
        ("run", "def runner(job):"),
        ("run", "def rerun(job):"),
        ("run", "# def run is gone"),
        ("run", "// the function run does it"),
        ("run", "    self.run = run"),
        ("run", "    run = job.run"),
        ("run", "run == job"),
        ("run", "from jobs import run"),
        ("Job", "    def run(self, job: Job) -> Job:"),
        ("Job", "job = Job()"),
        ("Job", " * The class Job is old."),
        ("Job", "class JobRunner(Job):"),
        ("Job", "use crate::Job;"),
        ("Job", "impl Display for Job {"),
    ],
)
def test_a_use_is_no_definition(name: str, line: str) -> None:
    assert not identifiers.Definition([name]).within(f"first line\n{line}\nlast line")


@pytest.mark.parametrize(
    ("query", "lines"),
    [
        ("if (a) {\n\n    return  compute(a);\n}", ("return compute(a);",)),
        ("return compute(a);", ("return compute(a);",)),
        ("    headers[name] = value", ("headers[name] = value",)),
        ("compute(a)", ("compute(a)",)),
        ("compute()", ()),
        ("Rack::Builder", ()),
        ("how a request is routed", ()),
        ("what is a token bucket?", ()),
        ("", ()),
    ],
)
def test_pasted_code_is_seen(query: str, lines: tuple[str, ...]) -> None:
    assert identifiers.code_lines(query) == lines


@pytest.mark.parametrize(
    ("typed", "term"),
    [
        ("reqest", "request"),
        ("requesst", "request"),
        ("reqeust", "request"),
        ("requezt", "request"),
        ("request", "request"),
        ("equest", None),
        ("rqeusst", None),
        ("rest", None),
        ("midleware", "middlewar"),
        ("anfrage", None),
    ],
)
def test_a_typing_error_is_understood(typed: str, term: str | None) -> None:
    assert identifiers.spelt(typed, ["handleRequest", "Middleware", "rests", "x"]) == term


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("src/app.py", None),
        ("src/contest.py", None),
        ("src/latest.go", None),
        ("src/attest/doc_reader.rs", None),
        ("src/specification.ts", None),
        ("src/Latest.java", None),
        ("src/click/testing.py", None),
        ("middleware/logger_test.go", "test"),
        ("tests/test_app.py", "test"),
        ("test_app.py", "test"),
        ("conftest.py", "test"),
        ("spec/models/user_spec.rb", "test"),
        ("src/app.test.tsx", "test"),
        ("src/app.spec.ts", "test"),
        ("src/AppTest.java", "test"),
        ("src/__tests__/app.js", "test"),
        ("examples/tests/test_app.py", "test"),
        ("examples/hello.go", "example"),
        ("_examples/rest/main.go", "example"),
        ("README.md", "document"),
        ("docs/conf.py", "document"),
        ("CHANGELOG.rst", "document"),
        ("src/app/__init__.py", "index"),
        ("src/index.ts", "index"),
        ("api/service.pb.go", "generated"),
        ("api/service_pb2.py", "generated"),
        ("static/jquery.min.js", "generated"),
        ("vendor/lib/code.go", "generated"),
        ("package-lock.json", "generated"),
        ("uv.lock", "generated"),
        ("typings/index.d.ts", "generated"),
        ("src/clock.json", None),
        ("src/block.py", None),
    ],
)
def test_a_path_tells_what_kind_of_file_it_names(path: str, kind: str | None) -> None:
    assert file_kinds.of_path(path) == kind


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("how requests are routed", set()),
        ("the latest contest", set()),
        ("tests of the router", {"test"}),
        ("Where is this tested?", {"test"}),
        ("documentation and examples", {"document", "example"}),
        ("README", {"document"}),
        ("release notes", {"document"}),
    ],
)
def test_a_question_tells_which_kinds_of_files_it_is_about(question: str, asked: set[str]) -> None:
    assert file_kinds.asked(question) == asked
