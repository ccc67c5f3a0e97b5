"""The folder of the files shipped with the program that are not code.

These are the catalogue, the list of machines that `specexec plan` knows, icons, translations, drafts and
others.
"""

from pathlib import Path

RESOURCES = Path(__file__).resolve().parents[1] / "resources"  # beside `engine`, in a checkout and in a wheel
