"""Download one file of a source."""

from pathlib import Path

from outagefl.scripting import logged
from outagefl.sources.download import fetch

with logged(snakemake.log[0]):
    source = snakemake.params.source
    fetch(
        source["urls"],
        Path(snakemake.output[0]),
        bytes=source["bytes"],
        checksum=source["checksum"],
        offline=snakemake.params.offline,
    )
