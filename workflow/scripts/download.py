"""Download one file of a source."""

from pathlib import Path

from outagefl.scripting import logged
from outagefl.sources.download import fetch

with logged(snakemake.log[0]):
    file = snakemake.params.file
    fetch(
        file["urls"],
        Path(snakemake.output[0]),
        bytes=file.get("bytes"),
        bytes_at_most=file.get("bytes_at_most"),
        checksum=file["checksum"],
        offline=snakemake.params.offline,
    )
