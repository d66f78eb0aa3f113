"""What an agent's instructions say about the tools, between two marker lines.

The markers are the reference engine's, so that a project never has the block twice.
"""

from __future__ import annotations

BEGIN = "<!-- BEGIN CCE MCP -->"
END = "<!-- END CCE MCP -->"
_TEXT = """\
## Code Context Engine (CCE)

This project can be searched by meaning through the tools of the MCP server `cce`.

- **Prefer `context_search`** to find code, to understand behaviour, and for "where is X" or
  "how does Y work". Its results are compact: read one in full with `expand_chunk`, see what it
  imports and who uses it with `related_context`.
- For an exact text, a file's name or a known path, the usual tools (grep, find, reading the
  file) stay the right ones.
- `index_status` says how fresh the index is; `record_feedback` rates a result.
- `session_recall` finds decisions of earlier sessions; `record_decision` keeps one that has
  proved right.
"""


def block(rules: str) -> str:
    """The block, with the section of *rules* for the agent's own answers in it."""
    return f"{BEGIN}\n{_TEXT}\n{rules.strip()}\n{END}"
