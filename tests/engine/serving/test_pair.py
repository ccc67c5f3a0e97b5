"""The memory of a loaded pair, the embedded default model."""

import subprocess
import sys


def test_memory_counts_weights_and_cache(smollm2):
    pair = smollm2.session.pair
    memory, target = pair.memory, pair.target
    assert (memory.vram, memory.ram) == (0, target.model.nbytes + target.cache.nbytes + pair.heads.nbytes)
    assert (
        memory.ram < memory.peak
    )  # of this process, including earlier tests; test_cli checks the upper bound


def test_parts_of_memory_add_up(smollm2):
    memory = smollm2.session.pair.memory
    assert sum(part.nbytes for part in memory.parts if part.tier == "ram") == memory.ram
    assert {part.what for part in memory.parts} == {"target", "target_cache", "heads"}


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
