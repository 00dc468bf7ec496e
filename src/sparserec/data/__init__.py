"""What was observed: interactions, readers, splits, named data sets, the built-in sample and training batches."""

from sparserec.data.columns import ReadReport, Source
from sparserec.data.formats import FORMATS, Format
from sparserec.data.interactions import IdMap, Interactions, ItemInfo, join
from sparserec.data.item_info import read_item_info
from sparserec.data.named import (
    CATALOGUE,
    NamedSet,
    download_folder,
    fetch,
    find_named,
    get_named,
    load_entry,
    load_named,
    locate,
    resolve,
)
from sparserec.data.reading import ReadOptions, read_source
from sparserec.data.sampling import Batch, Sampler, UserSampler
from sparserec.data.splits import PROTOCOLS, Split, new_users, own_protocol, split_interactions, train_share
from sparserec.data.world import make_world

__all__ = [
    "CATALOGUE",
    "FORMATS",
    "PROTOCOLS",
    "Batch",
    "Format",
    "IdMap",
    "Interactions",
    "ItemInfo",
    "NamedSet",
    "ReadOptions",
    "ReadReport",
    "Sampler",
    "Source",
    "Split",
    "UserSampler",
    "download_folder",
    "fetch",
    "find_named",
    "get_named",
    "join",
    "load_entry",
    "load_named",
    "locate",
    "make_world",
    "new_users",
    "own_protocol",
    "read_item_info",
    "read_source",
    "resolve",
    "split_interactions",
    "train_share",
]
