"""Sphinx configuration: `python -m sphinx -W docs build/docs` builds the site."""

project = "SpecExec Desktop"
author = "The SpecExec Desktop project"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = project
html_favicon = "../resources/icons/specexec.svg"
exclude_patterns = ["_build"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # the room tables start below their page's heading
