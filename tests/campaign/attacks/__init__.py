"""The attacks, one to a module."""
