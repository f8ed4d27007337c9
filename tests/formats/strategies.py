"""Tasks of every kind that a dataset may hold, for properties."""

from hypothesis import strategies as st

from azd_eval.domain.criterion import Check, Criterion
from azd_eval.domain.task import Reply, Task, Turn

texts = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("\u2028\u2029\x85\r\n\v\"\\'{}"),
    min_size=1,
    max_size=30,
).filter(str.strip)
checks = st.one_of(
    st.builds(
        Check,
        st.sampled_from(["contains", "not_contains", "regex", "not_regex", "equals"]),
        texts,
    ),
    st.builds(
        Check,
        st.sampled_from(["contains_any", "contains_all", "not_contains"]),
        st.lists(texts, min_size=1, max_size=3).map(tuple),
    ),
    st.builds(Check, st.sampled_from(["min_words", "max_words"]), st.integers(1, 10**6)),
    st.builds(Check, st.just("is_json"), st.booleans()),
)
criteria = st.lists(
    st.builds(
        Criterion,
        texts,
        texts,
        weight=st.floats(1e-3, 1e6),
        must=st.booleans(),
        check=st.none() | checks,
    ),
    max_size=3,
    unique_by=lambda criterion: criterion.name,
).map(tuple)
metadata = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.lists(texts, max_size=2)
    | texts,
    max_size=3,
)
options = {
    "Relevance": st.fixed_dictionaries({}, optional={"threshold": st.floats(1, 5)}),
    "Citations": st.fixed_dictionaries({"citation_format": st.sampled_from(["mixed", "bracket"])}),
    "RetrievalQuery": st.fixed_dictionaries({"capability": texts, "selector": texts}),
}
evaluators = st.fixed_dictionaries({}, optional=options)
carried = st.dictionaries(st.sampled_from(["notes", "x-own"]), texts, max_size=2)
evidence = st.fixed_dictionaries(
    {},
    optional={
        "citations": st.lists(
            st.fixed_dictionaries({"index": st.integers(1, 9), "text": texts}), max_size=2
        ),
        "diagnostics": st.fixed_dictionaries(
            {}, optional={"retrieval_executions": st.just([{"capability": None, "own": 1}])}
        ),
    },
)
turns = st.builds(
    Turn,
    texts,
    criteria,
    st.none() | texts,
    st.none() | texts,
    evaluators,
    st.sampled_from([None, "extend", "replace"]),
    st.none() | st.builds(Reply, st.just("") | texts, evidence=evidence),
    carried,
)
tasks = st.builds(
    Task,
    texts,
    st.lists(turns, min_size=1, max_size=3).map(tuple),
    category=st.none() | texts,
    context=st.none() | texts,
    metadata=metadata,
    test_id=st.none() | texts,
    carried=carried,
)
datasets = st.lists(tasks, min_size=1, max_size=3, unique_by=lambda task: task.name)
