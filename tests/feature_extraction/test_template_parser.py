# SPDX-License-Identifier: BSD-3-Clause
import pytest

from sklearn_latent.feature_extraction import TemplateVectorizer
from sklearn_latent.feature_extraction._template_parser import PADDED, SKIP, Item, resolve_templates

COLUMNS = ("word", "pos")


def parse(templates):
    return resolve_templates(templates, COLUMNS)


def test_items_and_literals():
    (template,) = parse(["U01:%x[-1,0]/%x[ +2 , 1 ]!"])
    assert template.items == (Item(-1, 0), Item(2, 1))
    assert (template.prefix, template.separators, template.suffix) == ("U01:", ("/",), "!")
    assert template.kind == PADDED and not template.edge


def test_presets():
    assert [len(parse(name)) for name in ("np-chunking", "chunking", "bio-ner")] == [9, 21, 21 + 8 + 9]
    assert {t.kind for t in parse("chunking")[:-2]} == {SKIP}
    assert [t.text for t in parse("bio-ner")[-2:]] == ["__BOS__", "__EOS__"]


def test_text_path_and_list_are_alike(tmp_path):
    lines = ["U00:%x[-2,0]", "U01", "B", "B02:%x[0,1]"]
    path = tmp_path / "template.txt"
    path.write_bytes(("\ufeff# a comment\r\n\r\n" + "\r\n".join(lines)).encode())
    expected = parse(lines)
    assert [t.text for t in expected] == ["U00:%x[-2,0]", "U01", "B02:%x[0,1]"]
    assert [t.edge for t in expected] == [False, False, True]
    assert parse("\n".join(lines)) == parse(str(path)) == parse(path) == parse(tuple(lines)) == expected
    assert parse("U00:%x[0,0]") == parse(["U00:%x[0,0]"])  # no line break, but a macro


def test_a_template_that_comes_twice_is_one():
    assert len(parse(["U0:%x[0,0]", "U0:%x[0,0]", "U1:%x[0,0]"])) == 2


@pytest.mark.parametrize(
    ("templates", "message"),
    [
        ("chunkng", "'chunkng'.*'bio-ner', 'chunking', 'np-chunking'"),
        ("no/such/file", "nor a path to an existing one"),
        ("U0:%x[0,0]\nX1:%x[0,0]", r"line 2: 'X1:%x\[0,0\]'.*neither U nor B"),
        ("\n# c\nU0:%x[0,0\n", r"line 3: 'U0:%x\[0,0'.*%x"),
        ("%x[0,0]", "line 1.*neither U nor B"),
        ("U0:%x[0]", "line 1"),
        ("U0:%x[0,2]", r"column 2, but there are 2: \('word', 'pos'\)"),
        ("U0:%x[0,-1]", "form"),
        (["U0:%x[0,0]", "U1:%x[a,0]"], r"templates\[1\]: 'U1:%x\[a,0\]'"),
        (["word"], r"templates\[0\]: 'word' has no %x"),
        (["U0:word"], r"templates\[0\].*has no %x"),
        ([""], r"templates\[0\]: '' has no %x"),
        (["U0:%x[1001,0]"], "1000 is the most"),
        (["U0:" + "%x[0,0]" * 65], "64 is the most"),
        (["U0:%x[0,0]", 3], r"templates\[1\] is 3"),
    ],
)
def test_bad_templates(templates, message):
    with pytest.raises(ValueError, match=message):
        TemplateVectorizer(templates).fit([["a"]])


def test_a_bad_file_is_named(tmp_path):
    path = tmp_path / "template"
    path.write_text("U0:%x[0,0]\nU1:%x[0;0]\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"template, line 2.*U1:%x\[0;0\]"):
        parse(str(path))


def test_the_widest_templates_work():
    text = "U0:" + "%x[1000,0]" * 63 + "%x[-1000,0]"
    names = TemplateVectorizer([text]).fit([["a", "b"]]).get_feature_names_out().tolist()
    assert names == ["U0:" + "|".join(["_B+999"] * 63 + ["_B-1000"]), "U0:" + "|".join(["_B+1000"] * 63 + ["_B-999"])]
