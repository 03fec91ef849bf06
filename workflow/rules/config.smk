# The main configuration is read like all other files of config/, before Snakemake reads it: Snakemake lets the later of two
# equal keys win, and does not say in which line a mistake is. Needs the files given to Snakemake; makes nothing.
from outagefl.config import read_yaml
from outagefl.errors import OutageflError

try:
    for file in map(Path, [*workflow.configfiles, "config/config.yaml"]):
        if file.exists():
            read_yaml(file)
except OutageflError as error:
    sys.exit(f"outagefl: {error}")
