"""How a message looks: Markdown, code, tables and formulas in one inert, selectable document."""
