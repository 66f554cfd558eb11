"""How much the tests of engines count: the short form unless the environment says otherwise."""

import os

PARTITIONS = int(os.environ.get("PICOLLO_ENGINES_PARTITIONS", "20"))
NUMBER = int(os.environ.get("PICOLLO_ENGINES_VALUES", "1000000")) // PARTITIONS
FILES = int(os.environ.get("PICOLLO_ENGINES_FILES", "300"))
