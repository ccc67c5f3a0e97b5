"""Signed JSON documents, and Ed25519 (RFC 8032, section 5.1), with which they are signed.

{"signed": "<text>", "signature": "<128 hexadecimal digits>"}

The signature is one of a context, which names the kind of document, and the text in UTF-8. Imports nothing
else from the engine, and no package, because builds sign with a bare interpreter.

Points are in extended homogeneous coordinates (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z. The time that
`sign` takes depends on the secret, so only a build uses it, on a machine that nobody else measures.
"""

import hashlib
import json
from functools import cache

P = 2**255 - 19  # the field's prime
ORDER = 2**252 + 27742317777372353535851937790883648493  # the base point's order, called L
D = -121665 * pow(121666, -1, P) % P  # the curve's constant
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)
KEY_NBYTES = 32
SIGNATURE_NBYTES = 64

Point = tuple[int, int, int, int]
NEUTRAL: Point = (0, 1, 1, 0)


def signed_document(text: str, context: bytes, secret: bytes) -> bytes:
    """Return the document with `text` and its signature by a secret of 32 bytes."""
    signature = sign(secret, context + text.encode()).hex()
    return json.dumps({"signed": text, "signature": signature}, indent=1).encode()


def verify(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Return whether `signature` is one of `message` by the secret of `public_key` (section 5.1.7)."""
    if len(public_key) != KEY_NBYTES or len(signature) != SIGNATURE_NBYTES:
        return False
    key, commitment = _point(public_key), _point(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if key is None or commitment is None or scalar >= ORDER:
        return False
    challenge = _hash(signature[:32], public_key, message) % ORDER
    return _are_equal(_times(scalar, _base()), _sum(commitment, _times(challenge, key)))


def sign(secret: bytes, message: bytes) -> bytes:
    """Return the signature of `message` by a secret of 32 bytes (section 5.1.6)."""
    scalar, prefix = _expanded(secret)
    public = public_key(secret)
    nonce = _hash(prefix, message) % ORDER
    commitment = _bytes(_times(nonce, _base()))
    challenge = _hash(commitment, public, message) % ORDER
    return commitment + ((nonce + challenge * scalar) % ORDER).to_bytes(32, "little")


def public_key(secret: bytes) -> bytes:
    """Return the public key of a secret of 32 bytes (section 5.1.5)."""
    return _bytes(_times(_expanded(secret)[0], _base()))


def _expanded(secret: bytes) -> tuple[int, bytes]:
    """Return a secret's scalar, and the prefix from which nonces are made."""
    if len(secret) != KEY_NBYTES:
        raise ValueError(f"a secret has {KEY_NBYTES} bytes, not {len(secret)}")
    digest = hashlib.sha512(secret).digest()
    scalar = int.from_bytes(digest[:32], "little")
    return scalar & ~7 & (2**254 - 1) | 2**254, digest[32:]


def _hash(*parts: bytes) -> int:
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


@cache
def _base() -> Point:
    base = _point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))
    assert base is not None
    return base


def _sum(one: Point, other: Point) -> Point:
    """Return the sum of two points (section 5.1.4)."""
    a = (one[1] - one[0]) * (other[1] - other[0]) % P
    b = (one[1] + one[0]) * (other[1] + other[0]) % P
    c = 2 * one[3] * other[3] * D % P
    d = 2 * one[2] * other[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def _times(scalar: int, point: Point) -> Point:
    result = NEUTRAL
    while scalar:
        if scalar & 1:
            result = _sum(result, point)
        point = _sum(point, point)
        scalar >>= 1
    return result


def _are_equal(one: Point, other: Point) -> bool:
    return (one[0] * other[2] - other[0] * one[2]) % P == 0 == (one[1] * other[2] - other[1] * one[2]) % P


def _bytes(point: Point) -> bytes:
    inverse = pow(point[2], -1, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _point(encoded: bytes) -> Point | None:
    """Return the point that 32 bytes encode (section 5.1.3); None if they encode none."""
    y = int.from_bytes(encoded, "little")
    sign_bit, y = y >> 255, y & (2**255 - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT_OF_MINUS_ONE % P
    if (x * x - square) % P or (x == 0 and sign_bit):
        return None
    if x & 1 != sign_bit:
        x = P - x
    return x, y, 1, x * y % P
