"""A proxy between clients and a server of S3 that loses commits: it understands where requests end, and decides for each PUT of a commit
file (_delta_log/N.json) by itself whether the request, or the answer to it, gets lost. Everything else passes. Standard library only.

What becomes of a PUT of a commit file, at random by a seed, the file's name and how often it was tried:

    before the effect    dropped   the request was received, and the connection ends
                         cut       the connection is reset in the middle of the request
    after the effect     silent    the connection ends without an answer
                         reset     … by a reset
                         torn      … in the middle of the answer
                         masked    the answer is a 500
                         late      the connection ends first; the request gets to the server some time later, or when it is tried again

Of each file it is known how often the server said that it was created by a request (owners), and what was lost (losses).
"""
import collections
import http.client
import random
import re
import socket
import socketserver
import struct
import threading
import time

COMMIT = re.compile(r"/_delta_log/\d{20}\.json$")
BEFORE = ("dropped", "cut")
AFTER = ("silent", "reset", "torn", "masked", "late")
LONGEST_DELAY = 0.4  # seconds; the pause before silt tries again is 50 ms on average
MAX_HEAD = 1 << 16
DENIED = b'<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>no</Message></Error>'
BROKEN = b'<?xml version="1.0"?><Error><Code>InternalError</Code><Message>try again</Message></Error>'


class Gone(Exception):
    """The client's connection is at its end."""


class Request:
    def __init__(self, method, target, fields, body):
        self.method, self.target, self.fields, self.body = method, target, fields, body

    @property
    def path(self):
        return self.target.partition("?")[0]

    @property
    def is_commit(self):
        return self.method == "PUT" and COMMIT.search(self.path) is not None


class Reply:
    def __init__(self, code, reason, fields, body):
        self.code, self.reason, self.fields, self.body = code, reason, fields, body

    def bytes(self):
        fields = [(name, value) for name, value in self.fields if name.lower() not in ("transfer-encoding", "connection")]
        if not any(name.lower() == "content-length" for name, _ in fields) and self.code != 204:
            fields.append(("Content-Length", str(len(self.body))))
        head = [f"HTTP/1.1 {self.code} {self.reason}"] + [f"{name}: {value}" for name, value in fields]
        return ("\r\n".join(head) + "\r\n\r\n").encode("latin-1") + self.body


class Lossy:
    """Listens on a free port of 127.0.0.1 as long as it is open: with Lossy(port, seed) as proxy. Any thread."""

    def __init__(self, upstream, seed=0, before=0.0, after=0.0):
        self.upstream, self.seed, self.before, self.after = upstream, seed, before, after
        self.lock = threading.Lock()
        self.tries = collections.Counter()  # of a commit file
        self.owners = collections.Counter()  # how often the server created it
        self.losses = collections.Counter()  # by kind
        self.lost_creations = 0  # answers that were lost and said "created"
        self.lost_requests = 0  # requests that were lost while the file was not there
        self.stragglers = []

    # ---- what callers use ----

    def __enter__(self):
        proxy = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                Client(proxy, self.request).serve()

        class Listener(socketserver.ThreadingTCPServer):
            allow_reuse_address, daemon_threads, request_queue_size = True, True, 256

            def handle_error(self, request, client_address):
                raise  # pylint: disable=misplaced-bare-raise

        self.listener = Listener(("127.0.0.1", 0), Handler)
        self.port = self.listener.server_address[1]
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()
        return self

    def __exit__(self, kind, error, trace):
        self.listener.shutdown()
        self.listener.server_close()
        self.settle()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def settle(self):
        """Returns when nothing that was sent is still on its way."""
        while self.stragglers:
            self.stragglers.pop().join()

    # ---- what becomes of a request ----

    def fate(self, request):
        """None, or how this one gets lost."""
        with self.lock:
            self.tries[request.path] += 1
            chance = random.Random(f"{self.seed} {request.path} {self.tries[request.path]}")
        draw = chance.random()
        if draw < self.before:
            return chance.choice(BEFORE)
        if draw < self.before + self.after:
            return chance.choice(AFTER)
        return None

    def refuses(self, request):  # pylint: disable=unused-argument
        """Whether the request is answered that access is denied, or with this code. For proxies of other kinds."""
        return False

    def note_loss(self, kind, request, reply=None):
        with self.lock:
            self.losses[kind] += 1
            if reply is not None and reply.code == 200:
                self.lost_creations += 1
            if kind in BEFORE and self.owners[request.path] == 0:
                self.lost_requests += 1

    def note_reply(self, request, reply):
        if request.is_commit and reply.code == 200:
            with self.lock:
                self.owners[request.path] += 1

    def pass_on(self, connection, request):
        connection.putrequest(request.method, request.target, skip_host=True, skip_accept_encoding=True)
        for name, value in request.fields:
            connection.putheader(name, value)
        connection.endheaders(request.body)
        answer = connection.getresponse()
        reply = Reply(answer.status, answer.reason, answer.getheaders(), answer.read())
        self.note_reply(request, reply)
        return reply

    def deliver_late(self, request):
        def work():
            time.sleep(random.Random(f"{self.seed} late {request.path}").random() * LONGEST_DELAY)
            connection = http.client.HTTPConnection("127.0.0.1", self.upstream, timeout=60)
            self.note_loss("late", request, self.pass_on(connection, request))
            connection.close()

        thread = threading.Thread(target=work)
        thread.start()
        self.stragglers.append(thread)


class Client:
    """One connection of a client."""

    def __init__(self, proxy, sock):
        self.proxy, self.sock, self.pending = proxy, sock, b""
        self.server = None

    def receive(self):
        data = self.sock.recv(1 << 16)
        if not data:
            raise Gone
        self.pending += data

    def read_head(self):
        while b"\r\n\r\n" not in self.pending:
            if len(self.pending) > MAX_HEAD:
                raise Gone
            self.receive()
        head, _, self.pending = self.pending.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ", 2)
        fields = [tuple(part.strip() for part in line.split(":", 1)) for line in lines[1:]]
        return Request(method, target, fields, b"")

    def read_body(self, request):
        sizes = [value for name, value in request.fields if name.lower() == "content-length"]
        size = int(sizes[0]) if sizes else 0
        while len(self.pending) < size:
            self.receive()
        request.body, self.pending = self.pending[:size], self.pending[size:]

    def reset(self):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()
        raise Gone

    def say(self, code, body):
        self.sock.sendall(Reply(code, "Said", [("Content-Type", "application/xml")], body).bytes())

    def forward(self, request):
        if self.server is None:
            self.server = http.client.HTTPConnection("127.0.0.1", self.proxy.upstream, timeout=60)
        return self.proxy.pass_on(self.server, request)

    def lose(self, request, kind):
        if kind == "late":
            self.proxy.deliver_late(request)
            raise Gone
        if kind in BEFORE:
            self.proxy.note_loss(kind, request)
            raise Gone  # "cut" was seen to before
        reply = self.forward(request)
        self.proxy.note_loss(kind, request, reply)
        if kind == "masked":
            self.say(500, BROKEN)
            return
        if kind == "torn":
            whole = reply.bytes()
            self.sock.sendall(whole[: len(whole) // 3])
        if kind == "reset":
            self.reset()
        raise Gone

    def serve_one(self):
        request = self.read_head()
        kind = self.proxy.fate(request) if request.is_commit else None
        if kind == "cut":
            self.proxy.note_loss(kind, request)
            self.reset()
        self.read_body(request)
        refused = self.proxy.refuses(request)
        if refused:
            code = 403 if refused is True else refused
            self.say(code, b"" if request.method == "HEAD" else DENIED if code == 403 else BROKEN)
        elif kind is not None:
            self.lose(request, kind)
        else:
            self.sock.sendall(self.forward(request).bytes())

    def serve(self):
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while True:
                self.serve_one()
        except (Gone, OSError, http.client.HTTPException):
            pass  # the client sees an end of the connection, which is one more loss
        finally:
            if self.server is not None:
                self.server.close()
