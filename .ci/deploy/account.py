"""What an AWS account needs for the stack to work in it, and what to do if it lacks it."""

from typing import NamedTuple

import boto3
from reservations import reservations

# Lambda leaves this many executions to functions that reserve none.
UNRESERVED = 100
# CloudWatch's quotas: resource policies per region, and characters of one.
POLICIES, POLICY_LENGTH = 10, 5120
# The policy to which API Gateway adds a log group that it may not write to yet, and about how much it adds.
DELIVERY, STATEMENT = "AWSLogDeliveryWrite20150319", 400

SENDER_IS_PENDING = """\
Add the DKIM records of `aws sesv2 get-email-identity --email-identity {}` to the DNS, or open the link in SES's mail."""
SENDER_IS_UNKNOWN = """\
Run `aws sesv2 create-email-identity --email-identity {}` and add the DKIM records that it returns to the DNS, or set
another MailSender."""
PAUSED = """\
SES's console gives the reason under Reputation metrics."""
SANDBOX = """\
Run `aws sesv2 put-account-details --production-access-enabled --mail-type TRANSACTIONAL --website-url URL
--use-case-description TEXT` and wait for AWS's answer."""
QUOTA = """\
Run `aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000`,
or set ReserveConcurrency=false until you have it."""
TOO_MANY_POLICIES = """\
Delete one that is not needed: `aws logs describe-resource-policies`, `aws logs delete-resource-policy
--policy-name NAME`."""
POLICY_IS_FULL = """\
Take out the log groups that are gone: `aws logs put-resource-policy --policy-name {} --policy-document file://POLICY`."""


class Problem(NamedTuple):
    """Something that the account lacks."""

    what: str
    remedy: str
    # Whether the stack must not be deployed before it is solved.
    is_fatal: bool = True


def problems(parameters, template):
    """The problems of the account with these parameters of the template."""
    yield from sender(parameters["MailSender"])
    # A stack with alarms has users.
    yield from sending(is_depended_on=bool(parameters.get("AlarmEmail")))
    if reserved := reservations(template, parameters):
        yield from concurrency(sum(reserved.values()))
    yield from log_policies()


def sender(address):
    """SES sends from an address that it has verified, or whose domain or parent domain it has."""
    ses = boto3.client("sesv2")
    domain = address.partition("@")[2]
    labels = domain.split(".")
    pending = None
    for identity in [address, *(".".join(labels[first:]) for first in range(len(labels) - 1))]:
        try:
            if ses.get_email_identity(EmailIdentity=identity)["VerifiedForSendingStatus"]:
                return
            pending = identity
        except ses.exceptions.NotFoundException:
            continue
    if pending:
        yield Problem(f"SES has not verified {pending} yet", SENDER_IS_PENDING.format(pending))
    else:
        yield Problem(f"SES does not know the sender {address}", SENDER_IS_UNKNOWN.format(domain))


def sending(is_depended_on):
    ses = boto3.client("sesv2").get_account()
    if not ses["SendingEnabled"]:
        yield Problem("SES has paused sending for this account", PAUSED, is_depended_on)
    if not ses["ProductionAccessEnabled"]:
        yield Problem("SES is in the sandbox and sends to verified addresses only", SANDBOX, is_depended_on)


def concurrency(reserved):
    needed = UNRESERVED + reserved
    quota = boto3.client("lambda").get_account_settings()["AccountLimit"]["ConcurrentExecutions"]
    if quota < needed:
        yield Problem(f"Lambda's quota of {quota} concurrent executions is below the {needed} that the stack needs", QUOTA)


def log_policies():
    """The access log needs a resource policy that lets API Gateway write to it."""
    found = boto3.client("logs").describe_resource_policies(limit=POLICIES)["resourcePolicies"]
    documents = {policy["policyName"]: policy["policyDocument"] for policy in found}
    if any("/aws/vendedlogs/" in document for document in documents.values()):
        return
    if DELIVERY not in documents and len(documents) >= POLICIES:
        yield Problem(f"CloudWatch Logs has {POLICIES} resource policies; the access log needs another", TOO_MANY_POLICIES)
    if len(documents.get(DELIVERY, "")) + STATEMENT > POLICY_LENGTH:
        yield Problem(f"The resource policy {DELIVERY} of CloudWatch Logs is full", POLICY_IS_FULL.format(DELIVERY))
