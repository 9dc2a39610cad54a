"""A receiver of webhooks on this computer."""

from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from threading import Thread

SIGNED = ("webhook-id", "webhook-timestamp", "webhook-signature")


@contextmanager
def receiving():
    """The address of a receiver that accepts everything, and a queue of the signed headers and bodies that it gets."""
    deliveries = Queue()

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            deliveries.put(({name: self.headers[name] for name in SIGNED}, body))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", deliveries
    finally:
        server.shutdown()
