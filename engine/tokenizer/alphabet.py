"""GPT-2's alphabet: every byte as one printable character (openai/gpt-2, src/encoder.py)."""

# Printable Latin-1 characters stand for themselves; the other bytes, in order, for U+0100 and up.
_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHER = [byte for byte in range(256) if byte not in _PRINTABLE]
BYTE_OF = {chr(byte): byte for byte in _PRINTABLE} | {
    chr(0x100 + index): byte for index, byte in enumerate(_OTHER)
}


def spelled_bytes(token: str) -> bytes | None:
    """The bytes `token` spells in this alphabet, or None where it has other characters."""
    found = [BYTE_OF.get(char) for char in token]
    return None if None in found else bytes(byte for byte in found if byte is not None)
