"""Everything that is known of ccc: its commands, its replies, its daemon, its files."""
