"""Which build of torch packaging/dev.py installs, and where it looks for it."""

import pytest

from tests.packaging.conftest import posix_only


def builds(attempts):
    return [(attempt.build, attempt.args[-1]) for attempt in attempts]


def test_linux_without_a_card_uses_the_cpu_build_from_pytorch_then_pypi(dev):
    attempts = dev.torch_attempts("linux", False, "", [])
    assert builds(attempts) == [("cpu", "torch===2.13.0+cpu"), ("cuda", "torch===2.13.0")]
    assert "https://download.pytorch.org/whl/cpu" in attempts[0].args
    assert "large" in attempts[1].words


def test_linux_with_a_card_uses_pypis_build(dev):
    assert builds(dev.torch_attempts("linux", True, "", [])) == [("cuda", "torch===2.13.0")]


def test_windows_without_a_card_uses_pypis_build(dev):
    assert builds(dev.torch_attempts("win32", False, "", [])) == [("cpu", "torch===2.13.0")]


def test_windows_with_a_card_uses_cuda_from_pytorch_then_warns(dev):
    attempts = dev.torch_attempts("win32", True, "", [])
    assert builds(attempts) == [("cuda", "torch===2.13.0+cu130"), ("cpu", "torch===2.13.0")]
    assert "does not use the graphics card" in attempts[1].words


@pytest.mark.parametrize("system", ["linux", "win32", "darwin"])
@pytest.mark.parametrize("gpu", [False, True])
def test_a_configured_wheel_folder_has_priority_over_every_index(dev, system, gpu):
    (attempt,) = dev.torch_attempts(system, gpu, "", ["2.13.0+cpu"])
    assert attempt.args == ["--no-index", "torch===2.13.0+cpu"]
    assert ("SPECEXEC_TORCH=cuda" in attempt.words) == gpu


def test_a_folder_with_both_builds_provides_the_matching_wheel(dev):
    both = ["2.13.0", "2.13.0+cpu"]
    assert builds(dev.torch_attempts("linux", False, "", both)) == [("cpu", "torch===2.13.0+cpu")]
    assert builds(dev.torch_attempts("linux", True, "", both)) == [("cuda", "torch===2.13.0")]
    assert builds(dev.torch_attempts("win32", True, "", ["2.13.0+cu130"])) == [
        ("cuda", "torch===2.13.0+cu130")
    ]


def test_the_variable_overrides_card_and_folder(dev):
    assert builds(dev.torch_attempts("linux", False, "cuda", ["2.13.0+cpu"])) == [("cuda", "torch===2.13.0")]
    assert builds(dev.torch_attempts("linux", True, "cpu", []))[0] == ("cpu", "torch===2.13.0+cpu")
    assert dev.torch_forced({"SPECEXEC_TORCH": " CPU "}) == "cpu"
    with pytest.raises(dev.Fault, match="cpu or cuda"):
        dev.torch_forced({"SPECEXEC_TORCH": "rocm"})


def test_attempts_are_tried_in_order_and_the_last_error_is_raised(dev, started, monkeypatch, capsys):
    log = dev.ROOT / "log"
    attempts = dev.torch_attempts("linux", False, "", [])

    def unreachable(argv, log, lock):
        started.append(argv)
        return 1, "NewConnectionError"

    monkeypatch.setattr(dev.logged_pip, "run_logged", unreachable)
    with pytest.raises(dev.Fault, match="cannot be reached"):
        dev.install_torch("python", log, None, attempts)
    assert [argv[-1] for argv in started] == ["torch===2.13.0+cpu", "torch===2.13.0"]
    assert "large" in capsys.readouterr().err


def test_wheel_folders_are_read_from_pips_configuration(dev):
    listing = (
        "global.extra-index-url='x/simple'\n:env:.find-links='/wheels /more'\n"
        "global.find-links='/wheels\\nfile:///third%20one'\n"
    )
    assert [str(f.as_posix()) for f in dev.wheel_folders(listing)] == ["/wheels", "/more", "/third one"]
    assert dev.wheel_folders("") == []


def test_only_wheels_for_this_python_and_system_count(dev, tmp_path):
    for name in (
        "torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl",
        "torch-2.13.0-cp312-cp312-manylinux_2_28_x86_64.whl",
        "torch-2.13.0+cu130-cp311-cp311-win_amd64.whl",
        "torch-2.12.0-cp311-cp311-manylinux_2_28_x86_64.whl",
    ):
        (tmp_path / name).touch()
    folders = [tmp_path / "none", tmp_path]
    assert dev.torch_wheels(folders, "linux", "cp311") == ["2.13.0+cpu"]
    assert dev.torch_wheels(folders, "win32", "cp311") == ["2.13.0+cu130"]
    assert dev.torch_wheels(folders, "linux", "cp313") == []


@posix_only
@pytest.mark.parametrize(
    ("script", "found"),
    [("echo 'GPU 0: NVIDIA H200 (UUID: x)'", True), ("echo 'No devices found.'", False), ("exit 9", False)],
)
def test_a_card_is_found_by_nvidia_smi(dev, tmp_path, monkeypatch, script, found):
    smi = tmp_path / "bin" / "nvidia-smi"
    smi.parent.mkdir()
    smi.write_text(f"#!/bin/sh\n{script}\n")
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", str(smi.parent))
    assert dev.has_gpu() == found


def test_a_card_is_found_by_its_driver(dev, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert not dev.has_gpu()
    dev.NVIDIA_SIGNS[0].touch()
    assert dev.has_gpu()
