"""Releases of a deployed stack: an update, one that fails, and some that are refused."""

import json
import pathlib
import subprocess
import sys

import boto3
import botocore.exceptions
from stack import STACK, TEMPLATE, physical_ids
from story import done


def deploy(*arguments, changed=None):
    """Exit status and output of .ci/deploy/run, with a change of the template."""
    template = json.loads(TEMPLATE.read_text(encoding="utf-8"))
    if changed:
        changed(template["Resources"])
    altered = TEMPLATE.with_name("altered.json")
    altered.write_text(json.dumps(template), encoding="utf-8")
    command = [".ci/deploy/run", "local", "--template", altered, *arguments]
    run = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return run.returncode, run.stdout


def stack_status():
    return boto3.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"][0]["StackStatus"]


def live_setting(name):
    """A setting of the version of a function that requests reach."""
    function = physical_ids()["AuthFunction"]
    live = boto3.client("lambda").get_function_configuration(FunctionName=function, Qualifier="live")
    return live["Environment"]["Variables"][name]


def update_replaces_nothing(owner, candidate):
    before, release = physical_ids(), live_setting("RELEASE")
    update = ["localstack/deploy-to-ministack", "--update", "SessionIdleMinutes=60"]
    updated = subprocess.run(update, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert (updated.returncode, stack_status()) == (0, "UPDATE_COMPLETE"), updated.stdout
    assert "ok  the probe passes" in updated.stdout, updated.stdout
    after = physical_ids()
    assert after == before, {name: (before.get(name), after.get(name)) for name in before | after}
    assert live_setting("SESSION_IDLE_MINUTES") == "60" and live_setting("RELEASE") != release
    assert owner.get(candidate)["status"] == "interviewed"
    done(f"an update changes a setting, replaces none of {len(after)} resources and loses no data; the probe passes")


def failing_release_rolls_back(owner, candidate):
    def publishes_twice(resources):
        version = {"FunctionName": {"Ref": "AuthFunction"}}
        resources["Again"] = {"Type": "AWS::Lambda::Version", "DependsOn": "AuthFunctionAliaslive", "Properties": version}

    before, release = physical_ids(), live_setting("RELEASE")
    status, output = deploy("SessionIdleMinutes=30", changed=publishes_twice)
    assert (status, stack_status()) == (1, "UPDATE_ROLLBACK_COMPLETE"), output
    assert "Again: " in output and "the release has not happened" in output, output
    assert (live_setting("SESSION_IDLE_MINUTES"), live_setting("RELEASE"), physical_ids()) == ("60", release, before)
    assert owner.get(candidate)["status"] == "interviewed"
    done("a release that fails after the functions have changed is rolled back, and loses no data")


def losses_are_refused():
    def renames_table(resources):
        resources["Table"]["Properties"]["TableName"] = "other"

    def forgets_logs(resources):
        del resources["AdminLogs"], resources["AdminFunction"]["Properties"]["LoggingConfig"]

    cloudformation, before = boto3.client("cloudformation"), physical_ids()
    for change, complaint in ((renames_table, "replaces Table ("), (forgets_logs, "removes AdminLogs (")):
        status, output = deploy(changed=change)
        assert status == 1 and complaint in output, output
        waiting = cloudformation.list_change_sets(StackName=STACK)["Summaries"]
        assert "AVAILABLE" not in [change_set["ExecutionStatus"] for change_set in waiting], waiting
    assert physical_ids() == before
    try:
        cloudformation.delete_stack(StackName=STACK)
        sys.exit("the stack's deletion was accepted")
    except botocore.exceptions.ClientError as refusal:
        assert "TerminationProtection" in str(refusal), refusal
    policy = json.loads(cloudformation.get_stack_policy(StackName=STACK)["StackPolicyBody"])
    assert policy == json.loads(pathlib.Path(".ci/deploy/stack-policy.json").read_text(encoding="utf-8"))
    done("a change set that replaces something or removes data is refused, and so is the deletion of the stack")


def placeholders_are_refused():
    for setting, complaint in (
        ("MailSender=interviews@example.com", "SES does not know the sender"),
        ("AlarmEmail=operations@example.com", "your own instead of one at example.com"),
    ):
        status, output = deploy(setting)
        assert status == 1 and complaint in output, output
    done("a sender that SES does not know and an address at example.com are refused")


def roles_for_releases_are_created():
    cloudformation = boto3.client("cloudformation")
    provider = "arn:aws:iam::000000000000:oidc-provider/token.actions.githubusercontent.com"
    parameters = {"StackName": STACK, "Repository": "acme/interviews", "GitHubProviderArn": provider}
    cloudformation.create_stack(
        StackName="roles",
        TemplateBody=pathlib.Path(".ci/deploy/role.yaml").read_text(encoding="utf-8"),
        Capabilities=["CAPABILITY_NAMED_IAM"],
        Parameters=[{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()],
    )
    cloudformation.get_waiter("stack_create_complete").wait(StackName="roles", WaiterConfig={"Delay": 1})
    role = boto3.client("iam").get_role(RoleName=f"{STACK}-deployment")["Role"]
    trusted = role["AssumeRolePolicyDocument"]["Statement"][0]["Condition"]["StringEquals"]
    assert trusted["token.actions.githubusercontent.com:sub"] == "repo:acme/interviews:environment:production", trusted
    done("the roles for releases from GitHub are created, for one environment of one repository")


def account_is_checked():
    ses, logs = boto3.client("sesv2"), boto3.client("logs")

    def checked():
        run = subprocess.run([".ci/deploy/run", "--check", "local"], check=False, capture_output=True, text=True)
        return run.returncode, run.stdout + run.stderr

    assert checked() == (0, "ok  the account has what a deployment needs\n"), checked()
    details = {"MailType": "TRANSACTIONAL", "WebsiteURL": "https://localhost.example"}
    ses.put_account_details(ProductionAccessEnabled=False, **details)
    ses.delete_email_identity(EmailIdentity="localhost.example")
    statement = {"Effect": "Allow", "Principal": {"Service": "events.amazonaws.com"}, "Action": "logs:PutLogEvents"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement | {"Resource": "*"}]})
    for number in range(10):
        logs.put_resource_policy(policyName=f"other-{number}", policyDocument=policy)
    status, output = checked()
    for problem in ("does not know the sender", "is in the sandbox", "has 10 resource policies"):
        assert status == 1 and f"!!  SES {problem}" in output or f"!!  CloudWatch Logs {problem}" in output, output
    ses.put_account_details(ProductionAccessEnabled=True, **details)
    ses.create_email_identity(EmailIdentity="localhost.example")
    for number in range(10):
        logs.delete_resource_policy(policyName=f"other-{number}")
    assert checked()[0] == 0
    done("an account without a sender, in SES's sandbox or without room for a log policy is found out")
