"""The documentation site for a few operators: valid links, facts from the tables."""

from __future__ import annotations

import json
import re

import pytest

from docs.agreement import REPORTS, operator_agreement, read_report
from docs.build import build
from docs.check import problems
from docs.data import matrix_data
from docs.home import OPSET_QUESTION
from docs.rule_ids import operator_rules, other_rules
from docs.runtime import best_opset, operators_leaving
from docs.support import stretches
from docs.twins import closest_operators, equivalents_by_operator, written_list
from docs.written import html_of
from specgate.dialects import BUILT_IN
from specgate.generate.near_misses import iterate_aims
from specgate.report import RenderOptions, render
from specgate.report.rule_links import SITE, rule_page
from specgate.spec.tables import dialect
from specgate.verdict import Finding, Report
from tests.paths import ROOT

FEW = ("directml/ONE_HOT", "onnx/OneHot", "onnx/com.microsoft.QuickGelu", "openvino/OneHot")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "out"
    build(folder, FEW)
    return folder


def text_of(page):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.read_text(encoding="utf-8")))


@pytest.mark.slow
def test_every_link_resolves(site):
    assert problems(site, whole=False) == []


def test_dead_links_large_files_and_foreign_addresses_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<p id="x"><a href="b.html">b</a><a href="#y">y</a><a href="../c.html">c</a></p><i id="x"></i>'
        '<script src="https://elsewhere.example/x.js"></script><a href="https://elsewhere.example">fine</a>'
    )
    (tmp_path / "big.js").write_text("x" * 500_001)
    assert sorted(problems(tmp_path)) == [
        "a.html: #y is an anchor that does not exist in a.html",
        "a.html: ../c.html is a page that does not exist",
        "a.html: b.html is a page that does not exist",
        "a.html: loads https://elsewhere.example/x.js",
        "a.html: two elements have the id x",
        "big.js: 500,001 bytes",
    ]


def test_a_folder_that_is_not_a_site_is_not_emptied(tmp_path):
    (tmp_path / "index.html").write_text("of another site")
    with pytest.raises(FileExistsError):
        build(tmp_path, FEW)
    assert (tmp_path / "index.html").is_file()


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_possible_finding_has_a_page(name):
    table = dialect(name)
    for operator in table.operators[::7]:
        spec = table.operator(operator)
        facts = {f"{name}/{operator}/{rule}" for rule in operator_rules(spec)}
        for level in spec.levels:
            for side in ("documented", "observed"):
                resolved = spec.resolve(level, side)
                raised = {aim.id for aim in iterate_aims(spec, resolved) if aim.kind != "tensor"} if resolved else set()
                assert raised <= facts


@pytest.mark.slow
def test_page_names_differ_by_more_than_case():
    ids = [f"{name}/{operator}/{rule}" for name in BUILT_IN for operator in dialect(name).operators
           for rule in operator_rules(dialect(name).operator(operator))]  # fmt: skip
    pages = [rule_page(rule_id) for rule_id in ids]
    assert len({page.lower() for page in pages}) == len(pages)
    assert rule_page("onnx/TopK/K.required") == "rules/onnx/TopK/K.required.html"
    assert rule_page("onnx/TopK/k.required") == "rules/onnx/TopK/k.required~2.html"


def test_each_rule_has_a_page(site):
    ids = [
        f"{op}/{rule}" for op in FEW for rule in operator_rules(dialect(op.split("/")[0]).operator(op.split("/")[1]))
    ]
    ids += [f"{group}/{rule}" for group, rule in other_rules()]
    assert len(ids) > 150
    assert [rule for rule in ids if not (site / rule_page(rule)).is_file()] == []


def test_sarif_and_the_site_agree_on_the_address_of_a_rule(site):
    finding = Finding("directml/ONE_HOT/axis-range", "error", "Axis is 4", where="Axis")
    document = json.loads(
        render(Report(targets=["directml:2.1"], nodes=1, findings=[finding]), "sarif", options=RenderOptions())
    )
    (rule,) = document["runs"][0]["tool"]["driver"]["rules"]
    assert rule["helpUri"].startswith(SITE)
    assert (site / rule["helpUri"].removeprefix(SITE)).is_file()


def test_a_rule_page_has_the_rule_and_a_counterexample(site):
    message = text_of(site / "rules/directml/ONE_HOT/axis-range.html")
    assert "Axis must be less than the DimensionCount of IndicesTensor." in message
    assert "Axis &lt; rank(IndicesTensor)" in message
    assert "desc.Axis = 4" in message
    assert "Axis is 4 and IndicesTensor has rank 4" in message
    assert "reason = " in message
    assert "\\n" not in message
    builds = text_of(site / "rules/directml/ONE_HOT/values-rank.html")
    assert "Builds of 3.0..6.4 do not require it" in builds


def test_the_support_matrix_matches_the_tables():
    (stretch,) = [s for s in stretches(dialect("directml").operator("ONE_HOT")) if "2.1" in s.levels]
    assert stretch.page is not None
    assert stretch.builds is not None
    assert stretch.page["IndicesTensor"].types == ("UINT32",)
    assert "INT64" in (stretch.builds["IndicesTensor"].types or ())


def test_types_are_listed_only_where_the_field_is_a_tensor():
    """Min and max of Clip are attributes up to opset 10."""
    table = dialect("onnx")
    parts = stretches(table.operator("Clip"))
    assert [(str(part.levels), part.has("min", "types")) for part in parts[:2]] == [("1..10", False), ("11", True)]
    (rows,) = (row for row in matrix_data(table, ["Clip"])["operators"]["Clip"] if "min" in row[0])
    assert table.levels[rows[2][0][0]] == "11"


def test_the_operator_page_has_all_sections(site):
    message = text_of(site / "directml/ONE_HOT.html")
    for part in (
        "Support",
        "Fields",
        "Rules",
        "Differences of real builds",
        "Examples",
        "In other dialects",
        "Sources",
    ):
        assert f" {part} " in message
    assert "--target directml:6.4" in message
    assert "by the kernel one_hot, exactly" in message
    assert "Its DirectML provider lowers nodes of these operators to it: OneHot" in message
    onnx = text_of(site / "onnx/OneHot.html")
    assert "On DirectML a node becomes ONE_HOT" in onnx
    assert "DirectML 1.13 to 1.24 9, 11" in onnx


def data(site, name):
    message = (site / "data" / f"{name}.js").read_text(encoding="utf-8")
    match = re.fullmatch(r'specgate\.take\("[\w-]+", (.*)\);\n', message, re.DOTALL)
    assert match is not None
    return json.loads(match[1])


def test_the_matrix_lists_documented_and_observed_types(site):
    result = data(site, "directml")
    at = result["levels"].index("2.1")
    (row,) = [row for row in result["operators"]["ONE_HOT"] if row[0] == ["IndicesTensor"]]
    (stretch,) = [s for s in row[2] if s[0] <= at <= s[1]]
    _, _, page, ranks, builds, _ = stretch
    assert result["sets"][page] == ["UINT32"]
    assert ranks == "4"
    assert "INT64" in result["sets"][builds]


def test_the_best_opset_for_directml():
    assert best_opset() == "21"


def test_the_search_index_has_the_opset_question(site):
    assert f'["runtime/index.html","{OPSET_QUESTION}",' in (site / "data" / "search.js").read_text(encoding="utf-8")


@pytest.mark.parametrize(("words", "path"), [
    (("80070057",), "guides/invalid-argument.html"),
    (("windows", "11", "22h2"), "levels/directml-5.0.html"),
    (("fp16",), "matrix.html#dialect=directml&type=FLOAT16"),
    (("half",), "matrix.html#dialect=openvino&type=f16"),
    (("fp32",), "matrix.html#dialect=onnx&type=FLOAT"),
])  # fmt: skip
def test_the_search_index_has_common_queries(site, words, path):
    index = (site / "data" / "search.js").read_text(encoding="utf-8")
    result = next(page for page in json.loads(index[index.index("{") : -3])["pages"] if page[0] == path)
    assert all(word in result[2] for word in words)


def test_conv_leaves_directml_at_opset_22():
    assert "Conv" in operators_leaving()["22"]


def test_twins_exist():
    assert closest_operators("directml", "ONE_HOT") == {"onnx": ["OneHot"], "openvino": ["OneHot"]}
    assert closest_operators("onnx", "Conv") == {"directml": ["CONVOLUTION"], "openvino": ["Convolution"]}
    for onnx, openvino in written_list().items():
        assert onnx in dialect("onnx").operators
        assert openvino in dialect("openvino").operators
    for texts_by_name in equivalents_by_operator().values():
        assert all(other in dialect(name).operators for name, others in texts_by_name.items() for other in others)


def test_reports_are_read():
    report = read_report((REPORTS / "directml.md").read_text(encoding="utf-8"))
    assert report.command.startswith("specgate conform directml")
    assert "agreement" in report.summary
    assert report.tables[0][0] == ["Implementation", "Version"]
    assert [row[0] for row in operator_agreement("directml", "ONE_HOT")] == ["linux", "windows"]


def test_markdown_becomes_a_page_of_the_site():
    markup = html_of(
        "<!-- tour -->\n## A `b` C\n\n[one](ci.md#x) [two](../../README.md) <b>raw</b>\n\n```bash\nls\n```\n"
    )
    assert '<h2 id="a-b-c">' in markup
    assert 'href="site:/guides/ci.html#x"' in markup
    assert 'href="https://github.com/specgate/specgate/blob/main/README.md"' in markup
    assert "&lt;b&gt;raw" in markup
    assert 'class="command"' in markup
    assert "tour" not in markup


def test_links_of_written_pages_exist_in_the_checkout():
    for path in sorted((ROOT / "docs" / "pages").glob("*.md")):
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text(encoding="utf-8")):
            assert target.startswith("https:") or (path.parent / target).exists(), f"{path.name}: {target}"
