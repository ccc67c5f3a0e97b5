"""Measurements: how fast each part runs on this machine, beside what bounds it."""
