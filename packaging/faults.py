"""The set-up's error messages, each one sentence that says what is wrong and what to do about it.

The functions only turn text into text; standard library only. Must parse on Python 3.8, like dev.py.
"""

from __future__ import annotations

import errno
import re
import sys


class Fault(Exception):
    """A problem and its remedy, for the user; ends the set-up with exit status 1."""

    intact = False  # True: pip failed before it changed the environment, which is still usable


PIP_FAULTS = (  # the first pattern found in pip's output applies
    (r"No space left on device|Disk quota exceeded|not enough space on the disk",
     "the disk is full: free space for this folder, the temporary folder and pip's cache, then start again"),
    (r"DO NOT MATCH THE HASHES",
     "a downloaded package does not match its hash, so it is damaged or was modified: "
     "run `pip cache purge` and start again; if it fails again, check for a proxy that modifies downloads"),
    (r"Long Path support",
     "a path is too long for Windows: enable long paths in its settings, or move this folder to a shorter "
     "path"),
    (r"WinError (?:5|32)\b",
     "a program is using files in .venv: close SpecExec Desktop and editors that run its Python"),
    (r"\[Errno (?:13|30)\]|Read-only file system|Permission denied",
     "a file cannot be written: make this folder and the temporary folder writable, or copy the project "
     "elsewhere"),
    (r"CERTIFICATE_VERIFY_FAILED|SSLCertVerificationError",
     "the package registry's certificate is not trusted: check the system clock; if a proxy has its own "
     "certificate, set PIP_CERT to it"),
    (r"ProxyError|Tunnel connection failed",
     "the proxy refused the connection: check HTTPS_PROXY, then start again"),
    (r"NewConnectionError|ConnectTimeoutError|ReadTimeout|Read timed out|NameResolutionError|name resolution|"
     r"Max retries exceeded|IncompleteRead|Connection broken|Connection aborted|ConnectionResetError",
     "the package registry cannot be reached: check the network (and HTTPS_PROXY), then start again"),
    (r"ResolutionImpossible|conflicting dependencies",
     "packaging/constraints.txt does not match pyproject.toml: run `python3 packaging/dev.py lock`"),
)  # fmt: skip


def pip_fault(text, log):
    """Return one line if pip's output `text` shows a known fault, else its last lines and the log's path."""
    for pattern, line in PIP_FAULTS:
        if re.search(pattern, text):
            return f"{line} (pip's output: {log})"
    if missing := re.search(r"No matching distribution found for ([^\s;]+)", text):
        python = "{}.{}".format(*sys.version_info)
        return (
            f"the package registry has no {missing.group(1)} for Python {python} on this system, or cannot "
            f"be reached: use 64-bit Python 3.11, 3.12 or 3.13, and check the network (pip's output: {log})"
        )
    last = "\n  ".join(text.strip().splitlines()[-15:])
    return f"set-up failed for an unknown reason; the last lines of {log}:\n  {last}"


def os_fault(error, folder):
    """Return one line for an OSError. folder: the place to name if the error has no file name."""
    place = error.filename or folder
    if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", None)):
        return f"the disk is full ({place}): free some space, then start again"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{place} cannot be written: make it writable, or copy the project to a folder you own"
    return f"{place}: {error.strerror or error}; fix this, then start again"


# For each library: its file, Debian's package and Fedora's package.
QT_LIBRARIES = """
libEGL.so.1 libegl1 libglvnd-egl                       libGL.so.1 libgl1 libglvnd-glx
libOpenGL.so.0 libopengl0 libglvnd-opengl              libGLX.so.0 libglx0 libglvnd-glx
libxkbcommon.so.0 libxkbcommon0 libxkbcommon         libxkbcommon-x11.so.0 libxkbcommon-x11-0 libxkbcommon-x11
libxcb-cursor.so.0 libxcb-cursor0 xcb-util-cursor      libxcb-icccm.so.4 libxcb-icccm4 xcb-util-wm
libxcb-image.so.0 libxcb-image0 xcb-util-image         libxcb-keysyms.so.1 libxcb-keysyms1 xcb-util-keysyms
libxcb-render-util.so.0 libxcb-render-util0 xcb-util-renderutil
libxcb-util.so.1 libxcb-util1 xcb-util                 libxcb.so.1 libxcb1 libxcb
libxcb-randr.so.0 libxcb-randr0 libxcb                 libxcb-render.so.0 libxcb-render0 libxcb
libxcb-shape.so.0 libxcb-shape0 libxcb                 libxcb-shm.so.0 libxcb-shm0 libxcb
libxcb-sync.so.1 libxcb-sync1 libxcb                   libxcb-xfixes.so.0 libxcb-xfixes0 libxcb
libxcb-xkb.so.1 libxcb-xkb1 libxcb                     libdbus-1.so.3 libdbus-1-3 dbus-libs
libX11.so.6 libx11-6 libX11                            libX11-xcb.so.1 libx11-xcb1 libX11-xcb
libglib-2.0.so.0 libglib2.0-0 glib2                    libgthread-2.0.so.0 libglib2.0-0 glib2
libfontconfig.so.1 libfontconfig1 fontconfig           libfreetype.so.6 libfreetype6 freetype
libgssapi_krb5.so.2 libgssapi-krb5-2 krb5-libs         libz.so.1 zlib1g zlib-ng-compat
"""


def qt_fault(text):
    """Return one line that says which packages to install for missing libraries, or None if none is missing.

    text: the output of ldd, or the error message of an import.
    """
    names = re.findall(r"(lib[\w.+-]+\.so[.\d]*)(?: => not found|: cannot open shared object file)", text)
    if not names:
        return None
    words, names = QT_LIBRARIES.split(), list(dict.fromkeys(names))
    known = [words.index(name) for name in names if name in words]
    unknown = [name for name in names if name not in words]
    debian, fedora = (" ".join(dict.fromkeys(words[i + column] for i in known)) for column in (1, 2))
    remedies = (
        [f"on Debian or Ubuntu `apt install {debian}`, on Fedora `dnf install {fedora}`"] if known else []
    )
    remedies += [f"install the packages that contain {', '.join(unknown)} on your system"] if unknown else []
    return f"the window needs missing system libraries ({', '.join(names)}): {'; '.join(remedies)}"
