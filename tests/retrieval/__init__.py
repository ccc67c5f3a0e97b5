"""How often a passage with the answer is found for a question about a file: see `__main__`."""
