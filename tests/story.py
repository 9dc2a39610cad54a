"""What the stories have in common: how they go on, and the files that they upload."""

import base64
import hashlib
import pathlib
import struct
import subprocess
import tempfile
import time
import urllib.request
import zlib

# Schedules come once a minute, and may miss what has just become due.
PATIENCE = 150


def eventually(what):
    """What `what` gives as soon as that is something."""
    until = time.monotonic() + PATIENCE
    while True:
        found = what()
        if found:
            return found
        assert time.monotonic() < until, "what is waited for has not come"
        time.sleep(0.5)


def done(what):
    """Says that a part of the story has gone as it should."""
    print(f"ok  {what}", flush=True)


def png(pixel=b"\0\0\0"):
    """A picture of one pixel."""
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" + pixel)) + chunk(b"IEND", b"")


def film(picture="testsrc=duration=1:size=320x240:rate=10"):
    """A second of a test picture, 320 by 240, or another picture, as QuickTime."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "welcome.mov")
        subprocess.run(["ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", picture, file], check=True)
        return file.read_bytes()


def put(announced, data):
    """Uploads a file as the answer to its announcement says."""
    upload = announced["upload"]
    request = urllib.request.Request(upload["url"], data, upload["headers"], method=upload["method"])
    urllib.request.urlopen(request).close()


def take_is_recorded(candidate, uri, question, recording):
    """A candidate records the answer to a question in two parts, each of which is stored once. Returns the addresses of the
    answer and the take."""
    answer = f"{uri}answers/{question.rstrip('/').rsplit('/', 1)[1]}/"
    take = candidate.post(answer + "takes/", {})["resource_uri"]
    middle = len(recording) // 2
    for number, part in enumerate((recording[:middle], recording[middle:]), start=1):
        digest = base64.b64encode(hashlib.sha256(part).digest()).decode()
        described = {"number": number, "size": len(part), "sha256": digest}
        signed = candidate.expect(200, "POST", take + "parts/", {"parts": [described]})
        put(signed["parts"][0], part)
    finished = candidate.patch(take, {"parts": 2, "recorded_seconds": 2})
    assert (finished["status"], finished["missing_parts"]) == ("pending", []), finished
    return answer, take


def answer_is_recorded(owner, candidate, uri, question):
    """A candidate records the answer to a question, after a file that would cost too much, and its staff watch it."""
    huge = film("color=duration=0.004:size=7680x4320:rate=250")
    answer, _ = take_is_recorded(candidate, uri, question, huge)
    eventually(lambda: owner.get(answer)["status"] == "failed")
    error = owner.get(answer)["error"]
    assert error == "The dimensions of this video are not supported.", error
    done("an answer with huge frames is refused, and the take is given back")
    take_is_recorded(candidate, uri, question, film())
    done("a candidate records an answer, which is sent in parts")
    eventually(lambda: owner.get(answer)["status"] == "successful")
    shown = owner.get(answer)
    assert shown["dimensions"] == {"width": 320, "height": 240}, shown
    done("it is converted")
    return shown


def video_is_converted(owner, company, project):
    """What the video that the project shows in the end looks like to its owner."""
    welcome = film()
    announcement = {"name": "Welcome", "upload_filename": "welcome.mov", "content_type": "video/quicktime"}
    announced = owner.post(f"/companies/{company}/videos/", announcement | {"size": len(welcome)})
    put(announced, welcome)
    video = announced["resource_uri"]
    eventually(lambda: owner.get(video)["video_conversion_status"] == "successful")
    owner.patch(project, {"videos": [{"uri": video, "position": 1}]})
    shown = owner.get(video)
    assert shown["dimensions"] == {"width": 320, "height": 240}, shown
    done("a video that is put into the bucket is converted, and shown by the project")
    return shown
