"""`vera-ccc init`: the agents, and the edits of their files."""
