"""Files that a chat takes along, read as text in a child process. Imports no widgets."""
