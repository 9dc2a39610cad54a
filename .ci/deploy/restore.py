"""Takes table and files back to a moment, in place: what was written since is undone, except what must not be.

The items are compared by the program restore-table, which is built here unless the variable RESTORE_TABLE names one that is
there already.
"""

import concurrent.futures
import datetime
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import boto3
import botocore.config
import botocore.exceptions
from reservations import reservations

# They serve the restore itself.
RUNNING = ("AdminFunction", "ProbeFunction")
# Erases candidates by requests and retention rules.
ERASING = "RetentionFunction"
# They may run for many minutes, so they stop while requests are still answered: the outage need not wait for them.
LONG_RUNNING = (ERASING, "ExportWriterFunction", "VideoConversionFunction")
# No other function runs for longer, in seconds; .ci/expand-template checks that. The outage waits for them.
LONGEST_OF_OTHERS = 60
# What a deletion has left is erased within this time after the moment under which that is recorded.
DELETION_LASTS = datetime.timedelta(minutes=15)
PATIENCE = 600
COUNTED_AT_ONCE = 8
# What is restored of the bucket: files, and parts of recordings, which are deleted once they are converted.
FILES = ("media/", "takes/")
FILES_AT_ONCE = 1000
# CloudWatch takes so many names in one call.
ALARMS = 100
FAILED_CALLS = (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError)

# An operator command takes up to 15 minutes, and must not run twice at once.
OPERATOR = botocore.config.Config(read_timeout=910, tcp_keepalive=True, retries={"total_max_attempts": 1})


class Incomplete(Exception):
    """A problem that the operator must solve before the restore goes on."""


class Restore:
    """The stack whose table is taken back to a moment."""

    def __init__(self, stack, moment):
        self.moment = datetime.datetime.fromisoformat(moment).astimezone(datetime.UTC)
        self.dynamodb, self.functions = boto3.client("dynamodb"), boto3.client("lambda")
        # Made here, because threads share it, and making clients is not safe in threads.
        self.operator = boto3.client("lambda", config=OPERATOR)
        pages = boto3.client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=stack)
        self.resources = list(itertools.chain.from_iterable(page["StackResourceSummaries"] for page in pages))
        self.table = self.of_type("AWS::DynamoDB::Table")["Table"]
        self.bucket = self.of_type("AWS::S3::Bucket")["MediaBucket"]
        (described,) = boto3.client("cloudformation").describe_stacks(StackName=stack)["Stacks"]
        parameters = {parameter["ParameterKey"]: parameter["ParameterValue"] for parameter in described["Parameters"]}
        self.reserved = reservations("template.yaml", parameters)
        self.has_begun = self.has_stopped = False
        self.began = self.last = time.monotonic()

    def of_type(self, kind):
        """Physical names by logical ids."""
        found = (resource for resource in self.resources if resource["ResourceType"] == kind)
        return {resource["LogicalResourceId"]: resource["PhysicalResourceId"] for resource in found}

    def done(self, what):
        """Says what is done, and returns the seconds that it took."""
        now, before = time.monotonic(), self.last
        print(f"ok  {now - before:7.1f} s  {what}", flush=True)
        self.last = now
        return now - before

    def run(self, restored):
        self.build()
        is_new, restored = not restored, restored or f"{self.table}-{self.moment:%Y%m%dT%H%M%SZ}"
        # It holds the keys of items, with names and addresses, so it is deleted at the end.
        self.folder = pathlib.Path("target/restore", restored)
        try:
            if is_new:
                self.begin_restoring(restored)
            self.stop_long_running()
            self.take_back_to(restored)
        except (Incomplete, KeyboardInterrupt, *FAILED_CALLS) as error:
            print(f"!!  {str(error) or 'stopped'}\nRepeat this with --restored {restored}: it continues.", file=sys.stderr)
            if self.has_stopped:
                print("Until then, requests are refused, and alarm notifications are off.", file=sys.stderr)
            elif self.has_begun:
                print("Until then, recordings wait for their conversion, and retention erases no candidate.", file=sys.stderr)
            return 1
        shutil.rmtree(self.folder)
        print(f"ok  {self.last - self.began:7.1f} s  in all. Delete the table {restored}: it holds people who were deleted")
        return 0

    def take_back_to(self, restored):
        # Hours, for a large table.
        self.dynamodb.get_waiter("table_exists").wait(TableName=restored, WaiterConfig={"Delay": 20, "MaxAttempts": 4320})
        self.done(f"DynamoDB has restored {restored}")
        items = self.restore_table("prepare", restored)
        took, companies = self.done(f"{items['prepared']:,} items of {restored} are read"), items["companies"]
        print(f"    {items['prepared'] / took:,.0f} items a second", flush=True)
        self.stop()
        items = self.restore_table("apply", restored)
        took = self.done(f"{items['put']:,} items are as they were again, and {items['deleted']:,} newer ones are gone")
        print(f"    {items['compared'] / took:,.0f} of {items['compared']:,} items a second", flush=True)
        back, gone = self.take_files_back()
        self.done(f"{back:,} files that were deleted since are back, and {gone:,} newer ones are gone")
        self.make_up(companies)
        self.start()

    def build(self):
        self.program = os.environ.get("RESTORE_TABLE")
        if self.program is None:
            self.program = "target/release/restore-table"
            cargo = ["cargo", "build", "--release", "--locked", "--package", "admin", "--bin", "restore-table"]
            # Before anything else: the service must not wait for it.
            subprocess.run(cargo, check=True)
            self.done("the program restore-table is built")

    def restore_table(self, step, restored):
        """The result of a step of the program, which prints its progress itself."""
        session = boto3.Session()
        credentials = session.get_credentials().get_frozen_credentials()
        settings = {"AWS_REGION": session.region_name, "AWS_ACCESS_KEY_ID": credentials.access_key}
        settings |= {"AWS_SECRET_ACCESS_KEY": credentials.secret_key, "AWS_SESSION_TOKEN": credentials.token or ""}
        command = [self.program, step, self.table, restored, self.folder]
        run = subprocess.run(command, env=os.environ | settings, check=False, stdout=subprocess.PIPE, text=True)
        if run.returncode:
            raise Incomplete(f"restore-table {step} has failed, for the reason above")
        return json.loads(run.stdout)

    def begin_restoring(self, restored):
        """Has DynamoDB make a new table with what this one held at the moment."""
        self.dynamodb.restore_table_to_point_in_time(
            SourceTableName=self.table,
            TargetTableName=restored,
            RestoreDateTime=self.moment,
            # Nothing reads indexes there.
            GlobalSecondaryIndexOverride=[],
        )

    def stop_long_running(self):
        """Stops the functions that may run for many minutes, long before anything is compared: what they began would end between
        what is put back. Events of recordings wait: Lambda tries them for six hours."""
        self.has_begun, noted = True, self.folder / "long-running-stopped"
        if not (noted.exists() and self.are_stopped(LONG_RUNNING)):
            self.reserve(dict.fromkeys(LONG_RUNNING, 0))
            # The time of an earlier try counts as well, so that its outage does not become longer.
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            noted.write_text(datetime.datetime.now(datetime.UTC).isoformat(), encoding="utf-8")
        self.long_running_stopped = datetime.datetime.fromisoformat(noted.read_text(encoding="utf-8"))

    def let_long_running_end(self):
        longest = self.longest(LONG_RUNNING)
        passed = datetime.datetime.now(datetime.UTC) - self.long_running_stopped
        time.sleep(max(0, longest - passed.total_seconds()))
        self.done(f"{', '.join(LONG_RUNNING)}, which may run for {longest} s, have ended")

    def stop(self):
        """Stops requests first, then what they have left to do."""
        self.let_long_running_end()
        answering, others = self.stopped_functions()
        self.has_stopped, was_stopped = True, self.are_stopped([*answering, *others])
        self.notify(False)
        if was_stopped:
            # By an earlier try, which this one continues: if anything ran now, it would change what is compared already.
            self.let_end(others)
            self.done("nothing writes to the table, since an earlier try")
            return
        for file in self.folder.glob("applied*"):
            # What an earlier try has compared may have changed since.
            file.unlink()
        self.reserve(dict.fromkeys(answering, 0))
        # If this is repeated, they may be stopped already. Those that run for long stay so: the deletions need none of them.
        self.reserve({name: self.reserved.get(name) for name in others if name not in LONG_RUNNING})
        self.enable_mappings(True)
        self.let_end(answering)
        self.done("requests are refused, and alarm notifications are off")
        until = time.monotonic() + PATIENCE
        while any((deletions := self.command("list-failures")["deletions"]).values()):
            if time.monotonic() > until or deletions["given_up"]:
                raise Incomplete(f"deletions are not done: {json.dumps(deletions)}; list-failures names those that have failed")
            time.sleep(2)
        self.done("deletions are done and recorded")
        self.enable_mappings(False)
        self.reserve(dict.fromkeys(others, 0))
        self.let_end(others)
        self.done("nothing writes to the table")

    def are_stopped(self, names):
        functions = self.of_type("AWS::Lambda::Function")
        reserved = (self.functions.get_function_concurrency(FunctionName=functions[name]) for name in names)
        return all(found.get("ReservedConcurrentExecutions") == 0 for found in reserved)

    def notify(self, is_enabled):
        """Lets the stack's alarms notify, or not: a restore causes several."""
        cloudwatch, names = boto3.client("cloudwatch"), list(self.of_type("AWS::CloudWatch::Alarm").values())
        change = cloudwatch.enable_alarm_actions if is_enabled else cloudwatch.disable_alarm_actions
        for some in batches(names, ALARMS):
            change(AlarmNames=some)
        if is_enabled and names:
            on = cloudwatch.describe_alarms(AlarmNames=names[:ALARMS], StateValue="ALARM")["MetricAlarms"]
            for alarm in on:
                # Only a change of its state would notify.
                print(f"--  the alarm {alarm['AlarmName']} is on; it should end within minutes", flush=True)

    def let_end(self, names):
        """Waits until what these functions have begun has ended; those that run for long have ended before."""
        time.sleep(self.longest(name for name in names if name not in LONG_RUNNING))

    def longest(self, names):
        """The longest timeout of these functions, as deployed, in seconds."""
        functions = self.of_type("AWS::Lambda::Function")
        live = ({"FunctionName": functions[name], "Qualifier": "live"} for name in names)
        return max(self.functions.get_function_configuration(**function)["Timeout"] for function in live)

    def stopped_functions(self):
        """Those that answer requests, and those that something else starts."""
        integrations = self.of_type("AWS::ApiGatewayV2::Integration")
        functions = [name for name in self.of_type("AWS::Lambda::Function") if name not in RUNNING]
        answering = [name for name in functions if name.removesuffix("Function") + "Integration" in integrations]
        return answering, [name for name in functions if name not in answering]

    def reserve(self, executions):
        """Reserves executions of functions by logical ids, or none."""
        functions = self.of_type("AWS::Lambda::Function")
        for name, reserved in executions.items():
            function = {"FunctionName": functions[name]}
            if reserved is None:
                self.functions.delete_function_concurrency(**function)
            else:
                self.functions.put_function_concurrency(**function, ReservedConcurrentExecutions=reserved)

    def enable_mappings(self, is_enabled):
        wanted = "Enabled" if is_enabled else "Disabled"
        for mapping in self.of_type("AWS::Lambda::EventSourceMapping").values():
            if self.functions.get_event_source_mapping(UUID=mapping)["State"] != wanted:
                self.functions.update_event_source_mapping(UUID=mapping, Enabled=is_enabled)

    def take_files_back(self):
        """Numbers of files that came back and that are gone. A key is used once, so a file is there or deleted."""
        s3, last, existed = boto3.client("s3"), {}, set()
        versions = s3.get_paginator("list_object_versions")
        pages = (versions.paginate(Bucket=self.bucket, Prefix=prefix) for prefix in FILES)
        for page in itertools.chain.from_iterable(pages):
            for version in [*page.get("Versions", []), *page.get("DeleteMarkers", [])]:
                if version["LastModified"] <= self.moment:
                    existed.add(version["Key"])
                if version["IsLatest"] and version["LastModified"] > self.moment:
                    last[version["Key"]] = version
        back = [file for key, file in last.items() if key in existed and "Size" not in file]
        newer = [key for key, file in last.items() if key not in existed and "Size" in file]
        # A recording that waited for its conversion at the moment may play by now, and parts of an open one came since.
        needed = set()
        for some in batches(newer, FILES_AT_ONCE):
            needed.update(self.command("files-of-takes", files=some)["files_of_takes"])
        gone = [key for key in newer if key not in needed]
        for file in back:
            s3.delete_object(Bucket=self.bucket, Key=file["Key"], VersionId=file["VersionId"])
        for key in gone:
            s3.delete_object(Bucket=self.bucket, Key=key)
        return len(back), len(gone)

    def make_up(self, companies):
        """Counts what was left as it is, and repeats deletions that came after the moment."""
        self.recount(companies)
        self.done("what was left as it is has been counted")
        erased = self.command("erase-again", since=(self.moment - DELETION_LASTS).isoformat())["erased_again"]
        if erased["kept"]:
            raise Incomplete(f"not deleted again: {json.dumps(erased['kept'])}")
        if drift := self.recount(companies):
            raise Incomplete(f"counts were wrong after the deletions: {json.dumps(drift)}")
        # The outbox erases the rest of each when it runs again: files, evaluations, and what events have said.
        self.done(f"{erased['erased']} of {erased['noted']} deletions since then are repeated, and counts are right")
        restarted = self.command("restart-conversions")["restarted"]["conversion"]
        self.done(f"{restarted:,} recordings that were not converted at the moment wait for it again")

    def recount(self, companies):
        """The counts that were wrong."""
        with concurrent.futures.ThreadPoolExecutor(COUNTED_AT_ONCE) as pool:
            counted = pool.map(lambda company: self.command("recount", company=company)["recount"]["drift"], companies)
            return list(itertools.chain.from_iterable(counted))

    def command(self, command, **arguments):
        payload = json.dumps({"command": command, **arguments}).encode()
        function = self.of_type("AWS::Lambda::Function")["AdminFunction"]
        answer = self.operator.invoke(FunctionName=function, Payload=payload)
        text = answer["Payload"].read().decode()
        if "FunctionError" in answer:
            raise Incomplete(f"{command}: {text}")
        return json.loads(text)

    def start(self):
        """Lets the functions run again, with the executions that the template reserves, but for the one that erases candidates."""
        answering, others = self.stopped_functions()
        self.reserve({name: self.reserved.get(name) for name in [*answering, *others] if name != ERASING})
        self.enable_mappings(True)
        self.notify(True)
        self.done("requests are answered, and alarm notifications are on")
        # Holds, withdrawn requests and milder rules since the moment are gone: it would erase these candidates within minutes.
        function, reserved = self.of_type("AWS::Lambda::Function")[ERASING], self.reserved.get(ERASING)
        # With what the template reserves: the function assumes that it runs once.
        verb, setting = ("delete", "") if reserved is None else ("put", f" --reserved-concurrent-executions {reserved}")
        self.done(
            "no candidate is erased by a request or a retention rule until the owners have set holds and rules again; then: "
            f"aws lambda {verb}-function-concurrency --function-name {function}{setting}"
        )


def batches(items, size):
    return [items[start : start + size] for start in range(0, len(items), size)]
