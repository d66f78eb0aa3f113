"""The MCP front: nine tools for any agent that speaks MCP, on the same core."""
