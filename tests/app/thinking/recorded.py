"""A recorded run: the coder pair answers, a budget of 24, two drafters, 0.5 GiB of RAM for the target."""

from pathlib import Path

from engine import trace

RUN = trace.read(Path(__file__).with_name("run.jsonl"))
