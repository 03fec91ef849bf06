# Where the library is: in the folder of this file or, where the workflow is a module that Snakemake takes file by file from
# a Git host, in an installed package, which has all of workflow/. Makes nothing.
import os
import sys
from importlib.util import find_spec
from pathlib import Path

WORKFLOW = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parent

if not WORKFLOW.is_dir():
    how = 'install the one of the version of the workflow (README, "Use it from your own workflow")'
    if not (installed := find_spec("outagefl")):
        sys.exit(f"outagefl: the Python package outagefl is not installed; {how}")
    WORKFLOW = Path(installed.origin).parents[1]
    for file in (*WORKFLOW.glob("rules/*.smk"), *WORKFLOW.glob("scripts/*.py")):
        hosted = Path(workflow.source_path(f"../{file.relative_to(WORKFLOW)}"))
        if hosted.read_text(encoding="utf-8").strip() != file.read_text(encoding="utf-8").strip():
            sys.exit(f"outagefl: {file} differs from the workflow's; {how}")

sys.path.insert(0, str(WORKFLOW))
# For the scripts, here and in remote jobs, which read this file too.
os.environ.update(
    PYTHONPATH=os.pathsep.join([str(WORKFLOW), *filter(None, [os.environ.get("PYTHONPATH")])])
)
