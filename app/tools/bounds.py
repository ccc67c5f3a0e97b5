"""Limits of time and size for tool servers."""

START_S = 20.0  # from its start to the list of its tools; a package runner may install it first
CALL_S = 60.0  # for one call
MESSAGE_NBYTES = 4 << 20  # of one message
MOST_STRAYS = 1000  # messages that nobody asked for, during one request
MOST_TOOLS = 64  # of one server
NAME_LENGTH = 64  # characters of a tool's name; templates and grammars repeat it
DESCRIPTION_LENGTH = 2000  # characters that the model reads
SCHEMA_LENGTH = 16_000  # characters of the JSON schema of a tool's arguments
RESULT_LENGTH = 20_000  # characters of a result that the model reads, about 5,000 tokens
