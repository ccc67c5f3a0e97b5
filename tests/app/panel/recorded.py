"""Recorded run of the coder pair: budget 24, two drafters, 0.5 GiB of RAM for the target."""

from pathlib import Path

from engine.protocol import trace

RUN = trace.read(Path(__file__).with_name("run.jsonl"))
