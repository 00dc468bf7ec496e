"""The bridge from a trained run to a device file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparserec.extras import lazy_names

if TYPE_CHECKING:
    from sparserec.export.contents import file_ids
    from sparserec.export.curve import draw_curve
    from sparserec.export.file import ExportReport, export_run
    from sparserec.export.options import ExportOptions
    from sparserec.export.page import write_page
    from sparserec.export.page_colour import check_colour
    from sparserec.export.ship import DEFAULT_SIZE, ship_run
    from sparserec.export.sides import NEW_USERS
    from sparserec.export.thorough import ship_file, ship_thoroughly

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
