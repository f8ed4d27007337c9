"""Every suite that the vendor gives away, run end to end as it is."""

import json

import pytest

import azd_eval
from azd_eval.evaluator_options import OPTIONS
from azd_eval.formats.document_outcomes import read_outcomes
from azd_eval.formats.document_schema import find_schema_faults
from azd_eval.formats.result_csv import write_result_csv
from tests.cli.shell import connect
from tests.documents import VENDOR, document_world

FOLDERS = ("repo/samples", "repo/schema/v1/examples/valid", "index", "docs")
# An empty identifier of a tool, which no version takes, and an evaluator without its capability.
REFUSED = ("allowed-tools-empty-identifier", "evaluators-06")


def find_suites():
    """Find whatever is a document; some examples of the vendor's pages are single items."""
    for path in (path for folder in FOLDERS for path in sorted((VENDOR / folder).glob("*.json"))):
        tree = json.loads(path.read_text(encoding="utf-8"))
        is_document = isinstance(tree, list) or {"items", "prompts"} & tree.keys()
        if is_document and path.stem not in REFUSED:
            yield path


SUITES = list(find_suites())


@pytest.fixture
def project(tmp_path, monkeypatch, fake_openai):
    """Give a server that plays agent and judge, for the project of the working folder."""
    server = fake_openai(document_world("The plan is yours [1]."))
    for name, value in connect(server).items():
        monkeypatch.setenv(name, value)
    (tmp_path / "checks.py").write_text("def check(response):\n    return 5\n")
    return server


def name_own_evaluators(document):
    """Name the evaluators that a document uses and nobody has built in."""
    found = set()
    items = document.get("items", []) if isinstance(document, dict) else []
    for part in [document, *items, *(turn for item in items for turn in item.get("turns", []))]:
        if isinstance(part, dict):
            found |= {*part.get("evaluators", {}), *part.get("default_evaluators", {})}
    return sorted(found - OPTIONS.keys())


@pytest.mark.skipif(not VENDOR.is_dir(), reason="the vendor's samples are not here")
@pytest.mark.parametrize("suite", SUITES, ids=lambda path: path.stem)
def test_a_suite_of_the_vendor_runs_as_it_is(tmp_path, project, suite):
    text = suite.read_text(encoding="utf-8")
    own = name_own_evaluators(json.loads(text))
    listed = [f"  - {{name: {name}, callable: 'checks.py:check'}}\n" for name in own]
    evaluators = f"evaluators:\n{''.join(listed)}" if own else ""
    agent = "agent: {name: a, model: m}\noptions: {eval_model: m}\n"
    (tmp_path / "eval.yaml").write_text(agent + evaluators)

    (result,) = azd_eval.run_documents(suite)

    assert [] == [str(fault) for fault in find_schema_faults(result.document)]
    assert text == suite.read_text(encoding="utf-8")
    outcomes = read_outcomes(result.path)
    assert result.summary.items.total == len(outcomes)
    assert {"pass", "fail", "partial"} >= {outcome.status for outcome in outcomes}
    assert write_result_csv(result.document)
    summary = result.path.with_name(f"{result.path.stem}.summary.json")
    assert json.loads(json.dumps(result.summary.as_dict())) == json.loads(summary.read_text())
