"""Secrets are taken out of a text, whatever is around them, in a time that its length bounds."""

from __future__ import annotations

import re
import subprocess
import sys

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from helpers import ROOT, SECONDS
from vera_ccc_tools.system.secrets import redact

WORD = "0123456789abcdefghijklmnopqrstuvwxyz0123456789"
PEM = "-----{} RSA PRIVATE KEY-----"
PGP = "-----{} PGP PRIVATE KEY BLOCK-----"
BODY = "MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn\nygWyF0qIwbVwkHhWmBBhq8bHfLQJ4Rr0"

# In pieces, so that nothing here looks like a secret itself.
KINDS = [
    ("ANTHROPIC_KEY", "sk-" + "ant-api03_" + WORD[:24]),
    ("OPENAI_KEY", "sk-" + WORD[:32]),
    ("OPENAI_KEY", "sk-" + "proj-" + WORD[:10] + "_" + WORD[:10] + "-T3"),
    *[("OPENAI_KEY", f"sk-{kind}-" + WORD[:24]) for kind in ("svcacct", "admin")],
    ("STRIPE_KEY", "sk_" + "live_" + WORD[:16]),
    ("STRIPE_KEY", "sk_" + "test_" + WORD[:24]),
    *[("GITHUB_TOKEN", f"gh{kind}_" + WORD[:36]) for kind in "pousr"],
    ("GITHUB_TOKEN", "github_" + "pat_" + WORD[:22] + "_" + WORD[:37]),
    ("GITLAB_TOKEN", "glpat" + "-" + WORD[:14] + "_-" + WORD[:4]),
    *[("SLACK_TOKEN", f"xox{kind}-" + "1234567890-abc") for kind in "baprse"],
    ("AWS_ACCESS_KEY", "AKIA" + "IOSFODNN7EXAMPLE"),
    ("GOOGLE_API_KEY", "AIza" + "SyA-_" + WORD[:30]),
    ("JWT", "eyJ" + WORD[:12] + ".eyJ" + WORD[:20] + "." + WORD[:12] + "-_"),
    ("PRIVATE_KEY", f"{PEM.format('BEGIN')}\n{BODY}\n{PEM.format('END')}"),
    ("PRIVATE_KEY", f"-----BEGIN PRIVATE KEY-----\\n{WORD}\\n-----END PRIVATE KEY-----"),
    ("PRIVATE_KEY", f"-----BEGIN OPENSSH PRIVATE KEY-----\n{BODY}"),
    ("PRIVATE_KEY", f"-----BEGIN OPENSSH PRIVATE KEY-----\\r\\n{WORD}\\n{WORD}"),
    ("PRIVATE_KEY", PGP.format("BEGIN") + f"\n\n{BODY}\n=abcd\n" + PGP.format("END")),
]
ANY = st.text(st.characters(blacklist_categories=()))


@pytest.mark.parametrize(("label", "secret"), KINDS)
@pytest.mark.parametrize(
    "around", ["{}", "Use {} for it.", "x = f({})", "('{}',)\n", "é{}\U0001f511"]
)
def test_each_kind_of_secret_is_named_in_its_place(label: str, secret: str, around: str) -> None:
    assert redact(around.format(secret)) == around.format(f"[REDACTED:{label}]")


@pytest.mark.parametrize(
    "text",
    [
        "sk-" + WORD[:31],
        "the sk-learn-estimator-with-a-long-name-here",
        "sk_" + "prod_" + WORD[:20],
        "AKIA" + "TOOSHORT",
        "eyJ" + WORD[:12] + "." + WORD[:12] + "." + WORD[:12],
        "A file that begins with -----BEGIN PRIVATE KEY----- is never committed.",
        "-----END PRIVATE KEY----- of nothing",
    ],
)
def test_what_only_resembles_a_secret_stays(text: str) -> None:
    assert redact(text) == text


def test_a_key_block_ends_where_it_ends_and_others_follow() -> None:
    begin, end = PEM.format("BEGIN"), PEM.format("END")
    text = f"a {begin}\n{BODY}\n{end} b {begin}\n{BODY}\n{end} c {begin}\n{BODY}\n\nand prose."
    mark = "[REDACTED:PRIVATE_KEY]"
    assert redact(text) == f"a {mark} b {mark} c {mark}\n\nand prose."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password = hunter2hunter2", "password = *"),
        ("Password: hunter2hunter2, as ever", "Password: * as ever"),
        ("passwd=hunter2hunter2", "passwd=*"),
        ('secret: "correct horse battery"', 'secret: "*"'),
        ("token := `abcdefgh`", "token := `*`"),
        ("if token == 'abcdefgh':", "if token == '*':"),
        (":token => 'abcdefgh'", ":token => '*'"),
        ("api_key=abcdefgh apikey=abcdefgh", "api_key=* apikey=*"),
        ("API key: abcdefgh", "API key: *"),
        ("access-key: abcdefgh", "access-key: *"),
        ("authToken = 'abcdefgh';", "authToken = '*';"),
        ("private_key: abcdefgh", "private_key: *"),
        ("secret_key = abcdefgh", "secret_key = *"),
        ("DB_PASSWORD=abcdefgh", "DB_PASSWORD=*"),
        ("PGPASSWORD=abcdefgh psql", "PGPASSWORD=* psql"),
        ("dbpasswd: abcdefgh", "dbpasswd: *"),
        ("clientSecret: 'abcdefgh'", "clientSecret: '*'"),
        ('{"password": "abcdefgh", "user": "me"}', '{"password": "*", "user": "me"}'),
        (r"{\"token\": \"abcdefgh\"}", r"{\"token\": *"),
        (r'token = "a\"bcdefgh" # on', 'token = "*" # on'),
        ("token = 'it''s secret' # on", "token = '*' # on"),
        ("token = 'abc'defgh' # on", "token = '*' # on"),
        ('token = "never ended\nnext line', 'token = "*\nnext line'),
        ("token = 'a', 'b' and \"abcdefghi\"", "token = 'a', 'b' and \"abcdefghi\""),
        ("password:\n  hunter2hunter2", "password:\n  *"),
        ("https://h/x?token=abcdefgh", "https://h/x?token=*"),
        ("password = pässwörd", "password = *"),
    ],
)
def test_the_value_of_a_secret_name_goes_and_nothing_else(text: str, expected: str) -> None:
    assert redact(text) == expected.replace("*", "[REDACTED:SECRET]")


@pytest.mark.parametrize(
    "value",
    [
        "short", "1234567", "your-api-key-here", "YOUR_KEY_HERE", "my-secret-value", "the-password",
        "example-key", "changeme123", "placeholder", "dummy-token", "testing-1", "sample-key",
        "xxxxxxxx", "<your key>", "${API_TOKEN}", "{{ api_token }}", "--------", "********",
        "[REDACTED:GITHUB_TOKEN]",
    ],
)  # fmt: skip
def test_a_short_value_and_a_placeholder_stay(value: str) -> None:
    text = f'api_key = "{value}"'
    assert redact(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "Token::from_the_environment()",
        "the tokenizer: whitespace-separated",
        "monotoken = abcdefghijk",
        "Passwords are hashed only in auth.hash_password (SHA-256 + salt); never hash inline.",
        "store password hashes with bcrypt",
        "password resets = weekly-by-mail",
    ],
)
def test_words_about_secrets_stay(text: str) -> None:
    assert redact(text) == text


def test_a_secret_behind_a_secret_name_keeps_its_kind() -> None:
    assert redact('token = "ghp_' + WORD[:36] + '"') == 'token = "[REDACTED:GITHUB_TOKEN]"'


@given(st.sampled_from(KINDS), ANY, ANY)
def test_no_secret_of_a_known_kind_is_left_anywhere(
    kind: tuple[str, str], before: str, after: str
) -> None:
    assert kind[1] not in redact(f"{before} {kind[1]} {after}")


FRAGMENTS = [
    "eyJ", ".", "sk-", "sk-ant-", "sk-proj-", "sk_live_", "ghp_", "github_pat_", "glpat-", "xoxb-",
    "AKIA", "AIza", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----",
    "PRIVATE KEY", "password", "token=", "secret:", "api_key := ", "a", "A", "0", "_", "-", "=",
    ":", " ", "\n", "\t", '"', "'", "`", "\\", '""', "${", "}", "<", "x" * 40, "é", "\ud800",
]  # fmt: skip


HOSTILE = [
    "eyJ", "eyJ-", "eyJ.", "eyJ" + "a" * 10 + ".", "sk-", "sk-ant-", "xoxb-", "ghp_", "github_pat_",
    "glpat-", "AKIA", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----END", "-----BEGIN PRIVATE KEY-----\n" + "a" * 20 + "\n", "password",
    "password ", "password = ", "password:'", "token=\\", "token='' ", "token=xxx",
    'secret="a', "private ", " ", "-", "''", "a",
]  # fmt: skip
REDACT = """
import ast, sys
from vera_ccc_tools.system.secrets import redact
for piece in ast.literal_eval(sys.argv[1]):
    redact(piece * (500_000 // len(piece)) + "!")
    redact("token='" + piece * (500_000 // len(piece)))
"""


def test_hostile_texts_are_done_in_a_time_that_their_length_bounds() -> None:
    """Were one of them not, it alone would take hours."""
    subprocess.run(
        [sys.executable, "-c", REDACT, repr(HOSTILE)], cwd=ROOT, timeout=SECONDS, check=True
    )


@given(st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=6), st.sampled_from(FRAGMENTS))
@settings(max_examples=40)
def test_a_long_text_of_any_pieces_is_redacted(pieces: list[str], last: str) -> None:
    hostile = "".join(pieces)
    text = hostile * (50_000 // len(hostile)) + last
    once = redact(text)
    assert redact(once) == once


@given(st.lists(st.one_of(st.sampled_from(FRAGMENTS), ANY)).map("".join))
def test_a_redacted_text_stays_as_it_is(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


def test_no_pattern_holds_what_an_early_python_3_11_matches_wrongly() -> None:
    """A possessive or atomic group: CPython gh-100061, and Debian 12 has such a Python."""
    groups = re.compile(r"\(\?>|\)(?:[*+?]|\{+\d*,?\d*\}+)\+")
    sources = (ROOT / "vera_ccc_tools").rglob("*.py")
    found = [path.name for path in sources if groups.search(path.read_text(encoding="utf-8"))]
    assert found == []
