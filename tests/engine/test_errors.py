"""What the system refuses has a name and a next step, whatever the exception that says so."""

import errno

import pytest

from engine import errors
from engine.errors import refused_by_system
from tests.campaign.attack import Verdict, judged_error


def wrapped(error: Exception) -> ImportError:
    outer = ImportError("The C-extensions cannot be imported.")
    outer.__cause__ = error
    return outer


def small_paging_file() -> OSError:
    """Return the error of Windows, for which Python has no errno."""
    error = OSError(errno.EINVAL, "The paging file is too small for this operation to complete")
    error.winerror = 1455  # type: ignore[attr-defined, unused-ignore]
    return error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (MemoryError(), "out_of_memory"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "out_of_memory"),
        (small_paging_file(), "out_of_memory"),
        (ImportError("libblas.so: failed to map segment from shared object"), "out_of_memory"),
        (wrapped(OSError("libblas.so: failed to map segment from shared object")), "out_of_memory"),
        (OSError(errno.EMFILE, "Too many open files"), "system_limit"),
        (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"), "system_limit"),
        (RuntimeError("can't start new thread"), "system_limit"),
    ],
)
def test_what_the_system_refuses_has_a_name_and_a_next_step(error, kind):
    named = refused_by_system(error)
    assert named is not None
    assert named.kind == kind
    assert judged_error(named).verdict is Verdict.NAMED


@pytest.mark.parametrize(
    "error",
    [RuntimeError("odd"), KeyError("can't start new thread"), OSError(errno.ENOENT, ""), KeyboardInterrupt()],
)
def test_other_errors_keep_their_own_names(error):
    assert refused_by_system(error) is None


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("CUDA error: an illegal memory access was encountered", "kernel"),
        ("CUDA error: device-side assert triggered\nCUDA kernel errors might be reported", "kernel"),
        ("HIP error: unspecified launch failure", "kernel"),
        ("CUDA error: the launch timed out and was terminated", "kernel"),
        ("CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx`", "kernel"),
        ("Triton Error [CUDA]: an illegal memory access was encountered", "kernel"),
        ("CUDA error: unknown error\nCUDA kernel errors might be reported", "fault"),
        ("CUDA error: uncorrectable ECC error encountered", "fault"),
        ("CUDA error: uncorrectable NVLink error detected during the execution", "fault"),
        ("CUDA error: GPU is lost", "fault"),
        ("CUDA error: out of memory", None),
        ("CUDA out of memory. Tried to allocate 2.00 GiB", None),
        ("CUDA error: operation not permitted when stream is capturing", None),
        ("an illegal memory access was encountered in a test", None),
    ],
)
def test_errors_after_which_a_card_is_of_no_use_are_told_from_others(text, cause):
    assert errors.card_stopped(RuntimeError(text)) == cause
    wrapped = ValueError("no capture")
    wrapped.__context__ = RuntimeError(text)
    assert errors.card_stopped(wrapped) == cause


@pytest.mark.parametrize(
    ("error", "tier"),
    [
        (RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"), "vram"),
        (RuntimeError("CUDA error: out of memory\nCUDA kernel errors might be reported"), "vram"),
        (RuntimeError("CUDA driver error: out of memory"), "vram"),
        (RuntimeError("Triton Error [CUDA]: out of memory"), "vram"),
        (RuntimeError("Triton Error [HIP]:  Code: 2, Messsage: out of memory"), "vram"),
        (RuntimeError("cusolver error: CUSOLVER_STATUS_ALLOC_FAILED"), "vram"),
        (RuntimeError("CUDA error: HIPBLAS_STATUS_ALLOC_FAILED when calling `hipblasCreate`"), "vram"),
        (RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"), "vram"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "ram"),
        (small_paging_file(), "ram"),
        (MemoryError(), "ram"),
        (RuntimeError("out of resource: shared memory, Required: 106496, Hardware limit: 101376."), None),
        (OSError(errno.EINVAL, "Invalid argument"), None),
        (RuntimeError("CUDA error: too many resources requested for launch"), None),
        (RuntimeError("the ship is out of memory"), None),
    ],
    ids=str,
)
def test_memory_that_ran_out_is_told_from_other_errors(error, tier):
    assert errors.exhausted_tier(error) == tier
    wrapped = ValueError("no capture")
    wrapped.__cause__ = error
    assert errors.exhausted_tier(wrapped) == tier


@pytest.mark.parametrize(
    ("error", "full"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (OSError(getattr(errno, "EDQUOT", errno.ENOSPC), "Disk quota exceeded"), True),
        (RuntimeError("ptxas fatal: cannot write to a file: No space left on device"), True),
        (OSError(errno.EACCES, "Permission denied"), False),
        (RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"), False),
    ],
    ids=str,
)
def test_a_full_disk_is_told_from_other_errors(error, full):
    assert errors.is_disk_full(error) == full
    wrapped = ValueError("it does not compile")
    wrapped.__cause__ = error
    assert errors.is_disk_full(wrapped) == full


def test_an_interrupt_where_no_thread_can_be_started_is_not_from_the_keyboard(monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(errors._thread, "start_new_thread", refuse)
    assert refused_by_system(KeyboardInterrupt()).kind == "system_limit"
