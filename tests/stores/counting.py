"""A proxy between a client and an HTTP server on this machine that counts: requests, bytes of answers' bodies, and rounds.

    with CountingProxy(port_of_server, latency_s=0.03) as proxy:
        ...  # a client asks 127.0.0.1:proxy.port
        seen = proxy.take()   # list of Seen; forgets them
        rounds(seen)

Each answer begins at least `latency_s` after its request was complete, as if the server were far away; requests that are under way at
the same time wait together. Standard library only. Threads of the caller's process; no HTTP/2, no TLS.

*Rounds* (serial depth): the length of the longest chain of requests of which each began after the one before had been answered whole.
Requests that a client makes without waiting for each other are one round as long as it makes them within the latency, so a latency
of 0 says nothing, and a busy machine needs a long one.
"""
import collections
import socket
import threading
import time

PIECE = 256 << 10
MAX_HEAD = 1 << 20

# target: path and query; begin: when the first byte of the request came; end: when the last one of the answer was passed on.
Seen = collections.namedtuple("Seen", "begin end method target range status bytes")


class Gone(Exception):
    """One side closed the connection."""


class Side:
    """One end of a connection, read with a buffer."""

    def __init__(self, sock):
        self.sock = sock
        self.buffer = bytearray()
        self.sent = 0.0  # just before the last bytes went out: who answers to them does so later
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, data):
        self.sent = time.monotonic()
        self.sock.sendall(data)

    def more(self, size=65536):
        data = self.sock.recv(size)
        if not data:
            raise Gone
        return data

    def wait(self):
        """Until the next message begins."""
        if not self.buffer:
            self.buffer += self.more()

    def head(self):
        """(first line, fields in lower case, the bytes)."""
        while (end := self.buffer.find(b"\r\n\r\n")) < 0:
            if len(self.buffer) > MAX_HEAD:
                raise Gone
            self.buffer += self.more()
        raw = bytes(self.buffer[: end + 4])
        del self.buffer[: end + 4]
        first, *lines = raw.decode("latin-1").split("\r\n")
        fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        return first, fields, raw

    def pass_bytes(self, other, size):
        """Hands on exactly so many bytes, or all up to the end with None; how many there were."""
        passed = 0
        while size is None or passed < size:
            if self.buffer:
                data = bytes(self.buffer if size is None else self.buffer[: size - passed])
                del self.buffer[: len(data)]
            else:
                try:
                    data = self.more(PIECE if size is None else min(PIECE, size - passed))
                except Gone:
                    if size is None:
                        return passed
                    raise
            other.send(data)
            passed += len(data)
        return passed

    def line(self):
        while (end := self.buffer.find(b"\r\n")) < 0:
            self.buffer += self.more()
        raw = bytes(self.buffer[: end + 2])
        del self.buffer[: end + 2]
        return raw

    def pass_chunks(self, other):
        passed = 0
        while True:
            raw = self.line()
            other.send(raw)
            size = int(raw.split(b";")[0], 16)
            if size == 0:
                while (raw := self.line()) != b"\r\n":
                    other.send(raw)
                other.send(raw)
                return passed
            passed += self.pass_bytes(other, size)
            other.send(self.line())


def without_field(raw, name):
    lines = raw.split(b"\r\n")
    return b"\r\n".join(line for line in lines if not line.lower().startswith(name + b":"))


def pass_body(source, target, fields):
    if "chunked" in fields.get("transfer-encoding", "").lower():
        return source.pass_chunks(target)
    return source.pass_bytes(target, int(fields.get("content-length") or 0))


class CountingProxy:
    def __init__(self, port, latency_s=0.0):
        self.upstream = port
        self.latency_s = latency_s
        self.lock = threading.Lock()
        self.seen = []
        self.connections = 0
        self.listener = None
        self.port = 0

    def __enter__(self):
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(512)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def take(self):
        """What was answered since the last time, in the order of the answers' ends."""
        with self.lock:
            seen, self.seen = self.seen, []
        return seen

    def _accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                self.connections += 1
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        try:
            with sock, socket.create_connection(("127.0.0.1", self.upstream)) as other:
                client, server = Side(sock), Side(other)
                while self._exchange(client, server):
                    pass
        except (Gone, OSError, ValueError):
            pass

    def _exchange(self, client, server):
        client.wait()
        begin = time.monotonic()
        first, fields, raw = client.head()
        method, target, _ = first.split(" ", 2)
        if fields.get("expect", "").lower() == "100-continue":
            client.send(b"HTTP/1.1 100 Continue\r\n\r\n")
            raw = without_field(raw, b"expect")
        server.send(raw)
        pass_body(client, server, fields)
        due = time.monotonic() + self.latency_s
        status, answer, raw = server.head()
        code = int(status.split(" ", 2)[1])
        time.sleep(max(0.0, due - time.monotonic()))
        client.send(raw)
        keeps = answer.get("connection", "").lower() != "close"
        passed = 0
        if method != "HEAD" and code not in (204, 304):
            if "content-length" in answer or "transfer-encoding" in answer:
                passed = pass_body(server, client, answer)
            else:
                passed = server.pass_bytes(client, None)
                keeps = False
        with self.lock:
            self.seen.append(Seen(begin, client.sent, method, target, fields.get("range", ""), code, passed))
        return keeps


def rounds(seen):
    """The longest chain of requests that waited for each other."""
    longest, last = 0, float("-inf")
    for one in sorted(seen, key=lambda one: one.end):
        if one.begin >= last:
            longest, last = longest + 1, one.end
    return longest


def tell(seen):
    """One line a request, for people."""
    start = min((one.begin for one in seen), default=0)
    return "\n".join(
        f"{(one.begin - start) * 1000:8.1f} {(one.end - start) * 1000:8.1f} {one.status} {one.method:6} {one.bytes:9} {one.range:24} {one.target}"
        for one in sorted(seen))
