"""The benchmark of layers for drafts runs on a tiny shape."""

import json

from engine import cli


def test_rounds_are_timed_compiled_and_through_torch(capsys):
    options = ["--shape=tiny", "--format=Q8_0", "--rows=1,3", "--repeats=1"]
    assert cli.run(["bench", "mtp", *options, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(each["engine"], each["rows"]) for each in found["times"]] == [
        (engine, rows) for rows in (1, 3) for engine in ("compiled", "torch")
    ]
    assert all(min(each["s"]["s"], each["processor_s"]["s"]) > 0 for each in found["times"])
    for wrong in ("--rows=0", "--shape=70b", "--format=Q9", "--repeats=0"):
        assert cli.run(["bench", "mtp", wrong]) == 1
