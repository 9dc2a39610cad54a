"""The main story through the containers of localstack/compose.yaml, then a second `up` and a new service container.

Run by `tests/run compose`. Needs Docker with Compose, and the ports 4566 and 8080.
"""

import re
import subprocess
import urllib.error
import urllib.request

from story import done

from localstack import Api, data_is_kept, main_story

# Separate from the developer's own containers, with images and volumes of its own.
COMPOSE = ["docker", "compose", "--file", "localstack/compose.yaml", "--project-name", "interviews-test"]
ORIGIN = "http://localhost:8080"
LOGIN = re.compile(r"Login +company demo, user (\S+), password (\S+)$", re.MULTILINE)


def compose(*command):
    return subprocess.run([*COMPOSE, *command], check=True, text=True, stdout=subprocess.PIPE).stdout


def up(*options):
    compose("up", "--detach", "--wait", *options)


def owner():
    """The owner whose login the service has printed last."""
    username, password = LOGIN.findall(compose("logs", "--no-log-prefix", "service"))[-1]
    return Api(f"{ORIGIN}/api/v3").log_in("demo", username, password)


def service_runs_without_root():
    user = compose("exec", "service", "id", "--user").strip()
    assert user != "0", user
    request = urllib.request.Request(f"{ORIGIN}/_local/mails", headers={"Host": "interviews.example"})
    try:
        urllib.request.urlopen(request).close()
        raise AssertionError("another host is answered")
    except urllib.error.HTTPError as refusal:
        assert refusal.code == 421, refusal.code
    done("the service runs as a user other than root, and answers for localhost alone")


def main():
    try:
        up("--build")
        done("LocalStack and the service are healthy, and the data stack is deployed")
        first = owner()
        service_runs_without_root()
        main_story(Api(first.base), first)
        up()
        data_is_kept(first)
        done("a second `up` deploys the data stack again and keeps the data")
        up("--force-recreate", "--no-deps", "service")
        data_is_kept(owner())
        done("a new container of the service finds the data")
    except BaseException:
        print(compose("logs", "--tail", "40"))
        raise
    finally:
        compose("down", "--volumes", "--timeout", "5")


if __name__ == "__main__":
    main()
