"""The agents that a project can be set up for: where each reads its servers and instructions.

Read from their documentation and, for Pi 1.6 and Codex, from their source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

SERVER = "cce"
"""The server's name, the reference engine's: tool names that agents make of it stay the same."""


@dataclass(frozen=True, slots=True)
class Agent:
    """What is particular about one agent. Paths are relative to the project.

    Attributes:
        name: Its name on our command line.
        title: Its name for people.
        config: The file where it looks for a project's servers.
        servers: The member of that file that holds them.
        directory: How the project is named to the server: ``.`` where the agent starts servers in
            the project, a variable that it replaces, or None for the absolute path.
        instructions: The files that it takes a project's instructions from. The first one that
            is there counts, the others are not read.
        default: The one of them that is made when there is none.
        next: What is left to do for its user.
        form: How the file is written.
        comments: Whether it reads comments in JSON.
        more: Members of the entry beside ``command`` and ``args``.
    """

    name: str
    title: str
    config: str
    servers: str
    directory: str | None
    instructions: tuple[str, ...]
    default: str
    next: str
    form: Literal["json", "toml"] = "json"
    comments: bool = False
    more: Mapping[str, str] = field(default_factory=dict)

    def entry(self, command: str, args: tuple[str, ...], project: Path) -> dict[str, Any]:
        """The server's entry, *command* and *args* being what starts our command line."""
        directory = str(project) if self.directory is None else self.directory
        first = {"type": self.more["type"]} if "type" in self.more else {}
        line = {"command": command, "args": [*args, "mcp", "--dir", directory]}
        return {**first, **line, **self.more}


AGENTS = {
    agent.name: agent
    for agent in (
        # Servers start where Claude Code was started, or in a directory below; the server looks
        # upward for the project.
        Agent(
            "claude",
            "Claude Code",
            ".mcp.json",
            "mcpServers",
            ".",
            ("CLAUDE.md",),
            "CLAUDE.md",
            f"Restart Claude Code in this directory, and allow the server {SERVER} when it asks.",
        ),
        # Servers start in the home directory; the variable is the directory above .cursor.
        Agent(
            "cursor",
            "Cursor",
            ".cursor/mcp.json",
            "mcpServers",
            "${workspaceFolder}",
            ("AGENTS.md",),
            "AGENTS.md",
            f"Restart Cursor, and turn the server {SERVER} on in its settings.",
            comments=True,
        ),
        Agent(
            "vscode",
            "VS Code",
            ".vscode/mcp.json",
            "servers",
            "${workspaceFolder}",
            ("AGENTS.md",),
            "AGENTS.md",
            f"In VS Code, run `MCP: List Servers`, and start the server {SERVER}.",
            comments=True,
            more={"type": "stdio"},
        ),
        # Servers start where the session is, in the app sometimes elsewhere; no variables.
        Agent(
            "codex",
            "Codex",
            ".codex/config.toml",
            "mcp_servers",
            None,
            ("AGENTS.override.md", "AGENTS.md"),
            "AGENTS.md",
            "Restart Codex in this directory; it reads .codex/config.toml in trusted projects.",
            form="toml",
        ),
        # Servers start in the session's directory, which is also where .pi is looked for.
        Agent(
            "pi",
            "Pi",
            ".pi/mcp.json",
            "mcpServers",
            ".",
            ("AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"),
            "AGENTS.md",
            "Restart Pi in this directory, or /reload; it reads .pi/mcp.json in trusted projects.",
            more={"exposure": "direct"},
        ),
    )
}
