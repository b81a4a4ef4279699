"""The two themes: colours, and the type and the measures that both share.

Invariant: every colour that the window paints is one of these tokens; widgets never name a colour.
"""

from dataclasses import dataclass, fields, replace
from typing import Final

from sophos_desktop.shell.theme.measures import MEASURES, Measures
from sophos_desktop.shell.theme.type_scale import TYPE, TypeScale


@dataclass(frozen=True, slots=True)
class Tokens:
    """One theme. A colour is `#RRGGBB`, or `#AARRGGBB` where it is not opaque (`shadow` alone). Type and
    measures are those of the sizes in force."""

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
    match: str
    success: str
    success_soft: str
    success_line: str
    warning: str
    warning_soft: str
    warning_line: str
    danger: str
    danger_soft: str
    danger_line: str
    danger_hover: str
    on_danger: str
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
    code_comment: str
    code_keyword: str
    code_string: str
    code_number: str
    code_function: str
    code_type: str
    code_deleted: str
    code_inserted: str
    tip: str
    on_tip: str
    shadow: str
    type: TypeScale = TYPE
    measures: Measures = MEASURES

    def at_sizes(self, interface: float, reading: float) -> "Tokens":
        """The theme with type and measures for the interface and for reading at other sizes than 100 %."""
        if interface == reading == 1:
            return self
        type_, measures = TYPE.scaled(interface, reading), MEASURES.scaled(interface, reading)
        return replace(self, type=type_, measures=measures)

    def at_full_size(self) -> "Tokens":
        """The theme with type and measures at 100 %."""
        return self if self.type is TYPE else replace(self, type=TYPE, measures=MEASURES)

    @property
    def colours(self) -> dict[str, str]:
        """Every colour by its token's name."""
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.name not in ("name", "type", "measures")
        }


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
    match="#F7E3AE",
    success="#376A3C",
    success_soft="#E8F0E5",
    success_line="#BDD3B8",
    warning="#855300",
    warning_soft="#FBF2DF",
    warning_line="#E4CB97",
    danger="#A8322A",
    danger_soft="#FBECE9",
    danger_line="#E8BDB6",
    danger_hover="#8F2922",
    on_danger="#FFFFFF",
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
    code_comment="#665F56",
    code_keyword="#7A3A86",
    code_string="#3A6A2C",
    code_number="#95480E",
    code_function="#1E6178",
    code_type="#875200",
    code_deleted="#A8322A",
    code_inserted="#376A3C",
    tip="#2E2A26",
    on_tip="#F5F3EF",
    shadow="#2928221A",
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
    match="#5A4718",
    success="#93C28D",
    success_soft="#222E21",
    success_line="#3D543A",
    warning="#E2B566",
    warning_soft="#32291B",
    warning_line="#5C4A2B",
    danger="#EF9B90",
    danger_soft="#3A2523",
    danger_line="#683D38",
    danger_hover="#F4B0A7",
    on_danger="#2B0F0C",
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
    code_comment="#989287",
    code_keyword="#CFA3DA",
    code_string="#A3C88F",
    code_number="#E3A872",
    code_function="#85C0D1",
    code_type="#DDB873",
    code_deleted="#EF9B90",
    code_inserted="#93C28D",
    tip="#3D3A35",
    on_tip="#F1EEE8",
    shadow="#66000000",
)

# Names for single sizes and lengths.
READING_SIZE: Final = TYPE.reading.size
READING_LINE: Final = TYPE.reading.line
INTERFACE_SIZE: Final = TYPE.interface.size
SMALL_SIZE: Final = TYPE.small.size
TINY_SIZE: Final = TYPE.badge.size
CODE_SIZE: Final = TYPE.code.size
CODE_LINE: Final = TYPE.code.line
HEADING_SIZES: Final = {1: TYPE.heading_1.size, 2: TYPE.heading_2.size}
COLUMN_WIDTH: Final = MEASURES.column_width
COLUMN_MARGIN: Final = MEASURES.column_margin
BUBBLE_WIDTH: Final = MEASURES.bubble_width
LIST_WIDTH: Final = MEASURES.list_width
SMALLEST_WINDOW: Final = (MEASURES.smallest_window_width, MEASURES.smallest_window)
FIRST_WINDOW: Final = (MEASURES.first_window_width, MEASURES.first_window)
DOCK_WIDTH: Final = MEASURES.dock_width
TRACE_ROW_HEIGHT: Final = MEASURES.trace_row
TRACE_NAME_WIDTH: Final = MEASURES.trace_name_width
TRACE_TIME_WIDTH: Final = MEASURES.trace_time_width
TRACE_INDENT: Final = MEASURES.trace_indent
AXIS_HEIGHT: Final = MEASURES.axis
