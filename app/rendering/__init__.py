"""Rendering of messages: Markdown, code, tables and formulas in one inert, selectable document."""
