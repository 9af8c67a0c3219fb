"""A small server that speaks enough of S3 for a table to be read, and makes trouble when it is told to."""
import contextlib
import http.server
import os
import re
import threading
import urllib.parse

NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"


class Bucket(http.server.BaseHTTPRequestHandler):
    """A folder as a bucket, to read. What becomes of parts of data files, but for their ends, is said by the trouble."""
    protocol_version = "HTTP/1.1"
    root = ""
    # "hang": they never come; "deny": the server refuses them; "hang all": nothing is answered, ends and logs neither; "damage": the next n_damaged of
    # them have the right length and zeros for bytes, "damage ends": ends of data files do; "gone": there is no data file, "gone parts": none any more once its end was read; "whole ends": an end of a
    # data file is answered as if it were all of it (200), "no ends": as if it were empty (416); "forbid NAME": whatever has that in its key is
    # refused, "break NAME": answered 400
    trouble = None
    n_damaged = 1
    seen = None  # (name, range) of what was asked of data files
    asked = None
    over = None
    n_asked = 0

    def log_message(self, *_):
        """Quiet."""

    def answer(self, code, body, **headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        with contextlib.suppress(OSError):  # who asked may be gone
            self.end_headers()
            self.wfile.write(body)

    def list(self, prefix):
        folder = os.path.join(self.root, prefix)
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        items = "".join(f"<Contents><Key>{prefix}{name}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
                        f"<Size>{os.path.getsize(os.path.join(folder, name))}</Size></Contents>"
                        for name in names if os.path.isfile(os.path.join(folder, name)))
        self.answer(200, f'<ListBucketResult xmlns="{NAMESPACE}"><IsTruncated>false</IsTruncated>{items}'
                         "</ListBucketResult>".encode(), Content_Type="application/xml")

    def refuses(self, key):
        how, _, name = (self.trouble or "").partition(" ")
        if how not in ("forbid", "break") or name not in key:
            return False
        code, word = (403, "AccessDenied") if how == "forbid" else (400, "BadDigest")
        self.answer(code, b"" if self.command == "HEAD" else f"<Error><Code>{word}</Code></Error>".encode(), Content_Type="application/xml")
        return True

    def do_HEAD(self):  # pylint: disable=invalid-name
        if self.refuses(self.path):
            return
        path = os.path.join(self.root, urllib.parse.unquote(self.path).removeprefix("/bucket/"))
        self.send_response(200 if os.path.isfile(path) else 404)
        self.send_header("Content-Length", str(os.path.getsize(path) if os.path.isfile(path) else 0))
        self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
        self.send_header("ETag", '"v1"')
        self.end_headers()

    def do_GET(self):  # pylint: disable=invalid-name
        url = urllib.parse.urlsplit(self.path)
        type(self).n_asked += 1
        if self.trouble == "hang all":
            self.asked.set()
            self.over.wait()
        key = urllib.parse.unquote(url.path).removeprefix("/bucket").removeprefix("/")
        if not key:
            self.list(urllib.parse.parse_qs(url.query).get("prefix", [""])[0])
            return
        path = os.path.join(self.root, key)
        if self.refuses(key):
            return
        if not os.path.isfile(path):
            self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>", Content_Type="application/xml")
            return
        with open(path, "rb") as file:
            data = file.read()
        asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if not asked:
            self.answer(200, data, ETag='"v1"')
            return
        begin, end = asked.groups()
        if key.endswith(".parquet"):
            self.seen.append((key, self.headers["Range"]))
            if self.trouble == ("damage" if begin else "damage ends") and self.n_damaged > 0:
                type(self).n_damaged -= 1
                data = bytes(len(data))
            if self.trouble == "gone" or (self.trouble == "gone parts" and begin):
                self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>", Content_Type="application/xml")
                return
            if self.trouble == "whole ends" and not begin:
                self.answer(200, data[-int(end):], ETag='"v1"')
                return
            if self.trouble == "no ends" and not begin:
                self.answer(416, b"", Content_Range="bytes */0")
                return
        if key.endswith(".parquet") and begin:
            self.asked.set()
            if self.trouble == "deny":
                self.answer(403, b"<Error><Code>AccessDenied</Code><Message>no more</Message></Error>", Content_Type="application/xml")
                return
            if self.trouble == "hang":
                self.over.wait()
        start = int(begin) if begin else max(0, len(data) - int(end))
        stop = min(len(data), int(end) + 1) if begin and end else len(data)
        self.answer(206, data[start:stop], ETag='"v1"', Content_Range=f"bytes {start}-{stop - 1}/{len(data)}")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256  # who is turned away at the door asks again after seconds


@contextlib.contextmanager
def serve(root, trouble=None):
    """The bucket's class and what a program needs in its environment."""
    kind = type("Bucket", (Bucket,), {"root": root, "trouble": trouble, "asked": threading.Event(), "over": threading.Event(), "seen": []})
    server = Server(("127.0.0.1", 0), kind)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield kind, {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}", "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key",
                     "AWS_REGION": "us-east-1", "AWS_ALLOW_HTTP": "true"}
    finally:
        kind.over.set()
        server.shutdown()
        server.server_close()
