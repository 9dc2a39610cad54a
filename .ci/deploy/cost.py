"""What an environment costs per month without any traffic, at the public prices of us-east-1."""

import json
import pathlib

from cfnlint.decode.cfn_yaml import loads

# Dollars per month and piece: https://aws.amazon.com/cloudwatch/pricing/, https://aws.amazon.com/secrets-manager/pricing/.
ALARM_METRIC, METRIC, DASHBOARD, SECRET = 0.10, 0.30, 3.00, 0.40
# Metrics without dimensions: cold_start, lag_seconds, numbering_lag_seconds, index_lag_seconds, webhook_delay_seconds,
# unreadable_items, EventFailures and GatewayThrottles.
SINGLE_METRICS = 8
# Every five minutes, at 0.10 dollars per 1,000.
PROBE_MAILS, MAIL = 30 * 24 * 12, 0.0001
OPERATIONS = ("get", "post", "put", "patch", "delete")


def rows(parameters):
    """(what, dollars per month) of an environment with these parameters of the template."""
    template = json.loads(json.dumps(loads(pathlib.Path("template.yaml").read_text(encoding="utf-8"))))
    resources = template["Resources"].values()
    secrets = sum(resource["Type"] == "AWS::SecretsManager::Secret" for resource in resources)
    yield f"{secrets} secret", secrets * SECRET
    if not parameters.get("AlarmEmail"):
        return
    alarms = [resource["Properties"] for resource in resources if resource["Type"] == "AWS::CloudWatch::Alarm"]
    metrics = sum(sum("MetricStat" in metric for metric in alarm.get("Metrics", [])) or 1 for alarm in alarms)
    yield f"{len(alarms)} alarms of {metrics} metrics", metrics * ALARM_METRIC
    document = json.loads(pathlib.Path("functions/docs/openapi.json").read_text(encoding="utf-8"))
    routes = sum(method in OPERATIONS for path in document["paths"].values() for method in path)
    metrics = routes + SINGLE_METRICS
    yield f"up to {routes} latencies by method and route, and {SINGLE_METRICS} other metrics", metrics * METRIC
    yield "the dashboard, unless it is among the account's first three", DASHBOARD
    yield f"{PROBE_MAILS:,} mails of the probe to SES's simulator", PROBE_MAILS * MAIL


def show(parameters):
    total = 0
    for what, dollars in rows(parameters):
        print(f"{dollars:7.2f}  {what}")
        total += dollars
    print(f"{total:7.2f}  dollars per month")
