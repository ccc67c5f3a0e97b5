"""Benchmarks, which measure how fast each part of the engine runs on this machine, and what bounds its
speed."""
