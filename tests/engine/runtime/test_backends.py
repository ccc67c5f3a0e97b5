"""Proposed backends, the installer's command line and environment, and its errors."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine import runtime
from engine.launch import interpreter
from engine.machine import Cpu, Disk, Gpu, Machine, Surroundings, SystemMemory
from engine.runtime.backends import Backend
from engine.runtime.installer import Sources, environment, install_command, install_error

LISTS = """
[cpu]
nbytes = 1_000_000_000
download_nbytes = 300_000_000
[cuda]
nbytes = 6_000_000_000
download_nbytes = 3_000_000_000
driver = "580.65"
capability = [7, 5]
[rocm]
nbytes = 9_000_000_000
download_nbytes = 4_000_000_000
index = "https://packages.invalid/rocm"
"""
NVIDIA = Gpu("nvidia", "GeForce RTX 4090", driver="581.20", compute_capability=(8, 9))
AMD = Gpu("amd", "Radeon RX 7900")
MACHINE = Machine(
    system="linux",
    gpus=(),
    gpu_problem=None,
    cpu=Cpu("a CPU", 4, 8, 8, {}),
    memory=SystemMemory(1 << 34, 1 << 33, 1 << 32),
    disk=Disk("/", "/", "disk", "ext4", "ssd", 1 << 40, 1 << 39),
    surroundings=Surroundings(),
)


@pytest.fixture(autouse=True)
def lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "backends.toml").write_text(LISTS)
    monkeypatch.setattr(interpreter, "ROOT", tmp_path)
    runtime.backends.cache_clear()


def proposed(*cards: Gpu, problem: str | None = None) -> list[tuple[str, bool]]:
    found = runtime.propose(replace(MACHINE, gpus=cards, gpu_problem=problem))
    return [(proposal.backend.name, proposal.usable) for proposal in found]


def reason(name: str, *cards: Gpu, problem: str | None = None) -> str:
    found = runtime.propose(replace(MACHINE, gpus=cards, gpu_problem=problem))
    return next(proposal.reason for proposal in found if proposal.backend.name == name)


def test_the_detected_card_decides_and_the_cpu_is_always_usable() -> None:
    assert proposed() == [("cpu", True), ("cuda", False), ("rocm", False)]
    assert proposed(NVIDIA) == [("cuda", True), ("cpu", True), ("rocm", False)]
    assert proposed(AMD)[0] == ("rocm", True)


def test_an_old_driver_or_card_is_named_and_another_card_can_be_used() -> None:
    old_driver = replace(NVIDIA, driver="550.54.14")
    old_card = replace(NVIDIA, name="GTX 1080", compute_capability=(6, 1))
    assert proposed(old_driver)[0] == ("cpu", True)
    assert "550.54.14" in reason("cuda", old_driver)
    assert "GTX 1080" in reason("cuda", old_card)
    assert proposed(old_card, NVIDIA)[0] == ("cuda", True)
    assert "no driver" in reason("cuda", problem="no driver")


def test_a_checkout_has_no_backends_and_uses_the_running_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "ROOT", Path(interpreter.__file__).parents[2])
    runtime.backends.cache_clear()
    assert runtime.backends() == {}
    assert interpreter.command("engine.serving.process", "x")[1:] == ["-m", "engine.serving.process", "x"]


def test_the_installer_requires_hashes_and_a_wheels_folder_disables_the_network() -> None:
    places = (Path("list.txt"), Path("folder"))
    command = install_command(*places, "https://packages.invalid", Path("wheels"), Path("cache"))
    assert {"--require-hashes", "--no-deps", "--offline", "--no-index", "--system-certs"} <= set(command)
    assert "https://packages.invalid" not in command
    command = install_command(*places, "https://packages.invalid", None, Path("cache"))
    assert command[command.index("--default-index") + 1] == "https://packages.invalid"
    assert "--default-index" not in install_command(*places, "", None, Path("cache"))


def test_the_installer_ignores_the_users_settings_of_pip_and_uv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_INDEX_URL", "elsewhere")
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    monkeypatch.setenv("all_proxy", "socks5://before")
    variables = environment(Sources(proxy="http://proxy.invalid:3128"))
    assert "elsewhere" not in variables.values()
    assert "socks5://before" not in variables.values()
    assert variables["HTTPS_PROXY"] == "http://proxy.invalid:3128"
    assert environment(Sources())["all_proxy"] == "socks5://before"


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        ("error: Failed to install\n  Caused by: No space left on device (os error 28)", "disk"),
        ("  Caused by: There is not enough space on the disk. (os error 112)", "disk"),
        ("Failed to download `torch==2.13.0`\n  Caused by: Hash mismatch for `torch==2.13.0`", "bad_package"),
        ("invalid peer certificate: UnknownIssuer", "packages_unreachable"),
        ("error sending request for url\n dns error: failed to lookup", "packages_unreachable"),
        ("Because torch was not found in the package registry", "bad_package"),
        ("something new", "internal"),
    ],
)
def test_the_installers_output_becomes_an_error_with_a_hint(output: str, kind: str, tmp_path: Path) -> None:
    error = install_error(output, tmp_path / "setup.log")
    assert error.kind == kind
    assert error.hint


def test_a_backend_may_need_more_packages_than_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpreter, "requirements_folder", lambda: tmp_path)
    cuda = Backend("cuda", 1, 1)
    for name in ("engine.txt", "torch-cuda.txt"):
        (tmp_path / name).write_text(name)
    before = cuda.key()
    (tmp_path / "engine-cuda.txt").write_text("more")
    assert cuda.lists() == (tmp_path / "engine-cuda.txt", tmp_path / "torch-cuda.txt")
    assert cuda.key() != before
    assert Backend("cpu", 1, 1).lists()[0] == tmp_path / "engine.txt"
