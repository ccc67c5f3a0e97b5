"""The memory of a loaded pair, the embedded default model."""

import subprocess
import sys

import numpy as np
import pytest

from engine.protocol import MemoryPart
from engine.serving.pair import LoadedPair


@pytest.fixture
def pair(smollm2) -> LoadedPair:
    """Without the rows that the answers of other tests have left in the prompt cache."""
    pair = smollm2.session.pair
    pair.prompts.clear()
    return pair


def test_memory_counts_weights_and_cache(pair):
    memory, target = pair.memory, pair.target
    assert (memory.vram, memory.ram) == (0, target.model.nbytes + target.cache.nbytes + pair.heads.nbytes)
    assert (
        memory.ram < memory.peak
    )  # of this process, including earlier tests; test_cli checks the upper bound


def test_parts_of_memory_add_up(pair):
    memory = pair.memory
    assert sum(part.nbytes for part in memory.parts if part.tier == "ram") == memory.ram
    assert {part.what for part in memory.parts} == {"target", "target_cache", "heads"}


def test_rows_of_other_conversations_count_too(pair):
    before = pair.memory
    pair.prompts.put(b"a text", np.zeros(4096, np.uint8), "a conversation")
    memory = pair.memory
    pair.prompts.clear()
    assert memory.ram == before.ram + 4096
    assert [part for part in memory.parts if part not in before.parts] == [
        MemoryPart(what="prompt_cache", tier="ram", nbytes=4096)
    ]


def test_the_peak_leaves_out_the_process_that_started_this_one():
    """The window may have held more than its engine; Linux hands `ru_maxrss` on to child processes."""
    report = "from engine.serving.pair import peak_resident_nbytes; print(peak_resident_nbytes())"
    parent = f"""
import subprocess, sys
ballast = b"x" * (2 << 30)
subprocess.run([sys.executable, "-c", {report!r}], check=True)
"""
    done = subprocess.run([sys.executable, "-c", parent], check=True, capture_output=True, text=True)
    assert int(done.stdout) < 2 << 30
