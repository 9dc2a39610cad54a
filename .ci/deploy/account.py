"""What an AWS account needs for the stack to work in it, and what to do if it lacks it."""

import boto3
import stacks
from problems import Problem
from reservations import reservations

# Lambda leaves this many executions to functions that reserve none.
UNRESERVED = 100
# CloudWatch's quotas: resource policies per region, and characters of one.
POLICIES, POLICY_LENGTH = 10, 5120
# The policy to which API Gateway adds a log group that it may not write to yet, and about how much it adds.
DELIVERY, STATEMENT = "AWSLogDeliveryWrite20150319", 400
# From this share of SES's quota on, the operator should ask for more.
MUCH_OF_QUOTA = 0.8

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
SENDING_QUOTA = """\
Run `aws service-quotas request-service-quota-increase --service-code ses --quota-code L-804C8AE8 --desired-value MAILS`."""
CERTIFICATE_IS_ELSEWHERE = """\
Request it there: `aws acm request-certificate --region {} --validation-method DNS --domain-name {}`."""
CERTIFICATE_IS_NOT_ISSUED = """\
If it is pending, add the record of `aws acm describe-certificate --region {} --certificate-arn {}` to the DNS."""
CERTIFICATE_HAS_OTHER_NAMES = """\
It is for {}. Request one for {}."""
ZONE_IS_ANOTHER = """\
`aws route53 list-hosted-zones` lists those of the account; without HostedZoneId, add the name to the DNS yourself."""
QUOTA = """\
Run `aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000`,
or set ReserveConcurrency=false until you have it."""
TOO_MANY_POLICIES = """\
Delete one that is not needed: `aws logs describe-resource-policies`, `aws logs delete-resource-policy
--policy-name NAME`."""
POLICY_IS_FULL = """\
Take out the log groups that are gone: `aws logs put-resource-policy --policy-name {} --policy-document file://POLICY`."""


def problems(parameters, template, environment):
    """The problems of the account with these parameters of the template."""
    yield from sender(parameters["MailSender"])
    # A stack with alarms has users.
    yield from sending(is_depended_on=bool(parameters.get("AlarmEmail")))
    if reserved := reservations(template, parameters):
        yield from concurrency(environment.stack, sum(reserved.values()))
    yield from log_policies()
    if host := parameters.get("DomainName"):
        region = "us-east-1" if parameters.get("WebAclArn") else environment.region
        yield from certificate(parameters.get("CertificateArn", ""), host, region)
        if zone := parameters.get("HostedZoneId"):
            yield from hosted_zone(zone, host)


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
    quota = ses["SendQuota"]
    # -1 stands for none.
    if 0 <= quota["Max24HourSend"] * MUCH_OF_QUOTA <= quota["SentLast24Hours"]:
        used = f"{quota['SentLast24Hours']:.0f} of {quota['Max24HourSend']:.0f} mails"
        yield Problem(f"SES has sent {used} that it sends in 24 hours; more wait in the outbox", SENDING_QUOTA, False)


def concurrency(stack, reserved):
    functions = boto3.client("lambda")
    unreserved = functions.get_account_settings()["AccountLimit"]["UnreservedConcurrentExecutions"]
    names = stacks.resources(stack, "AWS::Lambda::Function") if stacks.describe(stack) else []
    settings = (functions.get_function_concurrency(FunctionName=name) for name in names)
    available = unreserved + sum(setting.get("ReservedConcurrentExecutions", 0) for setting in settings)
    needed = UNRESERVED + reserved
    if available < needed:
        free = f"Lambda has {available} concurrent executions that no other function of the account reserves"
        yield Problem(f"{free}; the stack needs {needed}", QUOTA)


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


def certificate(arn, host, region):
    if arn.split(":")[3:4] != [region]:
        remedy = CERTIFICATE_IS_ELSEWHERE.format(region, host)
        yield Problem(f"The certificate of {host} must be in {region}: CertificateArn is '{arn}'", remedy)
        return
    acm = boto3.client("acm", region_name=region)
    try:
        found = acm.describe_certificate(CertificateArn=arn)["Certificate"]
    except acm.exceptions.ResourceNotFoundException:
        yield Problem(f"There is no certificate {arn}", CERTIFICATE_IS_ELSEWHERE.format(region, host))
        return
    if found["Status"] != "ISSUED":
        remedy = CERTIFICATE_IS_NOT_ISSUED.format(region, arn)
        yield Problem(f"The certificate of {host} is {found['Status']} instead of ISSUED", remedy)
    names = {found["DomainName"], *found.get("SubjectAlternativeNames", [])}
    if not names & {host, f"*.{host.partition('.')[2]}"}:
        remedy = CERTIFICATE_HAS_OTHER_NAMES.format(", ".join(sorted(names)), host)
        yield Problem(f"The certificate {arn} is not for {host}", remedy)


def hosted_zone(identifier, host):
    route53 = boto3.client("route53")
    try:
        zone = route53.get_hosted_zone(Id=identifier)["HostedZone"]["Name"].rstrip(".")
    except route53.exceptions.NoSuchHostedZone:
        yield Problem(f"There is no hosted zone {identifier}", ZONE_IS_ANOTHER)
        return
    if not f".{host}".endswith(f".{zone}"):
        yield Problem(f"The hosted zone {identifier} is for {zone}, and not for {host}", ZONE_IS_ANOTHER)
