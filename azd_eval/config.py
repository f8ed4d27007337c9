"""The schema of eval.yaml: strict, frozen, with defaults and help text in one place.

Knows nothing of YAML, of paths or of the environment: `formats` reads the file, `wiring` resolves.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

DEFAULT_MAX_TASKS = 15
DEFAULT_ITERATIONS = 10
DEFAULT_CONCURRENCY = 20
DEFAULT_TIMEOUT_S = 120.0
TASK_ADHERENCE = "builtin.task_adherence"

Text = Annotated[str, Field(min_length=1)]
Parameters = dict[str, Any]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AgentConfig(_Strict):
    """The agent under evaluation."""

    name: Text = Field(description="name of the agent; used in file names and reports")
    kind: Literal["model", "python"] | None = Field(
        default=None, description="model: instructions + model; python: your own function"
    )
    version: str | None = Field(default=None, description="kept for azd; shown in reports")
    model: Text | None = Field(
        default=None, description="model of a `model` agent; default: options.eval_model"
    )
    instructions: Text | None = Field(default=None, description="the instructions themselves")
    instructions_file: Text | None = Field(
        default=None, description="file with the instructions; `optimize --apply` writes there"
    )
    config: Text | None = Field(
        default=None,
        description="azd's metadata.yaml, such as .agent_configs/baseline/metadata.yaml",
    )
    parameters: Parameters = Field(
        default_factory=dict, description="sent with every call: temperature, max_tokens, ..."
    )
    callable: Text | None = Field(
        default=None, description="of a `python` agent: module:function or file.py:function"
    )


class DatasetReference(_Strict):
    """azd's later spelling of a dataset."""

    name: str | None = None
    version: str | None = None
    local_uri: Text | None = None


class EvaluatorReference(_Strict):
    """One evaluator: a built-in or generated name, a file, or the user's own."""

    name: Text
    version: str | None = None
    local_uri: Text | None = None
    callable: Text | None = Field(
        default=None, description="your own: module:function or file.py:function"
    )
    prompt_file: Text | None = Field(
        default=None, description="your own: a file with the question that the judge grades, 1..5"
    )
    initialization_parameters: dict[str, Any] = Field(
        default_factory=dict, description="options of the evaluator: threshold, ..."
    )


class Price(_Strict):
    """What a model costs, in any currency, per million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)


class ModelConfig(_Strict):
    """A named endpoint."""

    base_url: Text | None = Field(default=None, description="OpenAI-compatible or Azure endpoint")
    api_key_env: Text | None = Field(
        default=None, description="name of the variable that holds the key; never the key itself"
    )
    api_version: Text | None = Field(default=None, description="Azure OpenAI only")
    deployment: Text | None = Field(
        default=None, description="model or deployment to ask for; default: the name itself"
    )
    parameters: Parameters = Field(default_factory=dict, description="sent with every call")
    max_rpm: int | None = Field(
        default=None, ge=1, description="calls per minute, over all models with this URL and key"
    )
    max_tpm: int | None = Field(
        default=None, ge=1, description="tokens per minute, over all models with this URL and key"
    )
    price: Price | None = Field(default=None, description="per million tokens: {input, output}")


class Options(_Strict):
    """How to measure and how to optimize."""

    eval_model: Text | None = Field(default=None, description="model of the judge")
    optimization_model: Text | None = Field(
        default=None, description="model that revises the instructions; default: eval_model"
    )
    generation_model: Text | None = Field(
        default=None, description="model that drafts datasets; default: eval_model"
    )
    max_iterations: int = Field(
        default=DEFAULT_ITERATIONS, ge=1, le=1000, description="revisions that `optimize` tries"
    )
    strategy: Literal["reflect", "gepa"] = Field(
        default="reflect", description="how `optimize` searches; gepa needs the extra of that name"
    )
    proposals: int = Field(
        default=1, ge=1, le=20, description="revisions asked for at once, in each iteration"
    )
    hold_out: float | None = Field(
        default=None,
        ge=0,
        le=0.8,
        description="share of the tasks that no revision is made for; default: 30 % from 8 on",
    )
    repeats: int = Field(default=1, ge=1, le=100, description="how often each task is asked")
    concurrency: int = Field(
        default=DEFAULT_CONCURRENCY, ge=1, le=1000, description="calls in flight at once"
    )
    timeout_s: float = Field(
        default=DEFAULT_TIMEOUT_S, gt=0, description="limit of one call, retries included"
    )
    fail_under: float | None = Field(
        default=None, ge=0, le=1, description="gate: exit 1 below this score, 0..1"
    )
    max_errors: str | int = Field(
        default=0, description="errors tolerated before exit 3: a number, or a share such as 5%"
    )
    max_calls: int | None = Field(
        default=None, ge=1, description="calls that may be made; cached ones are free"
    )
    max_tokens: int | None = Field(default=None, ge=1, description="tokens that may be used")
    max_cost: float | None = Field(
        default=None, gt=0, description="what may be spent; needs `price` for each model"
    )
    max_time_s: float | None = Field(default=None, gt=0, description="seconds that a run may take")
    judge: Literal["independent", "batched"] = Field(
        default="independent", description="one call per criterion, or all criteria in one call"
    )
    seed: int | None = Field(
        default=None, description="of the search, and of models that take one; another asks anew"
    )


class EvalConfig(_Strict):
    """One eval.yaml, shared by `eval run` and `optimize`."""

    name: str | None = Field(default=None, description="name of the suite; default: the agent's")
    agent: AgentConfig
    dataset_file: Text | None = Field(default=None, description="tasks, as JSONL, JSON or CSV")
    dataset: DatasetReference | None = Field(default=None, description="azd's later spelling")
    validation_dataset: DatasetReference | None = Field(
        default=None, description="tasks to hold out from `optimize`, a path or azd's map"
    )
    evaluators: tuple[EvaluatorReference, ...] = Field(
        default=(EvaluatorReference(name=TASK_ADHERENCE),),
        description="built-in names, generated names, or maps with local_uri",
    )
    models: dict[str, ModelConfig] = Field(default_factory=dict, description="named endpoints")
    options: Options = Field(default_factory=Options)
