"""Calls of functions in answers: one file for each format in which models write them; see `formats`."""
