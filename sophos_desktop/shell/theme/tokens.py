"""The colours of the two themes and the measures of both.

Invariant: every colour that the window paints is one of these tokens; widgets never name a colour.
Lengths are device-independent pixels at 100 %.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Tokens:
    """The colours of one theme, each as `#RRGGBB`."""

    name: str
    window: str
    paper: str
    raised: str
    sunken: str
    inline: str
    bubble: str
    hover: str
    pressed: str
    selected: str
    border: str
    border_strong: str
    border_control: str
    text: str
    text_2: str
    text_3: str
    disabled: str
    accent: str
    accent_hover: str
    accent_pressed: str
    on_accent: str
    accent_soft: str
    accent_line: str
    success: str
    success_soft: str
    success_line: str
    warning: str
    warning_soft: str
    warning_line: str
    danger: str
    danger_soft: str
    danger_line: str
    plum: str
    plum_soft: str
    plum_line: str
    bar_load: str
    bar_prompt: str
    bar_model: str
    bar_tool: str
    bar_failed: str
    bar_broken: str
    code_text: str
    tip: str
    on_tip: str


LIGHT: Final = Tokens(
    name="light",
    window="#F5F3EF",
    paper="#FDFCFA",
    raised="#FFFFFF",
    sunken="#F5F3EE",
    inline="#F3F0EA",
    bubble="#EFEBE4",
    hover="#ECE8E1",
    pressed="#E1DCD3",
    selected="#E4DFD6",
    border="#E3DFD7",
    border_strong="#CFC9BE",
    border_control="#8C867B",
    text="#25221E",
    text_2="#57524A",
    text_3="#665F56",
    disabled="#A8A299",
    accent="#1E6178",
    accent_hover="#185265",
    accent_pressed="#124252",
    on_accent="#FFFFFF",
    accent_soft="#E3EEF1",
    accent_line="#B3CED7",
    success="#376A3C",
    success_soft="#E8F0E5",
    success_line="#BDD3B8",
    warning="#855300",
    warning_soft="#FBF2DF",
    warning_line="#E4CB97",
    danger="#A8322A",
    danger_soft="#FBECE9",
    danger_line="#E8BDB6",
    plum="#6A4C8C",
    plum_soft="#F1ECF6",
    plum_line="#D1C2E0",
    bar_load="#7F796F",
    bar_prompt="#4C869A",
    bar_model="#1E6178",
    bar_tool="#A76B19",
    bar_failed="#A8322A",
    bar_broken="#6A4C8C",
    code_text="#2B2824",
    tip="#2E2A26",
    on_tip="#F5F3EF",
)

DARK: Final = Tokens(
    name="dark",
    window="#1B1A18",
    paper="#211F1D",
    raised="#292724",
    sunken="#1A1917",
    inline="#2E2B28",
    bubble="#35322D",
    hover="#2A2825",
    pressed="#3B3833",
    selected="#363330",
    border="#34312D",
    border_strong="#4A463F",
    border_control="#80796F",
    text="#EAE6DF",
    text_2="#BBB5AB",
    text_3="#A39D92",
    disabled="#6B665E",
    accent="#82BFD0",
    accent_hover="#99CEDC",
    accent_pressed="#6AA9BB",
    on_accent="#0E2128",
    accent_soft="#1E3239",
    accent_line="#37565F",
    success="#93C28D",
    success_soft="#222E21",
    success_line="#3D543A",
    warning="#E2B566",
    warning_soft="#32291B",
    warning_line="#5C4A2B",
    danger="#EF9B90",
    danger_soft="#3A2523",
    danger_line="#683D38",
    plum="#C3AAE0",
    plum_soft="#2D2636",
    plum_line="#504262",
    bar_load="#8B857A",
    bar_prompt="#568E9F",
    bar_model="#82BFD0",
    bar_tool="#D19C4D",
    bar_failed="#EF9B90",
    bar_broken="#C3AAE0",
    code_text="#E2DED6",
    tip="#3D3A35",
    on_tip="#F1EEE8",
)

# Type, in pixels.
READING_SIZE: Final = 15
READING_LINE: Final = 24
INTERFACE_SIZE: Final = 13
SMALL_SIZE: Final = 12
TINY_SIZE: Final = 11
CODE_SIZE: Final = 12
CODE_LINE: Final = 18
HEADING_SIZES: Final = {1: 20, 2: 17}

# Measures.
COLUMN_WIDTH: Final = 600
COLUMN_MARGIN: Final = 60
BUBBLE_WIDTH: Final = 480
LIST_WIDTH: Final = 260
ROW_HEIGHT: Final = 32
BAR_HEIGHT: Final = 28
BANNER_HEIGHT: Final = 48
BUTTON_HEIGHT: Final = 28
COMPOSER_HEIGHT: Final = 80
SMALLEST_WINDOW: Final = (480, 400)
FIRST_WINDOW: Final = (1280, 800)
DOCK_WIDTH: Final = 320
DOCK_SMALLEST: Final = 280
DOCK_FITS: Final = 1100  # the narrowest window that shows the dock by itself
TRACE_ROW_HEIGHT: Final = 26
TRACE_NAME_WIDTH: Final = 160
TRACE_TIME_WIDTH: Final = 52
TRACE_INDENT: Final = 12
AXIS_HEIGHT: Final = 24

# Families in the order of preference; the first that is installed is taken.
TEXT_FAMILIES: Final = ("Inter", "Segoe UI", "SF Pro Text", "Noto Sans", "DejaVu Sans")
CODE_FAMILIES: Final = ("JetBrains Mono", "Cascadia Mono", "SF Mono", "Noto Sans Mono", "DejaVu Sans Mono")
