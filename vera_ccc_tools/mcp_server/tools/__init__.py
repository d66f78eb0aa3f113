"""The nine tools, one module each."""
