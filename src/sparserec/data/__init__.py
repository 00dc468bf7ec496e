"""What was observed: interactions, readers, splits, named data sets, the built-in sample and training batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparserec.extras import lazy_names

if TYPE_CHECKING:
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
        locate,
        resolve,
    )
    from sparserec.data.reading import ReadOptions, read_source
    from sparserec.data.sampling import Batch, Sampler, UserSampler
    from sparserec.data.splits import (
        PROTOCOLS,
        Split,
        new_users,
        own_protocol,
        split_interactions,
        train_share,
    )
    from sparserec.data.world import make_world

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
