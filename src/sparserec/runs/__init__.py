"""A run on disk: its folder and record, the one way to train it, what it may start from, its figures."""
