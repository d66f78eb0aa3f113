"""ccc's exclusions, kept equal to what git ignores."""
