"""Attacks that find something, each in its own way: they test the campaign itself."""
