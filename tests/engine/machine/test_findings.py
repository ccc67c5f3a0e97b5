"""Findings on simulated machines."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from engine.machine import (
    Cpu,
    Disk,
    DiskSpeed,
    Gpu,
    Machine,
    Surroundings,
    SystemMemory,
    TorchBuild,
    diagnose,
)
from engine.machine.gpu import NO_DRIVER
from tests.engine.machine.trees import GIB

CARD = Gpu("nvidia", "RTX 4090", "8d5d", 24 * GIB, 23 * GIB, "580.65.06", (8, 9))
HEALTHY = Machine(
    system="linux",
    gpus=(CARD,),
    gpu_problem=None,
    cpu=Cpu("AMD Ryzen 7 7700X", 8, 16, 16, {"avx2": True}),
    memory=SystemMemory(64 * GIB, 50 * GIB, 64 * GIB),
    disk=Disk("/models", "/", "/dev/nvme0n1p2", "ext4", "ssd", 1000 * GIB, 500 * GIB),
    surroundings=Surroundings(),
)
CUDA = TorchBuild("2.13.0+cu130", "13.0", None, ("sm_75", "sm_80", "sm_86", "sm_90", "sm_120", "compute_120"))
CPU_ONLY = TorchBuild("2.13.0+cpu")


def with_card(**changes) -> Machine:
    return replace(HEALTHY, gpus=(replace(CARD, **changes),))


def with_disk(kind: str, gb_per_s: float | None = None, **changes) -> Machine:
    speed = gb_per_s and DiskSpeed(gb_per_s, gb_per_s / 2, datetime(2026, 3, 1, tzinfo=UTC))
    return replace(HEALTHY, disk=replace(HEALTHY.disk, kind=kind, speed=speed, **changes))


def around(**changes) -> Machine:
    return replace(HEALTHY, surroundings=Surroundings(**changes))


def kinds(machine: Machine, torch: TorchBuild | None = CUDA) -> list[str]:
    findings = diagnose(machine, torch)
    for finding in findings:
        assert finding.message.endswith(".")
        assert finding.hint
    return [finding.kind for finding in findings]


@pytest.mark.parametrize(
    ("system", "problem", "words"),
    [
        ("linux", "no_compiler", "apt install gcc"),
        ("linux", "no_triton", "package triton in"),
        ("windows", "no_triton", "package triton-windows in"),
    ],
)
def test_a_card_without_compiled_kernels_is_named_slow(system, problem, words):
    torch = replace(CUDA, kernel_problem=problem)
    (finding,) = diagnose(replace(HEALTHY, system=system), torch)
    assert (finding.kind, finding.severity) == ("slow_kernels", "warning")
    assert words in finding.hint
    assert "slow_kernels" not in kinds(replace(HEALTHY, gpus=()), torch)


def test_a_slow_amd_card_needs_the_triton_of_rocm():
    torch = TorchBuild("2.13.0+rocm7.1", rocm="7.1", kernel_problem="no_triton")
    (finding,) = diagnose(replace(HEALTHY, gpus=(Gpu("amd", "RX 7900 XTX"),)), torch)
    assert finding.kind == "slow_kernels"
    assert "RX 7900 XTX" in finding.message
    assert "package triton-rocm in" in finding.hint


def test_a_missing_torch_is_a_warning_only_beside_a_card():
    def severity(machine: Machine) -> str:
        (found,) = [finding for finding in diagnose(machine, None) if finding.kind == "no_torch"]
        return found.severity

    assert severity(HEALTHY) == "warning"
    assert severity(replace(HEALTHY, gpus=())) == "note"


def test_a_healthy_machine_has_no_findings():
    assert kinds(HEALTHY) == []


@pytest.mark.parametrize(
    ("machine", "torch", "kind"),
    [
        (HEALTHY, None, "no_torch"),
        (HEALTHY, CPU_ONLY, "cpu_only_torch"),
        (replace(HEALTHY, gpus=(Gpu("amd", "RX 7900 XTX"),)), CPU_ONLY, "no_rocm_torch"),
        (
            replace(HEALTHY, gpus=(), gpu_problem="Driver/library version mismatch"),
            CUDA,
            "card_does_not_answer",
        ),
        (replace(HEALTHY, gpus=(), gpu_problem=NO_DRIVER), CPU_ONLY, "card_does_not_answer"),
        (replace(HEALTHY, gpus=()), CPU_ONLY, "no_card"),
        (replace(HEALTHY, memory=SystemMemory(64 * GIB, 3 * GIB, 64 * GIB)), CUDA, "little_ram"),
        (replace(HEALTHY, memory=SystemMemory(8 * GIB, 6 * GIB, 8 * GIB, 8 * GIB)), CUDA, "ram_limit"),
        (replace(HEALTHY, memory=SystemMemory(64 * GIB, 50 * GIB, 32 * GIB)), CUDA, "pinning_limit"),
        (replace(HEALTHY, cpu=replace(HEALTHY.cpu, usable=2)), CUDA, "cpu_limit"),
        (with_disk("ssd", free_nbytes=9 * GIB), CUDA, "little_disk"),
        (with_disk("hdd"), CUDA, "hard_disk"),
        (with_disk("hdd", 0.18), CUDA, "hard_disk"),
        (with_disk("network"), CUDA, "network_share"),
        (with_disk("network", 0.11), CUDA, "network_share"),
        (with_disk("ssd", 0.04), CUDA, "slow_disk"),
        (with_disk("unknown", 0.3), CUDA, "slow_disk"),
        (around(on_battery=True), CUDA, "on_battery"),
        (around(remote="ssh"), CUDA, "remote_session"),
        (around(wsl=True), CUDA, "wsl"),
    ],
)
def test_each_problem_gives_one_finding(machine: Machine, torch: TorchBuild | None, kind: str):
    assert kinds(machine, torch) == [kind]


@pytest.mark.parametrize(
    ("cuda", "windows", "oldest", "too_old"),
    [
        ("13.0", False, "580.65.06", "575.57.08"),
        ("13.0", True, "580.88", "576.80"),
        ("12.8", False, "525.60.13", "525.60.11"),
        ("12.6", True, "528.33", "528.24"),
        ("11.8", False, "450.80.02", "450.51.06"),
        ("11.8", True, "452.39", "451.82"),
        ("99.0", False, "1", None),
    ],
)
def test_the_oldest_driver_of_each_cuda_is_accepted(cuda, windows, oldest, too_old):
    torch = TorchBuild("2.13.0", cuda)

    def found(driver: str) -> list[str]:
        return kinds(replace(with_card(driver=driver), system="windows" if windows else "linux"), torch)

    assert found(oldest) == []
    assert too_old is None or found(too_old) == ["driver_too_old"]


def test_wsl_needs_the_windows_driver():
    torch = TorchBuild("2.13.0", "12.8")
    machine = replace(with_card(driver="527.41"), surroundings=Surroundings(wsl=True))
    driver, _ = diagnose(machine, torch)
    assert driver.kind == "driver_too_old"
    assert "528.33" in driver.hint
    assert kinds(with_card(driver="527.41"), torch) == []


@pytest.mark.parametrize(
    ("capability", "architectures", "runs"),
    [
        ((8, 9), ("sm_86",), True),
        ((8, 0), ("sm_86",), False),
        ((9, 0), ("sm_86",), False),
        ((9, 0), ("sm_90a",), True),
        ((9, 1), ("sm_90a",), False),
        ((12, 0), ("sm_90", "compute_90"), True),
        ((8, 9), ("compute_90",), False),
        ((12, 1), ("sm_120",), True),
        ((6, 1), ("sm_75", "sm_80"), False),
        ((6, 1), (), True),  # unknown
        ((6, 1), ("gfx1100",), False),
        (None, ("sm_75",), True),
    ],
)
def test_a_card_needs_code_compiled_for_its_capability(capability, architectures, runs):
    torch = replace(CUDA, architectures=architectures)
    assert kinds(with_card(compute_capability=capability), torch) == ([] if runs else ["card_not_supported"])


def test_a_card_without_code_for_it_is_not_used_and_no_option_is_needed_for_that():
    torch = replace(CUDA, architectures=("sm_75",))
    (finding,) = diagnose(with_card(compute_capability=(6, 1)), torch)
    assert finding.message.endswith("(compute capability 6.1), so the card is not used.")
    assert "--device" not in finding.hint


@pytest.mark.parametrize(
    ("architecture", "built_for", "runs"),
    [
        ("gfx1100", ("gfx90a", "gfx1100"), True),
        ("gfx1103", ("gfx90a", "gfx1100"), False),
        ("gfx1103", (), True),  # unknown
        ("", ("gfx1100",), True),
    ],
)
def test_an_amd_card_needs_code_of_its_own_architecture(architecture, built_for, runs):
    machine = replace(HEALTHY, gpus=(Gpu("amd", "Radeon", architecture=architecture),))
    torch = TorchBuild("2.13.0+rocm7.0", rocm="7.0", architectures=built_for)
    assert kinds(machine, torch) == ([] if runs else ["card_not_supported"])


def test_a_fast_disk_is_fine_whatever_kind_it_reports():
    assert kinds(with_disk("hdd", 1.2)) == []
    assert kinds(with_disk("network", 2.0)) == []


def test_wsl_distinguishes_windows_drives_from_network_shares():
    drive = with_disk("network", file_system="9p")
    assert kinds(drive) == ["network_share"]
    assert kinds(replace(drive, surroundings=Surroundings(wsl=True))) == ["windows_drive", "wsl"]


def test_the_most_severe_finding_is_first():
    machine = replace(with_disk("hdd"), gpus=(), surroundings=Surroundings(on_battery=True))
    severities = [finding.severity for finding in diagnose(machine, None)]
    assert severities == ["warning", "note", "note", "note"]
    assert kinds(replace(with_disk("hdd"), memory=SystemMemory(8 * GIB, 6 * GIB, 8 * GIB, 8 * GIB))) == [
        "hard_disk",
        "ram_limit",
    ]


def test_the_pinning_limit_matters_only_with_a_card():
    assert kinds(replace(HEALTHY, gpus=(), memory=SystemMemory(64 * GIB, 50 * GIB, 32 * GIB))) == ["no_card"]


def test_the_hint_for_cpu_only_torch_names_the_same_version():
    (finding,) = diagnose(HEALTHY, CPU_ONLY)
    assert "PyTorch 2.13.0 built for cu130 " in finding.hint


def test_the_hint_for_a_failing_card_depends_on_the_cause():
    def hint(problem: str, **surroundings) -> str:
        machine = replace(HEALTHY, gpus=(), gpu_problem=problem, surroundings=Surroundings(**surroundings))
        return diagnose(machine, CPU_ONLY)[0].hint

    assert "Restart the computer" in hint("Driver/library version mismatch")
    assert "--gpus" in hint("Driver Not Loaded", container="docker")
    assert "Install the NVIDIA driver" in hint(NO_DRIVER)
