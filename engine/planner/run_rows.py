"""Numbers of rows by which the engine cuts its passes and sizes its buffers. Plans count the memory of such
runs."""

# Of compiled passes; a longer pass takes several runs.
RUN_ROWS = 128
# The same if weights are streamed, because each run streams them all, or if there are experts, because only
# many rows are several rows for each expert.
STREAMED_ROWS = 512
# Of a prompt, on a card.
PROMPT_ROWS = 2048
# Of a prompt, in a head that torch runs.
HEAD_ROWS = 2048
# Of the largest pass that is recorded on a card, and replayed if the whole model is there.
RECORDED_ROWS = 64
# Of a draft beside its target's: the nodes of a tree, and those that grow while the target verifies it.
OWN_ROWS = 1024
