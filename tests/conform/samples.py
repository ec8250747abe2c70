"""A small campaign with every kind of result, and strategies of hostile ones."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from specgate.conform.result import KINDS, Difference, Result, RuleCount, Tally, ValueTally

__all__ = ["EMPTY", "HOSTILE", "descriptor", "results", "sample"]

HOSTILE = (
    "\x1b[2J",
    "\x1b]0;title\x07",
    "::error ::x",
    "##[error]x",
    "\n",
    "\r\n| a | b |\n",
    "\u202e",
    "\ud800",
    "</script><script>alert(1)</script>",
    "</details>",
    "<!--",
    "]]>",
    "<img src=x onerror=alert(1)>",
    "&lt;",
    "&#124;",
    "|",
    "\\|",
    "`",
    "```",
    "``` `",
    "*a* _b_ ~~c~~",
    "[x](javascript:1)",
    "https://example.org/?a=1",
    "www.example.org",
    ":smile: @someone #12",
    "$x$",
    "- x",
    "1. x",
    "# x",
    '" onclick="x',
    "'",
    "\x00",
    "  ",
    "\u00a0",
    "{0} %s",
)


def descriptor() -> dict[str, object]:
    """Return a DirectML descriptor of some length."""
    tensor = {"DataType": "INT32", "Sizes": [1, 1, 3, 1], "Strides": [3, 3, 1, 1], "TotalTensorSizeInBytes": 12}
    values = {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 2]}
    output = {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 2]}
    desc = {"IndicesTensor": tensor, "ValuesTensor": values, "OutputTensor": output, "Axis": 4}
    return {"type": "DML_OPERATOR_ONE_HOT", "desc": desc}


def sample() -> Result:
    """Return a campaign with every kind of difference, values and skipped cases.

    Two operators, three levels.
    """
    levels = ("2.1", "3.0", "10.0")
    tallies = [
        Tally(
            operator,
            level,
            "DirectML",
            100_000,
            61_200,
            documented,
            observed,
            {"accepted": 61_200, "rejected": 38_799, "crashed": 1},
        )
        for operator, documented, observed in (("ROUND", 100_000, 100_000), ("ONE_HOT", 91_250, 99_997))
        for level in reversed(levels)
    ]
    axis = Difference(
        operator="ONE_HOT",
        level="2.1, 3.0",
        implementation="DirectML",
        kind="unexplained",
        findings=("directml/ONE_HOT/axis-range", "directml/ONE_HOT/IndicesTensor.type"),
        theirs="accepted",
        detail="created | <b>bold</b>\x1b[31m",
        count=9,
        descriptor=descriptor(),
        command='specgate check \'{"type": "DML_OPERATOR_ONE_HOT"}\' --target directml:2.1',
    )
    recorded = replace(axis, kind="recorded", findings=("directml/tensor/strides",), count=26_000, detail="")
    crash = replace(axis, kind="bug", level="10.0", findings=(), theirs="crashed", count=1, detail="signal 11")
    values = replace(crash, kind="unexplained", theirs="differs", detail="OutputTensor[3]: 1.5, ours 1.0", count=2)
    return Result(
        dialect="directml",
        command="specgate conform directml --cases 100000 --seed 20240601 --values",
        seed=20_240_601,
        cases=600_000,
        seconds=312.44,
        capped=True,
        versions={"DirectML 2.1, 3.0": "1.15.3.dev200619", "DirectML 10.0": "1.16.3"},
        tallies=tuple(tallies),
        differences=(recorded, crash, axis),
        rules=(
            RuleCount("ONE_HOT", "10.0", "directml/ONE_HOT/two-values", 900, 0, 0),
            RuleCount("ONE_HOT", "2.1", "directml/ONE_HOT/two-values", 900, 0, 0),
            RuleCount("ONE_HOT", "3.0", "directml/ONE_HOT/two-values", 900, 20, 0),
            RuleCount("ONE_HOT", "2.1", "directml/ONE_HOT/same-rank", 900, 7, 7),
        ),
        values=(
            ValueTally("ROUND", "3.0", "DirectML", 50, 50, {"no kernel: device removed": 3}),
            ValueTally("ONE_HOT", "10.0", "DirectML", 50, 48, {}, (values,)),
        ),
        skipped=("directml:1.0: no build is installed", "directml:6.4: no build | of this `system`"),
    )


EMPTY = Result("onnx", "specgate conform onnx", 0, 0, 0.0, False, {}, (), (), ())

texts = st.one_of(
    st.text(st.characters(), max_size=30),
    st.lists(st.sampled_from(HOSTILE) | st.text(max_size=5), max_size=6).map("".join),
)
counts = st.integers(0, 10**7)
words = st.dictionaries(texts, counts, max_size=3)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
differences = st.builds(
    Difference,
    operator=texts,
    level=texts,
    implementation=texts,
    kind=st.sampled_from(list(KINDS)),
    findings=st.lists(texts, max_size=3).map(tuple),
    theirs=texts,
    detail=texts,
    count=counts,
    descriptor=st.dictionaries(texts, values, max_size=3),
    command=texts,
)
results = st.builds(
    Result,
    dialect=texts,
    command=texts,
    seed=st.integers(-(10**20), 10**20),
    cases=counts,
    seconds=st.floats(0, 10**6),
    capped=st.booleans(),
    versions=st.dictionaries(texts, texts, max_size=3),
    tallies=st.lists(st.builds(Tally, texts, texts, texts, counts, counts, counts, counts, words), max_size=4).map(
        tuple
    ),
    differences=st.lists(differences, max_size=3).map(tuple),
    rules=st.lists(st.builds(RuleCount, texts, texts, texts, counts, counts, counts), max_size=3).map(tuple),
    values=st.lists(
        st.builds(ValueTally, texts, texts, texts, counts, counts, words, st.lists(differences, max_size=1).map(tuple)),
        max_size=2,
    ).map(tuple),
    skipped=st.lists(texts, max_size=3).map(tuple),
)
