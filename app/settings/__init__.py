"""The settings dialog, whose pages are built from lists of options."""
