"""What was observed: interactions, readers, splits, named data sets, the built-in sample and training batches."""

from sparserec.data.catalogue import CATALOGUE, NamedSet
from sparserec.data.ids import IdMap
from sparserec.data.interactions import Interactions, ItemInfo
from sparserec.data.item_info import read_item_info
from sparserec.data.named import cache_folder, fetch, load_named, resolve
from sparserec.data.reading import ReadOptions, read_source
from sparserec.data.sampling import Batch, Sampler
from sparserec.data.source import ReadReport, Source
from sparserec.data.splits import PROTOCOLS, Split, split_interactions
from sparserec.data.world import make_world

__all__ = [
    "CATALOGUE",
    "PROTOCOLS",
    "Batch",
    "IdMap",
    "Interactions",
    "ItemInfo",
    "NamedSet",
    "ReadOptions",
    "ReadReport",
    "Sampler",
    "Source",
    "Split",
    "cache_folder",
    "fetch",
    "load_named",
    "make_world",
    "read_item_info",
    "read_source",
    "resolve",
    "split_interactions",
]
