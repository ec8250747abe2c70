"""Short forms of the rule language: meaning, hygiene, and errors."""

from __future__ import annotations

import pytest

from specgate.rules.shorthand import Shortener, Shorthand, ShorthandError, formula_of

OPTIONAL = {"strides", "pads", "Z"}
DEFINES = {
    "stride(i)": "default(strides[i], 1)",
    "window(i)": "kernel[i] * stride(i)",
    "last(t)": "t.sizes[-1]",
    "fits(t, n)": "all(t.sizes[d] <= n for d in dims(t))",
    "scaled(n)": "n * factor",
    "both(n)": "kernel[0] > n and kernel[1] > n",
}


def shorthand(**more: str) -> Shorthand:
    formulas = [formula_of(key, text) for key, text in (DEFINES | more).items()]
    return Shorthand({m.name: m for m in formulas if m}, OPTIONAL, {"X", "kernel", "factor", *OPTIONAL})


WRITTEN_OUT = {
    "stride(0)": "strides[0] if present(strides) else 1",
    "all(window(i + 1) > 2 for i in range(3))": (
        "all(kernel[i + 1] * (strides[i + 1] if present(strides) else 1) > 2 for i in range(3))"
    ),
    "last(X) == last(Z[0])": "X.sizes[rank(X) - 1] == Z[0].sizes[rank(Z[0]) - 1]",
    "X.sizes[-1 - d]": "X.sizes[rank(X) - 1 - d]",
    "pads[-2]": "pads[len(pads) - 2]",
    "values(X)[-1]": "values(X)[len(values(X)) - 1]",
    "X.strides[-1]": "X.strides[len(X.strides) - 1]",
    "default(Z.sizes[0] + X.sizes[-1], X.sizes[0])": (
        "Z.sizes[0] + X.sizes[rank(X) - 1] if present(Z) else X.sizes[0]"
    ),
    "default(pads[default(strides[0], 0)], 1) if False else 2": None,
    "count_present(strides, pads, Z) == 1": (
        "(1 if present(strides) else 0) + (1 if present(pads) else 0) + (1 if present(Z) else 0) == 1"
    ),
    "last(X) > 1 and both(2) and (i > 1 or (i > 2 or both(3)))": (
        "X.sizes[rank(X) - 1] > 1 and kernel[0] > 2 and kernel[1] > 2 and (i > 1 or i > 2 or (kernel[0] > 3 and kernel[1] > 3))"
    ),
    "scaled(1 + 2)": "(1 + 2) * factor",
    "X.sizes[0 - 1]": "X.sizes[0 - 1]",
    "X . sizes[i]": "X . sizes[i]",
}


@pytest.mark.parametrize(("text", "plain"), WRITTEN_OUT.items(), ids=WRITTEN_OUT)
def test_short_forms_expand(text: str, plain: str | None) -> None:
    if plain is None:
        with pytest.raises(ShorthandError, match="to read one optional field, found pads, strides"):
            shorthand().written_out(text)
    else:
        assert shorthand().written_out(text) == plain


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("same_type(X, W, V)", ["type(X) == type(W) == type(V)"]),
        ("same_type(X, Z, W)", ["type(X) == type(W)", "type(Z) == type(X)"]),
        ("same_type(Z, pads, X)", ["type(Z) == type(X)", "type(pads) == type(Z)"]),
        ("same_type(X, Z)", ["type(Z) == type(X)"]),
        ("same_type(X)", ["same_type(X)"]),
        ("rank(X) == 1", ["rank(X) == 1"]),
    ],
)
def test_same_type_is_a_list_of_conditions(text: str, conditions: list[str]) -> None:
    assert shorthand().conditions(text) == conditions


def test_a_loop_of_a_define_captures_no_name_of_an_argument() -> None:
    assert shorthand().written_out("all(fits(X, d) for d in dims(X))") == (
        "all(all(X.sizes[d_] <= d for d_ in dims(X)) for d in dims(X))"
    )


def test_a_loop_around_a_call_captures_no_name_of_the_define() -> None:
    with pytest.raises(ShorthandError, match="the loop variable 'factor' hides a name that scaled reads"):
        shorthand().written_out("all(scaled(1) > 0 for factor in dims(X))")


MISTAKES = {
    "window(1, 2)": r"window takes 1 argument\(s\), found 2",
    "window + 1": r"window needs its arguments: window\(i\)",
    "count_present(strides, X)": r"expected optional fields in count_present\(strides, X\)",
    "default(strides[0])": r"default takes 2 argument\(s\)",
    "default(X.sizes[0], 1)": r"expected default\(X.sizes\[0\], …\) to read one optional field, found none",
}


@pytest.mark.parametrize(("text", "message"), MISTAKES.items(), ids=MISTAKES)
def test_mistakes_in_use(text: str, message: str) -> None:
    with pytest.raises(ShorthandError, match=message):
        shorthand().written_out(text)


BAD_DEFINES = {
    "one(i)": ("two(i)", "a define must not reference itself: one uses two uses one"),
    "rank(i)": ("i + 1", "the name 'rank' is already the name of a function"),
    "X(i)": ("i + 1", "the name 'X' is already the name of a field, a limit, a type or another define"),
    "f(kernel)": ("kernel[0]", "the name 'kernel' is already the name of a field, a limit, a type or another define"),
    "f(window)": ("window + 1", "the name 'window' is already the name of a field, a limit, a type or another define"),
    "f(i, i)": ("i", "expected parameters of different names"),
    "f(i, n)": ("i", "the parameter 'n' is not used"),
    "f(i)": ("i +", "expected one expression, found 'i +'"),
    "g(i)": ("all(i > 0 for i in kernel)", "expected a loop variable that is not a parameter"),
}


@pytest.mark.parametrize(("key", "body", "message"), [(k, *v) for k, v in BAD_DEFINES.items()], ids=BAD_DEFINES)
def test_invalid_defines_are_rejected(key: str, body: str, message: str) -> None:
    result = dict(shorthand(**{key: body, "two(i)": "one(i)" if key == "one(i)" else "i"}).check())
    assert result[key.partition("(")[0]] == message


def test_defines_of_defines_do_not_grow_without_bound() -> None:
    more = {f"f{n}(i)": f"f{n - 1}(i) + f{n - 1}(i)" for n in range(1, 30)}
    texts_by_name = dict(shorthand(**{"f0(i)": "i + i", **more}).check())
    assert texts_by_name["f29"] == "expected at most 400 parts, with every define expanded"
    assert "f3" not in texts_by_name


@pytest.mark.parametrize("text", ["default(", "[-" * 900, "-" * 1900 + "strides[-1]"])
def test_invalid_expressions_are_left_to_the_parser(text: str) -> None:
    try:
        assert shorthand().written_out(text) == text
    except ShorthandError as error:
        assert str(error) == "the expression is nested too deeply"


@pytest.mark.parametrize(
    ("long", "short"),
    [
        ("X.sizes[rank(X) - 1] == 2", "X.sizes[-1] == 2"),
        ("X.sizes[rank(X) - 1 - d]", "X.sizes[-1 - d]"),
        ("pads[len(pads) - 2]", "pads[-2]"),
        ("strides[i] if present(strides) else 1", "default(strides[i], 1)"),
        ("X.sizes[rank(Z) - 1]", None),
        ("1 if present(Z) else 0", None),
        ("pads[strides[0]] if present(pads) else 0", None),
        ("X.sizes[i + rank(X) - 1]", None),
    ],
)
def test_shortener_detects_short_forms(long: str, short: str | None) -> None:
    shortener = Shortener(OPTIONAL)
    result = shortener.shorten_text(long)
    assert result == (short or long)
    assert bool(shortener.replacements) == (short is not None)
    assert shorthand().written_out(result) == long
