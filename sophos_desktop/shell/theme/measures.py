"""The lengths of the window's parts, in device-independent pixels at 100 %.

Invariant: no widget has a length of its own for what stands here.
"""

from dataclasses import dataclass, replace
from typing import Final

from sophos_desktop.shell.theme.type_scale import TYPE, grown

# What holds a line of type, and of which size: these grow with it (LOOK 10).
_OF_INTERFACE: Final = (
    "menu_bar button button_in_row icon_button field field_in_row row banner menu_item composer dock_title"
)
_OF_SMALL: Final = "status_bar tip toggle icon_button_in_bar trace_row axis"
_OF_COLUMN: Final = "column_width bubble_width bubble_width_narrow"


@dataclass(frozen=True, slots=True)
class Measures:
    """All lengths; the same in both themes. Names say part and side; a bare name is a height."""

    menu_bar: int = 28
    status_bar: int = 28
    status_padding: int = 10
    toggle: int = 24
    meter_width: int = 64
    meter: int = 6
    button: int = 32
    button_in_row: int = 28
    send: int = 32
    button_padding: int = 12
    button_padding_in_row: int = 10
    button_radius: int = 6
    icon_button: int = 28
    icon_button_in_bar: int = 24
    field: int = 32
    field_in_row: int = 28
    field_padding: int = 8
    switch_width: int = 32
    switch: int = 18
    switch_knob_off: int = 10
    switch_knob_on: int = 12
    check: int = 16
    check_radius: int = 4
    list_width: int = 260
    list_narrowest: int = 200
    list_widest: int = 400
    list_margin: int = 12
    rail_width: int = 48
    row: int = 32
    row_inset: int = 8
    row_padding: int = 12
    group_head: int = 28
    accent_bar_width: int = 3
    accent_bar: int = 16
    banner: int = 48
    banner_icon: int = 18
    resume_bar_width: int = 3
    card_radius: int = 8
    menu_item: int = 28
    menu_radius: int = 8
    menu_item_radius: int = 4
    tip: int = 24
    tip_radius: int = 6
    scroll_bar_width: int = 4
    scroll_bar_hovered_width: int = 8
    scroll_bar_inset: int = 4
    focus_ring_width: int = 2
    focus_ring_gap: int = 2
    column_width: int = 600
    column_margin: int = 60
    bubble_width: int = 480
    bubble_width_narrow: int = 440
    bubble_radius: int = 12
    composer: int = 80
    composer_radius: int = 10
    dock_width: int = 320
    dock_narrowest: int = 280
    dock_widest: int = 560
    dock_title: int = 40
    trace_row: int = 26
    trace_indent: int = 12
    trace_name_width: int = 160
    trace_time_width: int = 52
    axis: int = 24
    smallest_window_width: int = 480
    smallest_window: int = 400
    first_window_width: int = 1280
    first_window: int = 800
    dock_fits_width: int = 1100  # the narrowest window that shows the dock by itself
    list_fits_width: int = 720  # below it the list is a rail
    words_fit_width: int = 640  # below it the status bar says less
    transcript_narrowest: int = 480

    def scaled(self, interface: float, reading: float) -> "Measures":
        """What holds type at other sizes: rows as high as it needs, the column as wide as it reads well."""
        made = {
            name: grown(getattr(self, name), TYPE.interface.size, interface) for name in _OF_INTERFACE.split()
        }
        made |= {name: grown(getattr(self, name), TYPE.small.size, interface) for name in _OF_SMALL.split()}
        made["send"] = max(self.send, round(self.send * interface))  # a square with nothing but its icon
        made["group_head"] = grown(self.group_head, TYPE.group_head.size, interface)
        made |= {name: round(getattr(self, name) * reading) for name in _OF_COLUMN.split()}
        return replace(self, **made)


MEASURES: Final = Measures()
