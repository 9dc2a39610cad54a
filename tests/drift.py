"""Drift of the deployed stack from its template, and the tags by which the bill tells environments apart."""

import boto3
from releases import live_setting, run
from stack import STACK, physical_ids
from story import done


def found():
    status, output = run("--drift", "local")
    assert "resources are compared" in output, output
    return status, output


def drift_is_told():
    """Commands' own changes are told apart from those by hand."""
    sqs, logs = boto3.client("sqs"), boto3.client("logs")
    functions, names = boto3.client("lambda"), physical_ids()
    # bad_event_is_kept has changed it.
    status, output = found()
    assert status == 1 and "!!  PlatformQueue (AWS::SQS::Queue) was changed" in output, output
    assert "/VisibilityTimeout: 180 in the template, 1 in fact" in output, output
    sqs.set_queue_attributes(QueueUrl=names["PlatformQueue"], Attributes={"VisibilityTimeout": "180"})
    status, output = found()
    assert status == 0 and "!!" not in output and "--  " not in output, output

    group = logs.describe_log_groups(logGroupNamePrefix=names["AccessLogs"])["logGroups"][0]
    logs.delete_log_group(logGroupName=names["AccessLogs"])
    status, output = found()
    assert status == 1 and "!!  AccessLogs (AWS::Logs::LogGroup) is gone" in output, output
    tags = {"service": "interviews", "environment": "local"}
    logs.create_log_group(logGroupName=names["AccessLogs"], tags=tags)
    logs.put_retention_policy(logGroupName=names["AccessLogs"], retentionInDays=group["retentionInDays"])
    assert found()[0] == 0
    done("what was changed or deleted by hand is told")

    assert run("--back", "local")[0] == 0
    status, output = found()
    assert status == 0 and f"lead to the release {live_setting('RELEASE')} instead of" in output, output
    assert "as --back does it" in output and "`.ci/deploy/run --forward local`" in output, output
    # One alias alone is not what --back does.
    alias = {"FunctionName": names["SearchFunction"], "Name": "live"}
    former = functions.get_alias(**alias)["FunctionVersion"]
    functions.update_alias(**alias, FunctionVersion=former, RoutingConfig={"AdditionalVersionWeights": {str(int(former) + 1): 0.1}})
    status, output = found()
    assert status == 1 and f"!!  {names['SearchFunction']} shares its requests between two versions" in output, output
    assert run("--forward", "local")[0] == 0 and found()[0] == 0

    retention = names["RetentionFunction"]
    reserved = functions.get_function_concurrency(FunctionName=retention).get("ReservedConcurrentExecutions")
    functions.put_function_concurrency(FunctionName=retention, ReservedConcurrentExecutions=0)
    status, output = found()
    assert status == 0 and f"--  Reserved for no execution, as a restore does it: {retention}" in output, output
    if reserved:
        functions.put_function_concurrency(FunctionName=retention, ReservedConcurrentExecutions=reserved)
    else:
        functions.delete_function_concurrency(FunctionName=retention)
    assert "Reserved for no execution" not in found()[1]
    done("where --back has led aliases, and which functions a restore has stopped, is told as such")


def tags_reach_resources():
    filters = [{"Key": "service", "Values": ["interviews"]}, {"Key": "environment", "Values": ["local"]}]
    pages = boto3.client("resourcegroupstaggingapi").get_paginator("get_resources").paginate(TagFilters=filters)
    tagged = [resource["ResourceARN"] for page in pages for resource in page["ResourceTagMappingList"]]
    services = {arn.split(":")[2] for arn in tagged}
    missing = {"dynamodb", "events", "lambda", "sns", "sqs"} - services
    assert not missing, f"no tags on resources of {missing}"
    done(f"{len(tagged)} resources of {STACK} have the tags of the service and of the environment")
