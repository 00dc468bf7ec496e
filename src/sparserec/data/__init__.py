"""What was observed: interactions, readers, splits, named data sets, the built-in sample and training batches."""

from sparserec.data.ids import IdMap
from sparserec.data.interactions import Interactions, ItemInfo
from sparserec.data.item_info import read_item_info
from sparserec.data.reading import ReadOptions, read_source
from sparserec.data.sampling import Batch, Sampler
from sparserec.data.source import ReadReport, Source
from sparserec.data.splits import PROTOCOLS, Split, split_interactions
from sparserec.data.world import make_world

__all__ = [
    "PROTOCOLS",
    "Batch",
    "IdMap",
    "Interactions",
    "ItemInfo",
    "ReadOptions",
    "ReadReport",
    "Sampler",
    "Source",
    "Split",
    "make_world",
    "read_item_info",
    "read_source",
    "split_interactions",
]
