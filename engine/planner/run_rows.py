"""Numbers of rows by which the engine cuts its passes and sizes its buffers. Plans count the memory of such
runs."""

# Of compiled passes; a longer pass takes several runs.
RUN_ROWS = 128
# The same if weights are streamed, because each run streams them all, or if there are experts, because only
# many rows are several rows for each expert.
STREAMED_ROWS = 512
# Of a prompt, in passes through torch.
PROMPT_ROWS = 2048
# Of a prompt, in a head that torch runs.
HEAD_ROWS = 2048
# Of passes that are recorded on a card, and replayed if the whole model is there; and of the largest one.
RECORDED = (1, 4, 16, 32, 64)
RECORDED_ROWS = RECORDED[-1]
# Keys that recorded passes read at least. There are others that read twice as many, and so on.
SEEN_KEYS = 256
# Of a draft beside its target's: the nodes of a tree, and those that grow while the target verifies it.
OWN_ROWS = 1024
# Of a draft whose layers have states, which keep a record of each expanded node until the target has chosen:
# how many it may have beyond one for each node of a tree, since trees drop nodes again; and bytes of those of
# nodes that grow while the target verifies a tree.
DROPPED_RECORDS = 64
AHEAD_RECORDS_NBYTES = 192 << 20
