"""Widgets, colours and shortcuts that several parts of the window use."""
