"""The pictures of the README: what is drawn, and that what is there was drawn elsewhere."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pyte

from helpers import ROOT
from screen_svg import BACKGROUND, CELL, MARGIN, draw, row_of

SVG = "{http://www.w3.org/2000/svg}"


def drawn(text: str) -> ET.Element:
    screen = pyte.Screen(20, 2)
    pyte.Stream(screen).feed(text)
    return ET.fromstring(draw([row_of(screen, number) for number in range(2)], "A <screen>"))


def test_each_run_of_a_look_stands_in_its_column() -> None:
    picture = drawn("ab \x1b[1;38;2;255;0;16mc<&\x1b[0m d\r\n\x1b[48;2;1;2;3m  x\x1b[0m")
    runs = [(run.text, float(run.attrib["x"])) for run in picture.iter(f"{SVG}text")]
    columns = [("ab", 0), ("c<&", 3), ("d", 7), ("x", 2)]
    assert runs == [(text, round(MARGIN + column * CELL, 1)) for text, column in columns]
    bold = next(run for run in picture.iter(f"{SVG}text") if run.text == "c<&")
    assert (bold.attrib["fill"], bold.attrib["font-weight"]) == ("#ff0010", "bold")
    papers = [rect.attrib["fill"] for rect in picture.iter(f"{SVG}rect")]
    assert papers == [BACKGROUND, "#010203"]


def test_a_character_of_two_cells_takes_two() -> None:
    (run,) = drawn("語語").iter(f"{SVG}text")
    assert (run.text, run.attrib["textLength"]) == ("語語", f"{4 * CELL:.1f}")


def test_the_pictures_of_the_readme_are_there_and_show_no_path_of_a_machine() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"!\[[^]]+\]\((docs/[\w-]+\.svg)\)", readme)
    assert {"docs/search.svg", "docs/index.svg"} <= set(named)
    for name in named:
        picture = ET.fromstring((ROOT / name).read_text(encoding="utf-8"))
        shown = " ".join(picture.itertext())
        assert not re.search(r"/(?:tmp|home|root|Users)\b", shown), name
