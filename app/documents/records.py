"""Documents, as files are read, and the reasons why one cannot be. Imports nothing that reads files."""

from typing import Literal

from msgspec import Struct

from engine.errors import SpecExecError

Kind = Literal["text", "html", "pdf", "docx", "xlsx", "epub", "picture"]
Fault = Literal[
    "folder",  # it is a folder
    "model",  # it is a model in one file
    "weights",  # it holds weights of a model that is a folder
    "no_file",  # it is neither a file nor a folder, or it is gone
    "denied",  # the system does not let it be opened
    "too_large",  # more bytes than MAX_NBYTES, or more points than MAX_POINTS
    "too_long",  # more text than MAX_CHARACTERS
    "too_many_pages",  # more than MAX_PAGES
    "too_much",  # reading it takes more time or memory than the limits
    "bomb",  # it unpacks to far more than it should
    "password",  # it is encrypted
    "macros",  # it contains programs
    "old_format",  # the formats of Office before 2007
    "archive",  # an archive that is no document
    "wrong_kind",  # its content is not what its name says
    "not_text",  # neither text in UTF-8 or UTF-16 nor a document
    "no_text",  # a document without text, such as a scan
    "damaged",
    "cannot_start",  # the system refuses the process that reads
]

MAX_NBYTES = 100 << 20  # of a file
MAX_PAGES = 5_000  # of a document; the longest books have some 3,000
MAX_CHARACTERS = 8_000_000  # of text in a file: some two million tokens
MAX_SIDE = 1_536  # pixels of a picture's longer side; larger ones are made smaller
MAX_POINTS = 100_000_000  # pixels of a picture that is read
PAGED = ("pdf", "xlsx", "epub")  # kinds whose texts are numbered: by page, sheet and section


class Document(Struct, frozen=True):
    """A file that was read.

    pages: its text by page, sheet or section; one text for kinds without them; none for a picture, unless a
    program has read a text in it. picture: PNG or JPEG, at most MAX_SIDE wide and high.
    """

    kind: Kind
    pages: list[str] = []
    picture: bytes = b""


class Reading(Struct, frozen=True):
    """The child process's result: a document or a fault."""

    document: Document | None = None
    fault: Fault | None = None


class Unreadable(SpecExecError):
    """A file that cannot be read. The window says why in the user's language; the message is for logs."""

    kind = "unreadable_file"

    def __init__(self, fault: Fault) -> None:
        super().__init__(f"The file cannot be read: {fault}.")
        self.fault: Fault = fault
