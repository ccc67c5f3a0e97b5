"""The benchmark of layers with states runs on a tiny shape."""

import json

import pytest

from engine import cli


@pytest.mark.parametrize(("shape", "layers"), [("tiny", 4), ("granite-tiny", 8)])
def test_passes_are_timed_compiled_and_through_torch(shape, layers, capsys):
    options = [f"--shape={shape}", "--format=Q8_0", "--rows=1,3", "--text=70", "--repeats=1"]
    assert cli.run(["bench", "recurrent", *options, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["shape"]["layers"] == layers
    assert [(each["engine"], each["rows"], each["text"]) for each in found["times"]] == [
        (engine, rows, rows == 70) for engine in ("compiled", "torch") for rows in (1, 3, 70)
    ]
    assert all(each["s"]["s"] > 0 for each in found["times"])
    assert cli.run(["bench", "recurrent", *options, "--engines=compiled"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5
    for wrong in ("--rows=0", "--shape=70b", "--format=Q9", "--engines=jax", "--text=0"):
        assert cli.run(["bench", "recurrent", wrong]) == 1
