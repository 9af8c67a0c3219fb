"""A proxy before a server of tests, which counts requests and can hold them up or end a process at one of them. Standard library only.

    with Proxy(server.port, delay=0.03) as proxy:
        ... proxy.port ...
        proxy.log       # what was asked, in order of arrival: Asked(label, begin, end)
        rounds(proxy.log)  # how many of them had to wait for one another

    proxy.hook = lambda label: True      # called after a request was obeyed and before it is answered; True: no answer

Label: "PUT /bucket/key", "LIST prefix", or the operation's name for DynamoDB.
"""
import http.client
import http.server
import threading
import time
import urllib.parse
from typing import NamedTuple


class Asked(NamedTuple):
    label: str
    begin: float
    end: float


def label_of(method, target, headers):
    operation = headers.get("X-Amz-Target")
    if operation:
        return operation.split(".")[-1]
    path, _, query = target.partition("?")
    if "list-type=2" in query:
        return "LIST " + urllib.parse.parse_qs(query).get("prefix", [""])[0]
    return f"{method} {urllib.parse.unquote(path)}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    proxy = None

    def log_message(self, *_):
        """Quiet."""

    def forward(self):
        begin = time.monotonic()
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        label = label_of(self.command, self.path, self.headers)
        time.sleep(self.proxy.delay)
        upstream = http.client.HTTPConnection("127.0.0.1", self.proxy.upstream, timeout=60)
        try:
            upstream.request(self.command, self.path, body=body, headers=dict(self.headers.items()))
            answer = upstream.getresponse()
            data = answer.read()
        finally:
            upstream.close()
        if self.proxy.hook is not None and self.proxy.hook(label):
            self.close_connection = True
            return
        self.proxy.note(Asked(label, begin, time.monotonic()))
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                self.send_header(name, value)
        length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(data))
        if answer.status != 204:
            self.send_header("Content-Length", length or "0")
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = forward


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that was killed is no news."""


class Proxy:
    def __init__(self, upstream, delay=0.0):
        self.upstream, self.delay, self.hook = upstream, delay, None
        self.lock, self.log = threading.Lock(), []
        self.server = None

    @property
    def port(self):
        return self.server.server_address[1]

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def note(self, asked):
        with self.lock:
            self.log.append(asked)

    def __enter__(self):
        handler = type("Bound", (Handler,), {"proxy": self})
        self.server = Server(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def rounds(asked):
    """The longest chain of requests of which each began after the one before had been answered."""
    chain, end = 0, float("-inf")
    for one in sorted(asked, key=lambda one: one.end):
        if one.begin >= end:
            chain, end = chain + 1, one.end
    return chain
