"""Takes table and files back to a moment, in place: what was written since is undone, except what must not be."""

import concurrent.futures
import datetime
import itertools
import json
import sys
import time

import boto3
import botocore.config
import botocore.exceptions
from reservations import reservations

# What stays as it is: sessions, named tokens and webhooks that have ended do not come back, mails are not sent twice,
# deletions that are still pending are done, and no number of an event is given twice.
SEQUENCE = "SEQUENCE"
UNTOUCHED = ("EFFECT#", "FAILURES#", "RESET#", SEQUENCE, "SESSION#", "TOKEN#", "UPLOAD#", "WEBHOOK#")
# These write the records of deletions, without which people who were deleted would come back, and delete files.
DELETING = ("deletion", "erased", "objects-deleted")
# They serve the restore itself.
RUNNING = ("AdminFunction", "ProbeFunction")
# What a deletion has left is erased within this time after the moment under which that is recorded.
DELETION_LASTS = datetime.timedelta(minutes=15)
READ, WRITTEN, SEGMENTS = 100, 25, 8
PATIENCE = 600
# No function but the conversion of videos runs for longer; what that writes last depends on the video that it began with.
LONGEST = 60

# An operator command takes up to 15 minutes, and must not run twice at once.
OPERATOR = botocore.config.Config(read_timeout=910, tcp_keepalive=True, retries={"total_max_attempts": 1})


class Incomplete(Exception):
    """A problem that the operator must solve before the restore goes on."""


class Restore:
    """The stack whose table is taken back to a moment."""

    def __init__(self, stack, moment):
        self.moment = datetime.datetime.fromisoformat(moment).astimezone(datetime.UTC)
        self.dynamodb, self.functions = boto3.client("dynamodb"), boto3.client("lambda")
        pages = boto3.client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=stack)
        self.resources = list(itertools.chain.from_iterable(page["StackResourceSummaries"] for page in pages))
        self.table = self.of_type("AWS::DynamoDB::Table")["Table"]
        self.bucket = self.of_type("AWS::S3::Bucket")["MediaBucket"]
        (described,) = boto3.client("cloudformation").describe_stacks(StackName=stack)["Stacks"]
        parameters = {parameter["ParameterKey"]: parameter["ParameterValue"] for parameter in described["Parameters"]}
        self.reserved = reservations("template.yaml", parameters)
        self.looked_at = 0
        self.began = self.last = time.monotonic()

    def of_type(self, kind):
        """Physical names by logical ids."""
        found = (resource for resource in self.resources if resource["ResourceType"] == kind)
        return {resource["LogicalResourceId"]: resource["PhysicalResourceId"] for resource in found}

    def done(self, what):
        now = time.monotonic()
        print(f"ok  {now - self.last:7.1f} s  {what}", flush=True)
        self.last = now

    def run(self, restored):
        restored = restored or self.as_it_was()
        try:
            self.take_back_to(restored)
        except (Incomplete, botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError) as error:
            print(f"!!  {error}\nRequests stay refused until this is repeated with --restored {restored}", file=sys.stderr)
            return 1
        print(f"ok  {self.last - self.began:7.1f} s  in all. Delete the table {restored}: it holds people who were deleted")
        return 0

    def take_back_to(self, restored):
        self.stop()
        put, deleted = self.take_back(restored)
        self.done(f"{put:,} of {self.looked_at:,} items are as they were again, and {deleted:,} newer ones are gone")
        back, gone = self.take_files_back()
        self.done(f"{back:,} files that were deleted since are back, and {gone:,} newer ones are gone")
        self.make_up()
        self.start()

    def as_it_was(self):
        """The name of a new table with what this one held at the moment."""
        restored = f"{self.table}-{self.moment:%Y%m%dT%H%M%SZ}"
        names = {"SourceTableName": self.table, "TargetTableName": restored}
        self.dynamodb.restore_table_to_point_in_time(**names, RestoreDateTime=self.moment)
        # Hours, for a large table.
        self.dynamodb.get_waiter("table_exists").wait(TableName=restored, WaiterConfig={"Delay": 20, "MaxAttempts": 4320})
        self.done(f"DynamoDB has restored {restored}")
        return restored

    def stop(self):
        """Stops requests first, then what they have left to do."""
        answering, others = self.stopped_functions()
        self.reserve(dict.fromkeys(answering, 0))
        # If this is repeated, they are stopped already.
        self.reserve({name: self.reserved.get(name) for name in others})
        self.enable_mappings(True)
        self.let_end(answering)
        self.done("requests are refused")
        until = time.monotonic() + PATIENCE
        while pending := self.pending():
            if time.monotonic() > until or "given up" in pending:
                raise Incomplete(f"some deletions are {pending[0]}: list-failures names them")
            time.sleep(2)
        self.done("deletions are done and recorded")
        self.enable_mappings(False)
        self.reserve(dict.fromkeys(others, 0))
        self.let_end(others)
        self.done("nothing writes to the table")

    def let_end(self, names):
        """Waits until what these functions have begun has ended."""
        functions = self.of_type("AWS::Lambda::Function")
        configurations = (self.functions.get_function_configuration(FunctionName=functions[name]) for name in names)
        time.sleep(min(LONGEST, max(configuration["Timeout"] for configuration in configurations)))

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

    def pending(self):
        """Whether deletions wait to be done, or were given up."""
        effects = (item for page in self.pages(self.table) for item in page if item["pk"]["S"].startswith("EFFECT#"))
        deleting = (effect for effect in effects if effect["task"]["M"]["kind"]["S"] in DELETING)
        return sorted({"pending" if "S" in effect.get("next_try_at", {}) else "given up" for effect in deleting})

    def pages(self, table, segment=0, segments=1):
        pages = self.dynamodb.get_paginator("scan")
        pages = pages.paginate(TableName=table, ConsistentRead=True, Segment=segment, TotalSegments=segments)
        return (page["Items"] for page in pages)

    def take_back(self, restored):
        """Numbers of items that were put and deleted. Repeating it continues it."""
        with concurrent.futures.ThreadPoolExecutor(SEGMENTS) as pool:
            put = sum(pool.map(lambda segment: self.put_missing(restored, segment), range(SEGMENTS)))
            return put, sum(pool.map(lambda segment: self.delete_newer(restored, segment), range(SEGMENTS)))

    def put_missing(self, restored, segment):
        count = 0
        for items in self.pages(restored, segment, SEGMENTS):
            self.looked_at += len(items)
            items = [item for item in items if is_taken_back(item) or is_sequence(item)]
            current = self.read(self.table, items)
            items = [
                with_last_event_of(item, current.get(key_of(item), item)) if is_sequence(item) else item for item in items
            ]
            differing = [item for item in items if current.get(key_of(item)) != item]
            self.write([{"PutRequest": {"Item": item}} for item in differing])
            count += len(differing)
        return count

    def delete_newer(self, restored, segment):
        count = 0
        for items in self.pages(self.table, segment, SEGMENTS):
            items = [item for item in items if is_taken_back(item) or (is_sequence(item) and "last_event" in item)]
            known = self.read(restored, items)
            newer = [item for item in items if key_of(item) not in known]
            self.write([delete_or_keep_numbers(item) for item in newer])
            count += len(newer)
        return count

    def read(self, table, items):
        """The items of a table under the keys of these, by key."""
        found = {}
        for some in batches(items, READ):
            keys = [{"pk": item["pk"], "sk": item["sk"]} for item in some]
            asked = {table: {"Keys": keys, "ConsistentRead": True}}
            while asked:
                answer = self.dynamodb.batch_get_item(RequestItems=asked)
                found |= {key_of(item): item for item in answer["Responses"].get(table, [])}
                asked = answer["UnprocessedKeys"]
        return found

    def write(self, requests):
        for some in batches(requests, WRITTEN):
            waiting = {self.table: some}
            while waiting:
                waiting = self.dynamodb.batch_write_item(RequestItems=waiting)["UnprocessedItems"]

    def take_files_back(self):
        """Numbers of files that came back and that are gone. A key is used once, so a file is there or deleted."""
        s3, last, existed = boto3.client("s3"), {}, set()
        for page in s3.get_paginator("list_object_versions").paginate(Bucket=self.bucket, Prefix="media/"):
            for version in [*page.get("Versions", []), *page.get("DeleteMarkers", [])]:
                if version["LastModified"] <= self.moment:
                    existed.add(version["Key"])
                if version["IsLatest"] and version["LastModified"] > self.moment:
                    last[version["Key"]] = version
        back = [file for key, file in last.items() if key in existed and "Size" not in file]
        gone = [file for key, file in last.items() if key not in existed and "Size" in file]
        for file in back:
            s3.delete_object(Bucket=self.bucket, Key=file["Key"], VersionId=file["VersionId"])
        for file in gone:
            s3.delete_object(Bucket=self.bucket, Key=file["Key"])
        return len(back), len(gone)

    def make_up(self):
        """Counts what was left as it is, and repeats deletions that came after the moment."""
        companies = [company["company"] for company in self.command("list-companies")["companies"]]
        for company in companies:
            self.command("recount", company=company)
        self.done("what was left as it is has been counted")
        erased = self.command("erase-again", since=(self.moment - DELETION_LASTS).isoformat())["erased_again"]
        if erased["kept"]:
            raise Incomplete(f"not deleted again: {json.dumps(erased['kept'])}")
        drift = [drift for company in companies for drift in self.command("recount", company=company)["recount"]["drift"]]
        if drift:
            raise Incomplete(f"counts were wrong after the deletions: {json.dumps(drift)}")
        # The outbox erases the rest of each when it runs again: files, evaluations, and what events have said.
        self.done(f"{erased['erased']} of {erased['noted']} deletions since then are repeated, and counts are right")

    def command(self, command, **arguments):
        payload = json.dumps({"command": command, **arguments}).encode()
        function = self.of_type("AWS::Lambda::Function")["AdminFunction"]
        answer = boto3.client("lambda", config=OPERATOR).invoke(FunctionName=function, Payload=payload)
        text = answer["Payload"].read().decode()
        if "FunctionError" in answer:
            raise Incomplete(f"{command}: {text}")
        return json.loads(text)

    def start(self):
        """Lets the functions run again, with the executions that the template reserves."""
        answering, others = self.stopped_functions()
        self.reserve({name: self.reserved.get(name) for name in [*answering, *others]})
        self.enable_mappings(True)
        self.done("requests are answered")


def is_taken_back(item):
    return not item["pk"]["S"].startswith(UNTOUCHED) and not item["sk"]["S"].startswith(UNTOUCHED)


def is_sequence(item):
    return item["sk"]["S"] == SEQUENCE


def with_last_event_of(then, now):
    """The numbers of a company as they are, after the last event that there was then: the next one tells readers so."""
    now = {name: value for name, value in now.items() if name != "last_event"}
    return now | {"last_event": then["last_event"]} if "last_event" in then else now


def delete_or_keep_numbers(item):
    """The request that takes back an item that did not exist then."""
    if is_sequence(item):
        return {"PutRequest": {"Item": with_last_event_of({}, item)}}
    return {"DeleteRequest": {"Key": {"pk": item["pk"], "sk": item["sk"]}}}


def key_of(item):
    return item["pk"]["S"], item["sk"]["S"]


def batches(items, size):
    return [items[start : start + size] for start in range(0, len(items), size)]
