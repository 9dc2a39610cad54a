"""Releases of a deployed stack: an update, a way back, one that fails, and some that are refused."""

import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib

import boto3
import botocore.exceptions
import yaml
from stack import STACK, TEMPLATE, Api, physical_ids
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


def run(*arguments, folder=".", **variables):
    """Exit status and output of .ci/deploy/run, with further environment variables."""
    command = [f"{folder}/.ci/deploy/run", *arguments]
    run = subprocess.run(command, check=False, capture_output=True, text=True, env=os.environ | variables)
    return run.returncode, run.stdout + run.stderr


@contextlib.contextmanager
def other_config(old, new):
    """A folder with the release tool and a change of .samconfig.toml."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(".ci", f"{folder}/.ci")
        shutil.copy("template.yaml", folder)
        config = pathlib.Path(".samconfig.toml").read_text(encoding="utf-8")
        assert old in config
        pathlib.Path(folder, ".samconfig.toml").write_text(config.replace(old, new), encoding="utf-8")
        pathlib.Path(folder, "target").symlink_to(pathlib.Path("target").resolve())
        yield folder


def stack_status():
    return boto3.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"][0]["StackStatus"]


def live_setting(name):
    """A setting of the version of a function that requests reach."""
    function = physical_ids()["AuthFunction"]
    live = boto3.client("lambda").get_function_configuration(FunctionName=function, Qualifier="live")
    return live["Environment"]["Variables"][name]


def live_releases():
    """The releases that all aliases lead to."""
    functions = boto3.client("lambda")
    aliases = [name for identifier, name in physical_ids().items() if identifier.endswith("Aliaslive")]
    return {functions.get_function_configuration(FunctionName=alias)["Description"] for alias in aliases}


def versions(function):
    """The descriptions of a function's versions by their numbers."""
    name = physical_ids()[function]
    found = boto3.client("lambda").list_versions_by_function(FunctionName=name)["Versions"]
    return {one["Version"]: one["Description"] for one in found if one["Version"] != "$LATEST"}


def update_replaces_nothing(owner, candidate):
    before, release = physical_ids(), live_setting("RELEASE")
    update = ["localstack/deploy-to-ministack", "--update", "SessionIdleMinutes=60", "SuiteUrl=https://suite.example"]
    updated = subprocess.run(update, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert (updated.returncode, stack_status()) == (0, "UPDATE_COMPLETE"), updated.stdout
    assert "ok  the probe passes" in updated.stdout, updated.stdout
    after = physical_ids()
    assert after == before, before.items() ^ after.items()
    assert live_setting("SESSION_IDLE_MINUTES") == "60" and live_setting("RELEASE") != release
    assert owner.get(candidate)["status"] == "interviewed"
    done(f"an update changes a setting, replaces none of {len(after)} resources and loses no data; the probe passes")


def release_is_taken_back(owner, candidate):
    new = live_setting("RELEASE")
    status, output = run("--back", "local")
    assert status == 0 and "ok  the probe passes" in output, output
    (old,) = live_releases()
    assert old != new and live_setting("RELEASE") == old and live_setting("SESSION_IDLE_MINUTES") == "120", (old, new)
    assert owner.get(candidate)["status"] == "interviewed" and Api().get("/openapi.json")
    # The deployed release is the same, and so is the one before.
    assert run("--back", "local")[0] == 0 and live_releases() == {old}
    status, output = run("--forward", "local")
    assert status == 0 and "ok  the probe passes" in output and live_releases() == {new}, output
    done("requests and events are led to the former release of all functions, and forward again; the probe passes")


def release_from_a_former_one():
    """Releases after a way back, which is what an operator does next."""
    assert run("--back", "local")[0] == 0
    (former,) = live_releases()
    functions, name = boto3.client("lambda"), physical_ids()["SearchFunction"]
    for number in range(6):
        functions.update_function_configuration(FunctionName=name, Timeout=10 + number)
        functions.publish_version(FunctionName=name, Description=f"by hand {number}")
    status, output = deploy("SuiteUrl=")
    assert status == 0 and live_setting("SUITE_URL") == "", output
    (release,) = live_releases()
    assert release not in (former, live_setting("SESSION_IDLE_MINUTES")), release
    # The setting of the release that was taken back is a parameter of the stack.
    assert live_setting("SESSION_IDLE_MINUTES") == "60"
    kept = ["by hand 2", "by hand 3", "by hand 4", "by hand 5", release]
    assert list(versions("SearchFunction").values()) == kept, versions("SearchFunction")
    status, output = run("--back", "local")
    assert status == 1 and "no former release in common" in output and live_releases() == {release}, output
    done("a release follows, empties a parameter and keeps five versions; no way back to what not all functions have")


def rotation_leaves_no_former_secret(setting):
    """A version that holds a former password of the probe goes with the next release, which has this setting as well; the key of
    receipts is in no version."""
    functions = boto3.client("lambda")

    def variables_of_versions(name):
        pages = functions.get_paginator("list_versions_by_function").paginate(FunctionName=name)
        return [version["Environment"]["Variables"] for page in pages for version in page["Versions"]]

    probe, others = physical_ids()["ProbeFunction"], versions("SearchFunction")
    present = functions.get_function_configuration(FunctionName=probe)["Environment"]["Variables"]
    former = {**present, "PROBE_PASSWORD": "former"}
    functions.update_function_configuration(FunctionName=probe, Environment={"Variables": former})
    functions.publish_version(FunctionName=probe, Description="by hand")
    functions.update_function_configuration(FunctionName=probe, Environment={"Variables": present})
    status, output = deploy("SecretStage=AWSCURRENT", setting)
    assert status == 0 and "ok  the probe passes" in output, output
    assert f"versions of {probe} hold a replaced secret" in output, output
    assert all(variables["PROBE_PASSWORD"] != "former" for variables in variables_of_versions(probe))
    (release,) = live_releases()
    # The others hold no secret, or the present one.
    assert list(versions("SearchFunction").values()) == [*list(others.values())[1:], release], versions("SearchFunction")
    assert output.count("hold a replaced secret") == 1, output
    key = boto3.client("secretsmanager").get_secret_value(SecretId=f"{STACK}-receipts")["SecretString"]
    signers = [physical_ids()[name] for name in ("EventsFunction", "ExportWriterFunction")]
    held = [value for name in signers for variables in variables_of_versions(name) for value in variables.values()]
    assert not any(key in value for value in held)
    done("a release deletes all versions that hold a former secret, and no others; the key of receipts is in none")


def first_release_with_exports_is_not_taken_back():
    """Former releases do not withdraw archives when people are erased."""
    functions, name = boto3.client("lambda"), physical_ids()["ExportWriterFunction"]
    live = functions.get_alias(FunctionName=name, Name="live")["FunctionVersion"]
    for number in versions("ExportWriterFunction"):
        if number != live:
            functions.delete_function(FunctionName=name, Qualifier=number)
    (release,) = live_releases()
    status, output = run("--back", "local")
    assert status == 1 and f"Exports are new in the release {release}" in output and live_releases() == {release}, output
    done("no way back to a release under which erased people would stay in archives")


# The release's file, what GitHub says of attestations, and whether one verifies.
GH = """#!/bin/bash
case "$1 $2" in
"release download") cp "$KEPT" built.tar ;;
"api repos/"*) [ -z "$REFUSAL" ] || { echo "gh: $REFUSAL" >&2; exit 1; }; echo "$FOUND" ;;
"attestation verify") echo "$*" >>"$ASKED"; exit "$VERIFIED" ;;
*) exit 2 ;;
esac
"""


def exchanged_build_is_refused():
    """Runs the step of the workflow that fetches a build, also when the release has another file than was built, and with
    attestations that do not verify."""
    workflow = yaml.safe_load(pathlib.Path(".github/workflows/deploy.yml").read_text(encoding="utf-8"))
    (fetch,) = (step["run"] for step in workflow["jobs"]["deploy"]["steps"] if step.get("name") == "fetch")
    with tempfile.TemporaryDirectory() as folder:
        kept, asked = pathlib.Path(folder, "kept.tar"), pathlib.Path(folder, "asked")
        program = pathlib.Path(folder, "bin", "gh")
        program.parent.mkdir()
        program.write_text(GH, encoding="utf-8")
        program.chmod(0o755)
        with tarfile.open(kept, "w") as archive:
            archive.add(".samconfig.toml", ".aws-sam/build/template.yaml")
        built = hashlib.sha256(kept.read_bytes()).hexdigest()
        other = hashlib.sha256(b"exchanged").hexdigest()
        for number, (is_accepted, digest, github) in enumerate(
            (
                (True, built, {"FOUND": "1", "VERIFIED": "0"}),
                (True, built, {"FOUND": "0", "VERIFIED": "1"}),
                (True, built, {"REFUSAL": "Not Found (HTTP 404)", "VERIFIED": "1"}),
                (False, built, {"FOUND": "1", "VERIFIED": "1"}),
                (False, built, {"REFUSAL": "Bad Gateway (HTTP 502)", "VERIFIED": "0"}),
                (False, other, {"FOUND": "1", "VERIFIED": "0"}),
                (False, "", {"FOUND": "1", "VERIFIED": "0"}),
            )
        ):
            work = pathlib.Path(folder, str(number))
            work.mkdir()
            variables = os.environ | {"REFUSAL": "", "KEPT": str(kept), "ASKED": str(asked), "DIGEST": digest} | github
            variables |= {"PATH": f"{program.parent}:{os.environ['PATH']}", "GITHUB_REPOSITORY": "acme/interviews"}
            variables |= {"GITHUB_REF": "refs/tags/v3.1.0", "GITHUB_REF_NAME": "v3.1.0"}
            ended = subprocess.run(["bash", "-e", "-c", fetch], cwd=work, env=variables, capture_output=True, check=False)
            is_unpacked = pathlib.Path(work, ".aws-sam").exists()
            assert (ended.returncode == 0) == is_unpacked == is_accepted, (number, ended)
        # Otherwise, another workflow of the repository, or another tag's, would do.
        (first, _) = asked.read_text(encoding="utf-8").splitlines()
        assert "--source-ref refs/tags/v3.1.0" in first and "--signer-workflow acme/interviews/.github/workflows/ci.yml" in first
    done("a build is deployed with the digest that it was built with, and no other; if it is attested, only as this workflow's")


def failing_release_rolls_back(owner, candidate):
    def publishes_twice(resources):
        version = {"FunctionName": {"Ref": "AuthFunction"}}
        resources["Again"] = {"Type": "AWS::Lambda::Version", "DependsOn": "AuthFunctionAliaslive", "Properties": version}

    before, release, published = physical_ids(), live_setting("RELEASE"), versions("AuthFunction")
    status, output = deploy("SessionIdleMinutes=30", changed=publishes_twice)
    assert (status, stack_status()) == (1, "UPDATE_ROLLBACK_COMPLETE"), output
    assert "Again: " in output and "the release has not happened" in output, output
    assert (live_setting("SESSION_IDLE_MINUTES"), live_setting("RELEASE"), physical_ids()) == ("60", release, before)
    assert owner.get(candidate)["status"] == "interviewed"
    # Otherwise, --back could lead to it.
    assert versions("AuthFunction") == published, versions("AuthFunction")
    done("a release that fails after the functions have changed is rolled back, leaves no version and loses no data")


def losses_are_refused():
    def renames_table_and_forgets_logs(resources):
        resources["Table"]["Properties"]["TableName"] = "other"
        del resources["AdminLogs"], resources["AdminFunction"]["Properties"]["LoggingConfig"]

    cloudformation, before = boto3.client("cloudformation"), physical_ids()
    status, output = deploy(changed=renames_table_and_forgets_logs)
    assert status == 1 and "replaces Table (" in output and "removes AdminLogs (" in output, output
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


def wrong_places_are_refused():
    complaint = "these credentials lead to account 111111111111 in eu-central-1, which is not local"
    assert complaint in run("local", AWS_ACCESS_KEY_ID="111111111111")[1]
    assert "account 000000000000 in us-east-1, which is not local" in run("local", AWS_DEFAULT_REGION="us-east-1")[1]
    status, output = run("--check", "prod")
    assert status == 1 and 'prod has no account and region yet' in output and 'id = "000000000000"' in output, output
    done("another account or region is refused, and an environment without them")

    with other_config('"interviews-prod"', '"interviews-new"') as folder:
        status, output = run("--configure", "prod", "MailSender=jobs@acme.example", "AppUrl=https://acme.example", folder=folder)
        config = tomllib.loads(pathlib.Path(folder, ".samconfig.toml").read_text(encoding="utf-8"))
        assert status == 0 and config["prod"]["account"] == {"id": "000000000000", "region": "eu-central-1"}, output
        written = config["prod"]["deploy"]["parameters"]["parameter_overrides"]
        assert {"MailSender=jobs@acme.example", "AppUrl=https://acme.example"} < set(written) and len(written) == 4, written
        assert "MailSender=interviews@example.com" in config["staging"]["deploy"]["parameters"]["parameter_overrides"]
        status, output = run("--configure", "prod", folder=folder, AWS_ACCESS_KEY_ID="111111111111")
        assert status == 1 and "which is not prod" in output, output
    done("the account and parameters of an environment are written to the settings once, and for no other account")

    with other_config(f'"{STACK}"', '"interviews-others"') as folder:
        status, output = run("local", folder=folder)
        assert status == 1 and "there is no stack interviews-others in this account" in output, output
    with other_config('"interviews-prod"', '"interviews"') as folder:
        status, output = run("--check", "local", folder=folder)
        assert status == 1 and "the stack name interviews is a prefix of interviews-dev" in output, output
    done("a stack is created only by --create, and none whose name begins with that of another")


def failed_creation_is_found():
    bucket = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "deployments"}}
    cloudformation = boto3.client("cloudformation")
    cloudformation.create_stack(StackName="interviews-others", TemplateBody=json.dumps({"Resources": {"Bucket": bucket}}))
    with contextlib.suppress(botocore.exceptions.WaiterError):
        waiter = cloudformation.get_waiter("stack_create_complete")
        waiter.wait(StackName="interviews-others", WaiterConfig={"Delay": 1})
    with other_config(f'"{STACK}"', '"interviews-others"') as folder:
        status, output = run("--check", "local", folder=folder)
    assert status == 1 and "!!  The stack interviews-others is ROLLBACK_COMPLETE" in output, output
    assert "delete-stack --stack-name interviews-others" in output, output
    done("a stack whose creation has failed is found, with the way out")


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
    assert trusted["token.actions.githubusercontent.com:sub"] == "repo:acme/interviews:environment:prod", trusted
    done("the roles for releases from GitHub are created, for one environment of one repository, with a bucket")


def account_is_checked():
    ses, logs = boto3.client("sesv2"), boto3.client("logs")

    def checked(*arguments):
        return run("--check", "local", *arguments)

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

    functions, reserving = boto3.client("lambda"), physical_ids()["OutboxFunction"]
    quota = functions.get_account_settings()["AccountLimit"]["ConcurrentExecutions"]
    functions.put_function_concurrency(FunctionName=reserving, ReservedConcurrentExecutions=quota - 120)
    assert checked()[0] == 0
    functions.delete_function_concurrency(FunctionName=reserving)
    status, output = checked(f"OutboxConcurrency={quota}")
    assert status == 1 and "concurrent executions that no other function of the account reserves" in output, output
    done("the concurrent executions must suffice, those that the stack reserves already included")

    sns = boto3.client("sns")
    topic = physical_ids()["PageTopic"]
    sns.subscribe(TopicArn=topic, Protocol="https", Endpoint="https://acme.example/")
    status, output = checked()
    assert status == 0 and f"--  A subscription of {topic} is not confirmed" in output, output
    topic_subscriptions = sns.list_subscriptions_by_topic(TopicArn=topic)["Subscriptions"]
    sns.unsubscribe(SubscriptionArn=next(one["SubscriptionArn"] for one in topic_subscriptions if one["Protocol"] == "https"))
    cloudformation = boto3.client("cloudformation")
    cloudformation.update_termination_protection(StackName=STACK, EnableTerminationProtection=False)
    assert "is not protected against deletion" in checked()[1]
    assert run("--protect", "local")[0] == 0 and checked()[0] == 0
    done("an address that has not confirmed its alarms is named, and a stack without protection")


def domain_is_checked():
    zone = boto3.client("route53").create_hosted_zone(Name="acme.example", CallerReference="acme")["HostedZone"]["Id"]
    zone = zone.removeprefix("/hostedzone/")
    here, there = boto3.client("acm"), boto3.client("acm", region_name="us-east-1")
    wildcard = here.request_certificate(DomainName="*.acme.example", ValidationMethod="DNS")["CertificateArn"]
    other = here.request_certificate(DomainName="acme.example", ValidationMethod="DNS")["CertificateArn"]
    global_one = there.request_certificate(DomainName="api.acme.example", ValidationMethod="DNS")["CertificateArn"]

    def checked(host, certificate, *arguments):
        return run("--check", "local", f"DomainName={host}", f"CertificateArn={certificate}", *arguments)

    acl = "WebAclArn=arn:aws:wafv2:us-east-1:000000000000:global/webacl/acme/0-0"
    assert checked("api.acme.example", wildcard, f"HostedZoneId={zone}")[0] == 0
    assert checked("api.acme.example", global_one, acl)[0] == 0
    for complaint, arguments in (
        ("is not for api.acme.example", ["api.acme.example", other]),
        ("must be in eu-central-1", ["api.acme.example", global_one]),
        ("must be in us-east-1", ["api.acme.example", wildcard, acl]),
        ("There is no certificate", ["api.acme.example", wildcard[:-4] + "0000"]),
        ("is for acme.example, and not for api.other.example", ["api.other.example", wildcard, f"HostedZoneId={zone}"]),
        ("There is no hosted zone", ["api.acme.example", wildcard, "HostedZoneId=Z0"]),
    ):
        status, output = checked(*arguments)
        assert status == 1 and complaint in output, output
    done("a certificate of other names or of another region is found, and a zone of another name")
