"""Search by the words of a question: what answers beside ccc, and when ccc cannot."""
