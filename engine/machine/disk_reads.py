"""How this program reads a disk. The streamer reads in this way, a disk's speed is measured in this way, and
plans reckon with it. Numbers only."""

# Offsets, lengths and addresses of direct reads are multiples of this many bytes, on every current disk.
SECTOR = 4096
# Bytes of one read: enough for a disk's full speed, few enough that two threads share a chunk.
PIECE_NBYTES = 4 << 20
# Number of reader threads. One alone leaves the disk idle between two reads; a third gains nothing.
READERS = 2
