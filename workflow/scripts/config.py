"""Save the resolved configuration."""

import yaml

from outagefl.files import replacing
from outagefl.scripting import recorded

with recorded(snakemake), replacing(snakemake.output[0]) as new:
    text = yaml.safe_dump(snakemake.params.settings, sort_keys=False, allow_unicode=True)
    new.write_text(text, encoding="utf-8")
