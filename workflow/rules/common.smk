# Shared by all rules: the resolved configuration, the plan made from it, and what of the plan is still missing.
# Needs config/*; makes nothing. A mistake in the configuration ends here, in one line, before there is a DAG.
import atexit
import time
from functools import cache

from outagefl import config as configuration, plugins
from outagefl.describe.notes import title
from outagefl.errors import ConfigError, OutageflError
from outagefl.fingerprint import used
from outagefl.runs import claims, jobs
from outagefl.runs.left_behind import in_doubt
from outagefl.runs.plan import drawn_from, everything_behind, make_plan, to_describe
from outagefl.runs.theory import declared_checks
from outagefl.sources.catalog import sources, without_paths
from outagefl.workspace import claim_workspace, require_folders

RESULTS = Path("results")

try:
    SETTINGS = configuration.load(config, Path("config"))
    plugins.use(SETTINGS.get("plugins", []))
    SOURCES = sources(Path("config/sources.yaml"), SETTINGS.get("local", {}))
    PLAN = make_plan(SETTINGS, SOURCES)
    THEORY = declared_checks(SETTINGS)
    require_folders(RESULTS)
    CLAIMS = claims.declared_claims(SETTINGS, Path("config"))
    if workflow.is_main_process and SETTINGS.get("offline", False):
        jobs.require_sources(PLAN, RESULTS)
except OutageflError as error:
    sys.exit(f"outagefl: {error}")

SCALE = SETTINGS["scale"]

IN_DOUBT = in_doubt(PLAN, RESULTS) if workflow.is_main_process else set()

# Only the main process decides what to train; a remote job reads the decision from its job file.
if workflow.is_main_process:
    for source in SETTINGS["without"]:
        print(
            f"outagefl: note: {source} has no local path, and offline is true or other downloads have one; "
            f"what takes its place is in config/scales/{SCALE}.yaml, `without`",
            file=sys.stderr,
        )
    JOBS = jobs.plan_jobs(PLAN, RESULTS, SCALE, SETTINGS["runs_per_job"])
else:
    JOBS = jobs.Jobs({}, {}, [], [])


def workspace(wildcards):
    """An input that is no file: the results folder, for this workflow alone. Every rule has it that runs something.

    Asked for when there is a DAG, in a module of another workflow, too, whose ``onstart`` would not be called.
    """
    if workflow.is_main_process and workflow.executor_plugin and not workflow.dryrun:
        open_workspace()
    return []


@cache
def open_workspace():
    claim_workspace(RESULTS)
    os.environ.update(OUTAGEFL_LATENCY_WAIT=str(workflow.execution_settings.latency_wait))
    jobs.write_jobs(PLAN, JOBS, RESULTS)
    # Absolute, since Snakemake leaves --directory before it ends.
    atexit.register(jobs.forget_jobs, PLAN, RESULTS.absolute())


def one_of(names):
    """A wildcard constraint that matches these names only, or nothing."""
    return "|".join(map(str, names)) or "(?!)"


def code(script, *modules):
    """The code of a script and of modules it loads by name: a job runs again when it changes."""
    return used(modules, [script])


def made_from(what, name):
    """What an input is made from, by name: other inputs, or the ``source`` if there is one that is not bundled.

    Raises ConfigError for an input that nothing asks for.
    """
    path = f"inputs/{what}/{name}"
    if path not in PLAN.inputs:
        raise ConfigError(f"results/{path}: scale {SCALE} has no run with this input")
    made = PLAN.inputs[path]
    files = [str(path) for path in SOURCES[made.source].paths] if made.source else []
    source = {"source": list(map(lasting, files))} if files else {}
    return {name: lasting(f"results/{need}") for name, need in made.needs.items()} | source


def lasting(path):
    """A file whose time of change means nothing, but for those in doubt (``runs/left_behind.py``)."""
    return path if path in IN_DOUBT else ancient(path)


def promises(what, name):
    """Size and checksum of every downloaded file that an input is made from."""
    source = PLAN.inputs[f"inputs/{what}/{name}"].source
    return SOURCES[source].promises if source else {}


def source_of(path):
    """The catalog's entry for the source behind a data set, a trace or a partition of one, with the title it has here."""
    made = PLAN.inputs[path]
    if not made.source:
        return source_of(made.needs["dataset"])
    source = SOURCES[made.source]
    return {**source.entry, "title": title(source)}


def inputs_of(job):
    """What the runs of a job need: planned here, or read from the job's file in a remote job."""
    planned = JOBS.runs.get(job)
    runs = map(PLAN.runs.get, planned) if planned else jobs.read_job(RESULTS, job).values()
    return sorted({f"results/{path}" for run in runs for path in run.inputs.values()})
