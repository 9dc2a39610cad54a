"""Starts LocalStack in this process, bound to 127.0.0.1, with DynamoDB at DYNAMODB_LOCAL_PORT instead of one of its own."""

import functools
import threading

from localstack.runtime.main import main
from localstack.services.dynamodb.server import DynamodbServer
from localstack.services.dynamodbstreams.v2.provider import DynamoDBStreamsProvider
from localstack.utils.threads import FuncThread
from twisted.internet import endpoints


def wait_for_the_end(server):
    """In place of DynamoDB Local, a program in Java that is downloaded from elsewhere than a package registry."""
    thread = FuncThread(lambda *_: threading.Event().wait(), name="dynamodb", daemon=True)
    thread.start()
    return thread


def name_for_dynamodb(provider, name, rename=DynamoDBStreamsProvider.modify_stream_arn_for_ddb_local):
    """What is read next in a stream, DynamoDB Local calls by a name that begins with the stream's, others do not."""
    return rename(provider, name) if name.startswith("arn:") else name


# LocalStack uses only the port of GATEWAY_LISTEN.
endpoints.TCP4ServerEndpoint = functools.partial(endpoints.TCP4ServerEndpoint, interface="127.0.0.1")
DynamoDBStreamsProvider.modify_stream_arn_for_ddb_local = name_for_dynamodb
DynamodbServer.do_start_thread = wait_for_the_end
main()
