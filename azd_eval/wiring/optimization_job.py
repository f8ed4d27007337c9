"""What an optimization is to do, and what it costs at most: from the setup, without any call."""

from dataclasses import asdict, dataclass, replace
from math import ceil

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.ports import Strategy
from azd_eval.domain.task import Task
from azd_eval.errors import InputError
from azd_eval.optimizers.reflect import ReflectStrategy
from azd_eval.providers.meter import TOKENS_PER_PRICE
from azd_eval.wiring.fingerprint import Fingerprint, digest, digest_tasks
from azd_eval.wiring.models import OFFLINE, resolve_endpoint
from azd_eval.wiring.run_files import locate_dataset, read_run_files
from azd_eval.wiring.setup import Setup
from azd_eval.workflows.hold_out import split_tasks
from azd_eval.workflows.optimization_job import OptimizationJob
from azd_eval.workflows.plan_run import CallPlan

# `gepa` asks a child once, and parent and child three tasks more.
_LOOKS_OF_GEPA = 3
_BASELINE_LOOKS = 2
# Tokens of a call where nothing is known yet (azd's own estimate): what goes in, what comes out.
_TOKENS = {"agent": (2000, 400), "judge": (3000, 120), "optimizer": (6000, 2000)}


@dataclass(frozen=True, slots=True)
class OptimizationPlan:
    """The calls of a whole optimization, at most, and what they may cost; None without a price."""

    calls: CallPlan
    learning: int
    held_out: int
    cost: float | None


def make_job(setup: Setup, baseline: Candidate | None = None) -> OptimizationJob:
    """Say what is to be improved; raises `InputError` for what cannot be done.

    `baseline` is where to start in place of the agent's instructions.
    """
    options = setup.config.options
    if options.strategy == "gepa" and options.proposals > 1:
        raise InputError(
            "the strategy `gepa` takes one proposal at a time", hint="leave `proposals` at 1"
        )
    # Before anything is made or paid: its package may be missing.
    build_strategy(options.strategy)
    return OptimizationJob(
        baseline=baseline or setup.agent.baseline,
        tasks=tuple(setup.tasks),
        max_iterations=options.max_iterations,
        rubrics=setup.evaluators.describe(),
        validation=_read_validation(setup),
        hold_out=options.hold_out,
        proposals=options.proposals,
        seed=options.seed or 0,
        stop=setup.stop,
    )


def build_strategy(name: str) -> Strategy:
    """Make the strategy of a name; raises `InputError` when its package is not installed."""
    if name == "reflect":
        return ReflectStrategy()
    try:
        # An extra: its package need not be there.
        from azd_eval.optimizers.gepa import GepaStrategy  # noqa: PLC0415
    except ImportError as error:
        raise InputError(
            "the strategy `gepa` needs its package", hint="pip install 'azd-eval[gepa]'"
        ) from error
    return GepaStrategy()


def note_hold_out(setup: Setup, job: OptimizationJob) -> Setup:
    """Add to the notes what the user wants held out and is not."""
    if not job.validation:
        return setup
    unused = ["`hold_out` is not used: `validation_dataset` names the tasks held out"]
    notes = [] if job.hold_out is None else unused
    if seen := len(job.validation) - len(split_tasks(job).held_out):
        all_of_them = f"{seen} of the {len(job.validation)} tasks of `validation_dataset`"
        notes.append(f"{all_of_them} are tasks of the dataset too, and not held out")
    return replace(setup, notes=(*setup.notes, *notes))


def plan_optimization(setup: Setup, job: OptimizationJob) -> OptimizationPlan:
    """Count the calls, at most; raises `FilesRefused` for tasks that nothing scores."""
    split, policy = split_tasks(job), job.policy
    proposals = job.max_iterations * job.proposals
    looks = _count_looks(setup, job, len(split.learning))
    learning = replace(setup, tasks=split.learning).plan()
    held_out = replace(setup, tasks=split.held_out).plan()
    confirming = 2 * policy.confirm_looks
    calls = CallPlan(
        tasks=learning.tasks + held_out.tasks,
        agent=learning.agent * (looks + confirming) + held_out.agent * confirming,
        judge=learning.judge * (looks + confirming) + held_out.judge * confirming,
        optimizer=0 if setup.optimizer_model == OFFLINE else proposals,
    )
    return OptimizationPlan(calls, learning.tasks, held_out.tasks, _estimate_cost(setup, calls))


def _count_looks(setup: Setup, job: OptimizationJob, tasks: int) -> int:
    """Count the looks at all tasks to learn from, at most: at the baseline and all proposals."""
    if setup.config.options.strategy == "gepa":
        return _BASELINE_LOOKS + job.max_iterations * job.proposals * _LOOKS_OF_GEPA
    known = (1 + job.proposals * iteration for iteration in range(1, job.max_iterations + 1))
    each = (ceil(job.policy.count_trials(candidates) / tasks) for candidates in known)
    return _BASELINE_LOOKS + job.proposals * sum(each)


def take_fingerprint(setup: Setup, job: OptimizationJob) -> Fingerprint:
    """Digest all that decides what an optimization finds, but how long it searches."""
    options, of_run = setup.config.options, setup.take_fingerprint()
    optimizer = resolve_endpoint(
        setup.optimizer_model, setup.config.models, setup.environment
    ).identity
    subject = {
        **of_run.subject,
        "instructions": job.baseline.digest,
        "optimization_model": digest(optimizer),
        "validation_dataset": digest(digest_tasks(job.validation)),
        "policy": digest(asdict(job.policy)),
    }
    for name in ("strategy", "proposals", "hold_out", "repeats", "seed"):
        subject[name] = digest(getattr(options, name))
    return Fingerprint(subject, of_run.judging)


def _read_validation(setup: Setup) -> tuple[Task, ...]:
    reference = setup.config.validation_dataset
    if reference is None:
        return ()
    named = setup.config.model_copy(update={"dataset_file": None, "dataset": reference})
    path = locate_dataset(named, None, setup.layout, built_in=False)
    source, _, _ = read_run_files(setup.config, setup.layout, path)
    return tuple(source)


def _estimate_cost(setup: Setup, calls: CallPlan) -> float | None:
    named = {
        "agent": setup.agent.model,
        "judge": setup.judge_model,
        "optimizer": setup.optimizer_model,
    }
    models = {role: model for role, model in named.items() if model not in (None, OFFLINE)}
    cost = 0.0
    for role, model in models.items():
        config = setup.config.models.get(str(model))
        if config is None or config.price is None:
            return None
        sent, received = _TOKENS[role]
        cost += getattr(calls, role) * (sent * config.price.input + received * config.price.output)
    return cost / TOKENS_PER_PRICE if models else None
