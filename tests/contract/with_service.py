"""Runs a command beside the service, with what the service says of itself as its last argument. The arguments are the service's program
and the command."""

import json
import subprocess
import sys

from service import running

program, *command = sys.argv[1:]
with running(program) as ready:
    sys.exit(subprocess.run([*command, json.dumps(ready)], check=False).returncode)
