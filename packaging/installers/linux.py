"""Build the Linux packages .deb, AppImage and .run, which contain the same tree."""

import os
import shutil
import time
from pathlib import Path

from installers import icons, licences, python_linux, tree
from installers.common import NAME, PACKAGING, TITLE, WORK, Order, epoch, fresh, repository, run, say, tools

FILES = PACKAGING / "linux"
PAPER = "https://arxiv.org/abs/2406.02532"  # the program's page where no repository is known
# Debian packages with the libraries that a minimal system lacks; found by running the installed app in one
# (tests/packaging).
DEPENDS = (
    "libglib2.0-0 | libglib2.0-0t64, libegl1, libgl1, libxkbcommon0, libxkbcommon-x11-0, libxcb-cursor0, "
    "libxcb-icccm4, libxcb-image0, libxcb-keysyms1, libxcb-randr0, libxcb-render-util0, libxcb-shape0, "
    "libxcb-xkb1, libx11-xcb1, libdbus-1-3, libfontconfig1, libfreetype6, libwayland-client0, "
    "libwayland-cursor0, libwayland-egl1, libgssapi-krb5-2, ca-certificates"
)


def build(order: Order, kinds: list[str]) -> None:
    tools()
    app = fresh(WORK / "linux") / NAME
    app.mkdir()
    python_linux.build(app / "python")
    tree.build(app, "linux", order)
    for launcher in ("specexec-desktop", "specexec"):
        shutil.copy(FILES / launcher, app / launcher)
        (app / launcher).chmod(0o755)
    tree.compile_all(app)
    shutil.copy(app / "sbom.json", order.into / f"{NAME}-{order.version}-linux.sbom.json")
    for kind, make in (("deb", deb), ("appimage", appimage), ("run", run_file)):
        if kind in kinds:
            say(f"  {make(app, order)}")
    licences.checksums(order.into)


def desktop_files(share: Path, command: str, version: str) -> None:
    """Write the menu entry, icons, AppStream data and the MIME type of exported chats to `share`."""
    entry = (FILES / f"{NAME}.desktop").read_text().replace("@COMMAND@", command)
    _write(share / "applications" / f"{NAME}.desktop", entry)
    _write(share / "metainfo" / f"{NAME}.metainfo.xml", metainfo(version))
    _write(share / "mime" / "packages" / f"{NAME}.xml", (FILES / "mime.xml").read_text())
    hicolor = share / "icons" / "hicolor"
    for size in (16, 32, 48, 128, 256):
        icons.png(hicolor / f"{size}x{size}" / "apps" / f"{NAME}.png", size)
    place = hicolor / "scalable" / "apps" / f"{NAME}.svg"
    place.parent.mkdir(parents=True)
    shutil.copy(icons.SOURCE, place)


def metainfo(version: str) -> str:
    """Return the AppStream data, with what is known only at a release."""
    facts = {"VERSION": version, "DAY": _day(), "HOMEPAGE": repository() or PAPER}
    text = (FILES / f"{NAME}.metainfo.xml").read_text()
    for key, value in facts.items():
        text = text.replace(f"@{key}@", value)
    return text


def _day() -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(epoch()))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def deb(app: Path, order: Order) -> Path:
    root = fresh(WORK / "deb")
    place = root / "opt" / NAME
    place.parent.mkdir()
    shutil.copytree(app, place, symlinks=True, copy_function=os.link)
    tree.write_package(place, "deb", order)
    (root / "usr" / "bin").mkdir(parents=True)
    for launcher in ("specexec-desktop", "specexec"):
        (root / "usr" / "bin" / launcher).symlink_to(f"/opt/{NAME}/{launcher}")
    desktop_files(root / "usr" / "share", NAME, order.version)
    documents = root / "usr" / "share" / "doc" / NAME
    documents.mkdir(parents=True)
    (documents / "copyright").symlink_to(f"/opt/{NAME}/licences/{NAME}.txt")
    control = (FILES / "control").read_text()
    nbytes = sum(path.lstat().st_size for path in root.rglob("*") if path.is_file())
    facts = {
        "VERSION": order.version,
        "SIZE": str(nbytes >> 10),
        "GLIBC": python_linux.glibc_needed(app),
        "DEPENDS": DEPENDS,
    }
    for key, value in facts.items():
        control = control.replace(f"@{key}@", value)
    _write(root / "DEBIAN" / "control", control)
    for script in ("postinst", "postrm"):
        shutil.copy(FILES / script, root / "DEBIAN" / script)
        (root / "DEBIAN" / script).chmod(0o755)
    tree.set_times(root)
    target = order.into / f"{NAME}_{order.version}_amd64.deb"
    # xz works everywhere; zstd is faster, but needs Debian 12 or Ubuntu 21.10.
    how = ["-Zzstd", "-z3"] if order.fast else ["-Zxz", "-z9"]
    making = ["dpkg-deb", "--root-owner-group", *how, "--build", root, target]
    run(making, SOURCE_DATE_EPOCH=str(epoch()))
    return target


def appimage(app: Path, order: Order) -> Path:
    folder = fresh(WORK / "AppDir")
    place = folder / "usr" / "lib" / NAME
    place.parent.mkdir(parents=True)
    shutil.copytree(app, place, symlinks=True, copy_function=os.link)
    tree.write_package(place, "appimage", order)
    desktop_files(folder / "usr" / "share", NAME, order.version)
    (folder / "AppRun").symlink_to(f"usr/lib/{NAME}/specexec-desktop")
    shutil.copy(folder / "usr" / "share" / "applications" / f"{NAME}.desktop", folder)
    icons.png(folder / f"{NAME}.png", 256)
    (folder / ".DirIcon").symlink_to(f"{NAME}.png")
    starter, image = WORK / "appimage-starter", WORK / "appimage.squashfs"
    libraries = ["-lsquashfuse", "-lzstd", "-llzma", "-lz", "-llz4", "-llzo2"]
    source = FILES / "appimage_starter.c"
    flags = ["-O2", "-Wall", "-D_FILE_OFFSET_BITS=64", f'-DUPDATE_INFORMATION="{update_information()}"']
    run(["gcc", *flags, "-static", "-s", "-o", starter, source, *libraries])
    image.unlink(missing_ok=True)
    compress = ["-comp", "zstd", "-Xcompression-level", "3" if order.fast else "19"]
    options = ["-root-owned", "-noappend", "-quiet", "-no-progress", *compress]
    tree.set_times(folder)
    run(["mksquashfs", folder, image, *options], SOURCE_DATE_EPOCH=str(epoch()))
    target = order.into / f"{NAME}-{order.version}-x86_64.AppImage"
    program = bytearray(starter.read_bytes())
    program[8:11] = b"AI\x02"  # the magic bytes of AppImage type 2
    with target.open("wb") as out, image.open("rb") as rest:
        out.write(program)
        shutil.copyfileobj(rest, out)
    target.chmod(0o755)
    os.utime(target, (epoch(), epoch()))
    zsync = target.with_name(f"{target.name}.zsync")
    run(["zsyncmake", "-C", "-u", target.name, "-o", zsync, target.name], cwd=target.parent)
    return target


def update_information() -> str:
    """Return where programs that update AppImages by their differences find the newest one's .zsync file.

    See "Update information" in the AppImage specification.
    """
    if not (address := repository()):
        return ""
    owner, name = address.split("/")[-2:]
    return f"gh-releases-zsync|{owner}|{name}|latest|{NAME}-*-x86_64.AppImage.zsync"


def run_file(app: Path, order: Order) -> Path:
    folder = fresh(WORK / "run")
    shutil.copytree(app, folder / "app", symlinks=True, copy_function=os.link)
    tree.write_package(folder / "app", "run", order)
    desktop_files(folder / "share", "@COMMAND@", order.version)
    for script in ("install.sh", "launch.sh", "uninstall.sh"):
        shutil.copy(FILES / script, folder / script)
        (folder / script).chmod(0o755)
    (folder / "version").write_text(order.version)
    target = order.into / f"{NAME}-{order.version}-x86_64.run"
    tar = f"--mtime=@{epoch()} --owner=0 --group=0 --numeric-owner"
    level = ["--gzip", "--complevel", "1" if order.fast else "9"]
    options = ["--quiet", *level, "--packaging-date", _day(), "--tar-extra", tar]
    # makeself writes its command line to the file, so the line must contain no path of this machine. GZIP=-n
    # keeps the time out of the file.
    run(["makeself", *options, folder.name, target.name, TITLE, "./install.sh"], cwd=WORK, GZIP="-n")
    return Path(shutil.move(WORK / target.name, target))
