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


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (MemoryError(), "out_of_memory"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "out_of_memory"),
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
    ("text", "stopped"),
    [
        ("CUDA error: an illegal memory access was encountered", True),
        ("CUDA error: device-side assert triggered\nCUDA kernel errors might be reported", True),
        ("HIP error: unspecified launch failure", True),
        ("CUDA error: the launch timed out and was terminated", True),
        ("CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx`", True),
        ("CUDA error: out of memory", False),
        ("CUDA out of memory. Tried to allocate 2.00 GiB", False),
        ("CUDA error: operation not permitted when stream is capturing", False),
        ("an illegal memory access was encountered in a test", False),
    ],
)
def test_errors_after_which_a_card_is_of_no_use_are_told_from_others(text, stopped):
    assert errors.card_stopped(RuntimeError(text)) is stopped
    wrapped = ValueError("no capture")
    wrapped.__context__ = RuntimeError(text)
    assert errors.card_stopped(wrapped) is stopped


def test_an_interrupt_where_no_thread_can_be_started_is_not_from_the_keyboard(monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(errors._thread, "start_new_thread", refuse)
    assert refused_by_system(KeyboardInterrupt()).kind == "system_limit"
