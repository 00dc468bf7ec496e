"""The bridge from a trained run to a device file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparserec.extras import lazy_names

if TYPE_CHECKING:
    from sparserec.export.figures import draw_curve
    from sparserec.export.file import ExportReport, export_run
    from sparserec.export.measured import NEW_USERS
    from sparserec.export.options import ExportOptions
    from sparserec.export.page import write_page
    from sparserec.export.page_colour import check_colour
    from sparserec.export.ship import DEFAULT_SIZE, said, ship_run
    from sparserec.export.thorough import ship_thoroughly

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "figures": ("draw_curve",),
        "file": ("ExportReport", "export_run"),
        "options": ("ExportOptions",),
        "measured": ("NEW_USERS",),
        "page": ("write_page",),
        "page_colour": ("check_colour",),
        "ship": ("DEFAULT_SIZE", "said", "ship_run"),
        "thorough": ("ship_thoroughly",),
    },
)
