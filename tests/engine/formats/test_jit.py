"""The compiler's cache survives damage, and is not needed."""

import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from engine import firsts
from engine.checkpoints import storage
from engine.compiled import matrix
from engine.errors import Interrupted
from engine.formats import jit, q8_0
from engine.quantization import gptq


def double(data, out):
    out[0] = 2 * data[0]


def compiled(folder, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(folder))
    monkeypatch.setattr(jit, "_CACHED", True)
    return jit.kernel(double)


def cache_hits(kernel):
    """Run `kernel` and return how many compiled loops were read from the cache."""
    out = np.zeros(1, np.float32)
    kernel(np.array([21], np.uint8), out)
    assert out[0] == 42
    return sum(kernel.stats.cache_hits.values())


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", ["empty", "cut", "garbage"])
def test_a_damaged_cache_is_rebuilt(suffix, damage, tmp_path, monkeypatch):
    assert cache_hits(compiled(tmp_path, monkeypatch)) == 0
    assert cache_hits(compiled(tmp_path, monkeypatch)) == 1
    (file,) = tmp_path.rglob(f"*.{suffix}")
    content = file.read_bytes()
    file.write_bytes({"empty": b"", "cut": content[: len(content) // 2], "garbage": b"\x93" * 100}[damage])
    assert cache_hits(compiled(tmp_path, monkeypatch)) == 0
    assert cache_hits(compiled(tmp_path, monkeypatch)) == 1


def loop(at):
    numba.carray(at, 1)[0] = 3.0


def address():
    return jit.cached_address(numba.void(numba.types.CPointer(numba.float32)), loop)


def test_who_waits_is_told_before_a_loop_is_compiled_and_may_prevent_it(tmp_path, monkeypatch):
    compiled(tmp_path, monkeypatch)
    told = []

    def prevent():
        raise Interrupted("Loading was cancelled.")

    with firsts.told(prevent), pytest.raises(Interrupted):
        address()
    with firsts.told(lambda: told.append("compiled")):
        address()
        address()
    assert told == ["compiled"], "the second time, it is read from the cache"
    monkeypatch.setattr(jit, "_CACHED", False)
    address()
    assert told == ["compiled"]


def test_a_cache_that_becomes_unwritable_causes_no_error(tmp_path, monkeypatch):
    kernel = compiled(tmp_path, monkeypatch)
    (folder,) = tmp_path.iterdir()
    folder.rmdir()
    folder.write_bytes(b"")  # a file in place of the folder: not even root can write into it
    assert cache_hits(kernel) == 0


def test_the_cache_stands_for_all_that_is_compiled_into_loops():
    """A block's size is a number in its loop."""
    files = jit.sources()
    assert all(file.is_file() for file in files)
    modules = (jit, q8_0, storage, matrix, gptq)
    assert {Path(module.__file__) for module in modules} <= {*files}
    compiled_in = [cell.cell_contents for cell in q8_0.FORMAT.kernel.py_func.__closure__]
    assert all(number in compiled_in for number in storage.BLOCKS["Q8_0"])


def test_without_a_cache_folder_kernels_are_compiled_in_each_process(tmp_path):
    program = """
import sys
from pathlib import Path
import numpy as np, platformdirs
platformdirs.user_cache_path = lambda *args, **kwargs: Path(sys.argv[1])
from engine.formats import jit, q8_0
out = np.zeros(32, np.float32)
q8_0.FORMAT.kernel(np.array([0, 0x3C] + [7] * 32, np.uint8), out)
print(out[0], jit._CACHED)
"""
    no_folder = tmp_path / "file"
    no_folder.write_bytes(b"")
    command = [sys.executable, "-c", program, str(no_folder)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == [
        "7.0",
        "False",
    ]
