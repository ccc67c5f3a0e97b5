"""Parts of a miniature installed app: tiny wheels, an index, a runtime file, a fake torch and CLI."""

import base64
import hashlib
import http.server
import io
import json
import random
import threading
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

from engine import runtime

TORCH = """
__version__ = "2.13.0"
class Matrix:
    def __matmul__(self, other): return self
    def sum(self): return self
    def item(self): return 64.0**3
def ones(*shape, device): return Matrix()
"""
BROKEN_TORCH = 'raise OSError("the driver is too old")\n'
CLI = """
import json, sys
import thinking
print(json.dumps({"tokens": 1, "arguments": sys.argv[1:], "said": thinking.SAID}))
"""


def make_wheel(folder: Path, name: str, version: str, text: str, padding: int = 0) -> Path:
    """Write a wheel of one module. padding: bytes of an added file that does not compress."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": text.encode(),
        f"{name}_data.bin": random.Random(padding).randbytes(padding),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{file},sha256={_urlsafe(data)},{len(data)}\n" for file, data in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    with zipfile.ZipFile(path, "w") as archive:
        for file, data in files.items():
            archive.writestr(file, data)
    return path


def _urlsafe(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def pin(wheel: Path, digest: str = "") -> str:
    """Return the wheel's line in a requirement list."""
    name, version = wheel.name.split("-")[:2]
    return f"{name}=={version} --hash=sha256:{digest or hashlib.sha256(wheel.read_bytes()).hexdigest()}\n"


def make_archive(wheels: Path, folder: Path, parts: int = 1, **wrong: str) -> Path:
    """Write a runtime file for the app under test; return its first part. wrong: false manifest entries."""
    manifest = {"backend": "cpu", "key": runtime.backends()["cpu"].key(), **wrong}
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("runtime.json", json.dumps(manifest))
        archive.writestr("../outside.whl", b"")
        for wheel in sorted(wheels.glob("*.whl")):
            archive.write(wheel, wheel.name)
    data = whole.getvalue()
    size = -(-len(data) // parts)
    names = [f"cpu.zip.{n + 1:03}" for n in range(parts)] if parts > 1 else ["cpu.zip"]
    for number, name in enumerate(names):
        (folder / name).write_bytes(data[number * size : (number + 1) * size])
    sums = "".join(f"{hashlib.sha256((folder / n).read_bytes()).hexdigest()}  {n}\n" for n in names)
    (folder / "cpu.zip.sha256").write_text(sums)
    return folder / names[0]


class Index:
    """A simple package index over HTTP.

    Attributes: `cut_after`: bytes of a file after which the connection is closed; `requested`: the paths of
    all requests.
    """

    def __init__(self, wheels: Path) -> None:
        self.cut_after: int | None = None
        self.requested: list[str] = []
        index = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                index.requested.append(self.path)
                path = urlsplit(self.path).path  # a proxy receives the whole URL
                name = path.strip("/").rpartition("/")[2]
                if path.startswith("/files/"):
                    data = (wheels / name).read_bytes()
                    kind = "application/octet-stream"
                else:
                    names = [path.name for path in wheels.glob(f"{name}-*.whl")]
                    data = "".join(f'<a href="/files/{found}">{found}</a>' for found in names).encode()
                    kind = "text/html"
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                cut = index.cut_after if path.startswith("/files/") else None
                self.wfile.write(data[:cut])
                if cut is not None:
                    self.close_connection = True

            do_HEAD = do_GET

            def log_message(self, *arguments: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/simple/"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
