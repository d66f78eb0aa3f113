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
        config: The file where it looks for a project's servers.
        servers: The member of that file that holds them.
        directory: How the project is named to the server: ``.`` where the agent starts servers in
            the project, a variable that it replaces, or None for the absolute path.
        next: What is left to do for its user.
        instructions: The files that it takes a project's instructions from. The first one that
            is there counts, the others are not read.
        default: The one of them that is made when there is none.
        form: How the file is written.
        comments: Whether it reads comments in JSON.
        more: Members of the entry beside ``command`` and ``args``.
    """

    name: str
    config: str
    servers: str
    directory: str | None
    next: str
    instructions: tuple[str, ...] = ("AGENTS.md",)
    default: str = "AGENTS.md"
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
            ".mcp.json",
            "mcpServers",
            ".",
            f"Restart Claude Code in this directory, and allow the server {SERVER} when it asks.",
            ("CLAUDE.md",),
            "CLAUDE.md",
        ),
        # Servers start in the home directory; the variable is the directory above .cursor.
        Agent(
            "cursor",
            ".cursor/mcp.json",
            "mcpServers",
            "${workspaceFolder}",
            f"Restart Cursor, and turn the server {SERVER} on in its settings.",
            comments=True,
        ),
        Agent(
            "vscode",
            ".vscode/mcp.json",
            "servers",
            "${workspaceFolder}",
            f"In VS Code, run `MCP: List Servers`, and start the server {SERVER}.",
            comments=True,
            more={"type": "stdio"},
        ),
        # Servers start where the session is, in the app sometimes elsewhere; no variables.
        Agent(
            "codex",
            ".codex/config.toml",
            "mcp_servers",
            None,
            "Restart Codex in this directory; it reads .codex/config.toml in trusted projects.",
            ("AGENTS.override.md", "AGENTS.md"),
            form="toml",
        ),
        # Servers start in the session's directory, which is also where .pi is looked for.
        Agent(
            "pi",
            ".pi/mcp.json",
            "mcpServers",
            ".",
            "Restart Pi in this directory, or /reload; it reads .pi/mcp.json in trusted projects.",
            ("AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"),
            more={"exposure": "direct"},
        ),
    )
}
