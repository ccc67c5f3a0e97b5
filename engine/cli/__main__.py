"""Runs the command line when Python is called with `-m engine.cli`."""

from engine.cli import main

main()
