"""Ed25519 against the vectors of RFC 8032, section 7.1, and against signatures that are nearly right."""

import json

import pytest

from engine import signature
from engine.signature import ORDER, public_key, sign, signed_document, verify

VECTORS = {  # secret, public key, message, signature
    "1": (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0"
        "595bbe24655141438e7a100b",
    ),
    "2": (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eae"
        "b4302aeeb00d291612bb0c00",
    ),
    "3": (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9"
        "716ed28dc027beceea1ec40a",
    ),
    "SHA(abc)": (
        "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423"
        "643ce80e2a9ac94fa54ca49f",
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c"
        "138ac17ad9bef1177331a704",
    ),
}


@pytest.mark.parametrize("name", VECTORS)
def test_the_vectors_of_the_rfc(name: str) -> None:
    secret, public, message, signed = map(bytes.fromhex, VECTORS[name])
    assert public_key(secret) == public
    assert sign(secret, message) == signed
    assert verify(public, message, signed)


def test_nothing_nearly_right_is_a_signature() -> None:
    _, public, message, signed = map(bytes.fromhex, VECTORS["3"])
    assert not verify(public, message + b"x", signed)
    for position in range(0, 64, 7):
        changed = bytearray(signed)
        changed[position] ^= 1
        assert not verify(public, message, bytes(changed))
        assert not verify(public, message, signed[:position])
    scalar = int.from_bytes(signed[32:], "little") + ORDER  # the same equation, refused by section 5.1.7
    assert not verify(public, message, signed[:32] + scalar.to_bytes(32, "little"))
    assert not verify(b"\xff" * 32, message, signed)
    assert not verify(public[:31], message, signed)
    assert not verify(bytes.fromhex(VECTORS["1"][1]), message, signed)


def test_a_document_is_signed_for_its_context_only() -> None:
    secret = bytes(range(32))
    document = json.loads(signed_document("what it says: ü", b"context\n", secret))
    signed = bytes.fromhex(document["signature"])
    text = document["signed"].encode()
    assert verify(public_key(secret), b"context\n" + text, signed)
    assert not verify(public_key(secret), b"other\n" + text, signed)
    with pytest.raises(ValueError, match="32 bytes"):
        signature.sign(b"short", b"")


def test_another_implementation_agrees() -> None:
    ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
    for number in range(8):
        secret = bytes([number]) * 32
        other = ed25519.Ed25519PrivateKey.from_private_bytes(secret)
        assert sign(secret, secret[:number]) == other.sign(secret[:number])
        assert public_key(secret) == other.public_key().public_bytes_raw()
