"""README's story, by the client for TypeScript. The arguments are the service's program and the compiled client."""

import json
import subprocess
import sys

from service import running

program, client = sys.argv[1:]
with running(program) as ready:
    sys.exit(subprocess.run(["node", client, json.dumps(ready)], check=False).returncode)
