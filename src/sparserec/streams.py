"""What random numbers are drawn for. A purpose is part of every key, so that draws from one seed are independent.

One run has one base and one method, so two bases may share a number. Numbers stay as they are: others would change
results. Splits and batches have streams of their own kind in data/, where the purpose comes before the seed.
"""

from __future__ import annotations

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
