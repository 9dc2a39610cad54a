"""The commands of the operator's handbook, executed in order in one shell against the deployed stack."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import boto3
from stack import ENDPOINT, STACK, TEMPLATE
from story import done

# In the order in which an operator needs them; the last one erases a company.
PAGES = ["OPERATIONS", "ALARMS", "PRODUCTION", "SUPPORT", "SECRETS", "PIPELINE", "AWS_CHECKLIST", "RESTORING", "LIMITS", "PRIVACY"]
# The first line of a block that has never been executed, with the reason.
UNTRIED = re.compile(r"# AWS only: .+\.$")
# Languages of blocks that are no commands.
OTHERS = {"text", "js", "python", "json"}

# The parameters that SAM asks for first.
ASKED_FIRST = ["MailSender", "AlarmEmail", "AllowedOrigins", "ReserveConcurrency", "Canary"]

# Stand-ins between the handbook's shell and the emulator.
SESSION = r"""
set -o errexit -o pipefail
cd "$FOLDER"
# Version 1 of the AWS CLI takes payloads as they are, and leads sqs to AWS whatever the environment says.
aws() {
    local given=()
    while [ $# -gt 0 ]; do
        if [ "$1" = --cli-binary-format ]; then shift; else given+=("$1"); fi
        shift
    done
    "$TOOLS/aws" --endpoint-url "$AWS_ENDPOINT_URL" "${given[@]}"
}
# The gateway is found by the first label of the host.
curl() {
    local given=() argument
    for argument in "$@"; do
        if [[ $argument =~ ^https://([a-z0-9]+)\.execute-api\.[^/]*(/.*)$ ]]; then
            given+=(-H "Host: ${BASH_REMATCH[1]}.execute-api.localhost" "$AWS_ENDPOINT_URL${BASH_REMATCH[2]}")
        else
            given+=("$argument")
        fi
    done
    command curl "${given[@]}"
}
# The emulator runs what localstack/package has made for this computer.
.ci/build() { test -f "$TEMPLATE"; }
.ci/deploy/run() { command .ci/deploy/run "$@" --template "$TEMPLATE"; }
# Proposed, not executed: a stack takes minutes, and `--create dev` makes one. SAM's answers are the defaults, but for the sender.
sam() {
    local given=(--template-file "$TEMPLATE" --no-execute-changeset --no-progressbar)
    if [ "$2" = --guided ]; then
        { printf '\n\ninterviews@acme.example\n'; printf '\n%.0s' {1..60}; } >answers
        command "$PROGRAMS/sam" "$@" "${given[@]}" --s3-bucket deployments <answers >said 2>&1 || { tail -n 20 said; return 1; }
        grep --only-matching 'Parameter [A-Za-z]*' said | head -n 5 | xargs
    else
        command "$PROGRAMS/sam" "$@" "${given[@]}"
    fi
}
C=01J00000000000000000000000 LINK=$C T=$C U=$C
"""

# The stack of `dev` is there for its six commands alone.
DEV_ENDS = r"""
aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name interviews-dev
aws cloudformation delete-stack --stack-name interviews-dev
"""


def blocks():
    """Place and lines of each block of commands. Fails if a block has no language, because no one would know what it is."""
    for page in PAGES:
        path = pathlib.Path("functions", f"{page}.md")
        lines = iter(enumerate(path.read_text(encoding="utf-8").splitlines(), 1))
        for number, line in lines:
            if not line.lstrip().startswith("```"):
                continue
            indent, language = len(line) - len(line.lstrip()), line.strip("` ")
            inside = []
            for _, within in lines:
                if within.strip() == "```":
                    break
                inside.append(within[indent:])
            assert language == "sh" or language in OTHERS, f"{path}:{number}: neither commands nor {', '.join(sorted(OTHERS))}"
            if language == "sh":
                yield f"{path}:{number}", inside


def settings():
    """The settings of the handbook's environments for the emulator: `prod` is the deployed stack, and `dev` becomes another one."""
    text = pathlib.Path(".samconfig.toml").read_text(encoding="utf-8")
    before, prod = text.split("[prod.account]")
    local = prod.partition("# For localstack/deploy-to-ministack.")[2]
    # In the emulator, /x/{proxy+} does not take /x/.
    before = before.replace('    "Canary=false",\n', '    "Canary=false",\n    "SlashRoutes=true",\n', 1)
    return before + local.replace("[local.", "[prod.")


def for_emulator(script):
    """A block with the names of the deployed stack, and the value of SecretStage that is not deployed."""
    (stack,) = boto3.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"]
    deployed = {one["ParameterKey"]: one["ParameterValue"] for one in stack["Parameters"]}
    if deployed["SecretStage"]:
        script = script.replace("SecretStage=AWSCURRENT ", "SecretStage= ")
    # The emulator has no type for the OIDC provider.
    provider = "arn:aws:iam::000000000000:oidc-provider/token.actions.githubusercontent.com"
    script = script.replace("Repository=OWNER/NAME", f"Repository=OWNER/NAME GitHubProviderArn={provider}")
    return script.replace("STACK=interviews-prod", f"STACK={STACK}")


def handbook_is_executed():
    tried, untried = [], []
    for place, lines in blocks():
        (untried if UNTRIED.match(lines[0]) else tried).append((place, "\n".join(lines)))
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(".ci", f"{folder}/.ci")
        shutil.copy("template.yaml", folder)
        pathlib.Path(folder, ".samconfig.toml").write_text(settings(), encoding="utf-8")
        pathlib.Path(folder, "target").symlink_to(pathlib.Path("target").resolve())
        said = executed(folder, tried)
    asked = " ".join(f"Parameter {name}" for name in ASKED_FIRST)
    assert asked in said, f"SAM does not ask for {asked}"
    for place, script in untried:
        print(f"    {place}: {script.splitlines()[0].removeprefix('# ')}", flush=True)
    done(f"{len(tried)} blocks of commands of the handbook are executed; {len(untried)} are AWS only and have never been")


def executed(folder, scripts):
    session = [SESSION]
    for place, script in scripts:
        # The dev stack is used by the sections before the shell that is pasted.
        shell = "\n".join(lines for at, lines in scripts if lines.startswith("STACK=")) if script.startswith("operate ") else ""
        if place.startswith("functions/OPERATIONS.md") and shell:
            session.append(shell.replace("interviews-prod", "interviews-dev"))
        session += [f"echo '==> {place}'", for_emulator(script)]
        if place.startswith("functions/OPERATIONS.md") and "api-token-auth" in script:
            session.append(DEV_ENDS)
    tools, programs = pathlib.Path("target/python-ministack/bin"), pathlib.Path("target/python-tools/bin")
    variables = {"FOLDER": folder, "TOOLS": tools.resolve(), "PROGRAMS": programs.resolve(), "TEMPLATE": TEMPLATE.resolve()}
    environment = os.environ | {name: str(value) for name, value in variables.items()}
    environment |= {"AWS_ENDPOINT_URL": ENDPOINT, "SAM_CLI_TELEMETRY": "0"}
    path = pathlib.Path(folder, "session.sh")
    path.write_text("\n".join(session), encoding="utf-8")
    ended = subprocess.run(["bash", path], check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    assert ended.returncode == 0, ended.stdout[-6000:]
    return ended.stdout
