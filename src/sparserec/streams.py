"""What random numbers are drawn for. A purpose is part of every key, so that draws from one seed are independent.

One run has one base and one method, so two bases may share a number. Numbers stay as they are: others would change
results. A purpose comes after the seed, but for splits and batches: there it comes first, because numpy pads keys with
zeros, and [seed, epoch] would be the same as [seed, epoch, 0].
"""

from __future__ import annotations

EDGE_ORDER = 1  # of an epoch; before the seed
DRAWN_ITEMS = 2  # negatives and users of a step; before the seed
USER_ORDER = 3  # of an epoch in batches of users; before the seed
SPLIT = 0x5EED5  # which interactions are train, validation and test; before the seed
SPLIT_USERS = 0x5EED6  # users held out whole; before the seed
SPLIT_MEASURED = 0x5EED7  # users of whom something is held out; before the seed

INITIAL = 1  # values a table begins with
CANDIDATES = 2  # rows whose inactive entries are watched
SUPPORT = 3  # a uniform first support
MGDCF_ENTRIES = 21  # dropout of table entries
MGDCF_EDGES = 22  # dropout of edges
MGDCF_OUTPUTS = 23  # dropout of outputs
XSIMGCL_NOISE = 31  # noise of a layer
HISTORY_DROPOUT = 31  # dropout of a history's items
HISTORY_SAMPLE = 32  # items that the softmax runs over
NEW_ROWS = 41  # columns of rows that a warm start adds
FILL = 42  # entries that a warm start adds anywhere
DHE_NETWORK = 51  # weights of the network
GROWN = 61  # entries grown at random
GSE_SAMPLED = 62  # inactive entries that are looked at
BET_ACTIONS = 71  # sizes to try
BET_SAMPLES = 72  # samples of the predictor
CIESS_ACTING = 81  # steps of the agents
CIESS_NOISE = 82  # noise on their actions
CIESS_LEARNING = 83  # what they learn from
