"""A small S3 in the test's own process: one bucket in memory, conditional creates, and faults on request. It also answers as a token endpoint and, for
paths that are none of S3's, with whatever it was asked: a server that repeats secrets to its clients. It checks no signature.

    with FakeS3() as s3: s3.url, s3.options(), s3.fault = "denied"

Faults: FAULTS below, and "noconditions": If-None-Match is ignored. seen: the headers of all requests, with their targets.
"""
import email.utils
import hashlib
import json
import os
import ssl
import subprocess
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

BUCKET = "bucket"
PAGE = 1000  # names, as S3's
KEY_ID = "AKIAFAKEFAKEFAKE0001"
SECRET = "fake/Secret+Key=of&tests%2F9d4c1b"
FAULTS = {  # what every request to the bucket is answered with
    "denied": (403, "AccessDenied"),
    "unknown key": (403, "InvalidAccessKeyId"),
    "wrong secret": (403, "SignatureDoesNotMatch"),
    "skewed": (403, "RequestTimeTooSkewed"),
    "expired": (400, "ExpiredToken"),
    "no bucket": (404, "NoSuchBucket"),
    "region": (400, "AuthorizationHeaderMalformed"),
    "moved": (301, "PermanentRedirect"),
    "broken": (500, "InternalError"),
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    s3 = None  # of the subclass that a server makes

    def log_message(self, *_):
        pass

    def date_time_string(self, timestamp=None):
        return email.utils.formatdate((timestamp or time.time()) + self.s3.skew, usegmt=True)

    def answer(self, code, body=b"", **headers):
        body = body.encode() if isinstance(body, str) else body
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def fail(self, code, name):
        """Repeats all that it was sent, as real servers do in part."""
        sent = escape(f"{self.path} {dict(self.headers)}")
        self.answer(
            code, f"<Error><Code>{name}</Code><Message>{sent}</Message><AWSAccessKeyId>{KEY_ID}</AWSAccessKeyId>"
            f"<StringToSign>{sent}</StringToSign></Error>"
        )

    def run(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        s3, url = self.s3, urlsplit(self.path)
        path, query = unquote(url.path), parse_qs(url.query, keep_blank_values=True)
        with s3.lock:
            s3.seen.append((self.command, self.path, dict(self.headers), body))
            bucket, _, key = path.lstrip("/").partition("/")
            if path == "/token":
                self.answer(*s3.token_answer)
            elif s3.echo == "hdfs":
                fault = {"exception": "AccessControlException", "javaClassName": "x", "message": f"no: {self.path}"}
                self.answer(403, json.dumps({"RemoteException": fault}))
            elif "DynamoDB" in self.headers.get("X-Amz-Target", ""):
                self.answer(200, '{"Items":[]}')  # no entries: whether one is asked for or many
            elif bucket != BUCKET and s3.echo:
                self.answer(403, f'{{"error":{{"code":"Denied","message":"{self.path} {dict(self.headers)}"}}}}')
            elif bucket != BUCKET:
                self.fail(404, "NoSuchBucket")
            elif s3.fault in FAULTS and "Authorization" in self.headers:
                self.fail(*FAULTS[s3.fault])
            elif s3.deny_writes and s3.deny_writes in key and self.command == "PUT":
                self.fail(403, "AccessDenied")
            elif "list-type" in query:
                self.list(query)
            else:
                getattr(self, "on_" + self.command.lower())(key, body)

    do_GET = do_HEAD = do_PUT = do_DELETE = do_POST = run

    def list(self, query):
        if self.s3.listing is not None:
            self.answer(200, self.s3.listing)
            return
        prefix, delimiter = query.get("prefix", [""])[0], query.get("delimiter", [""])[0]
        after = query.get("continuation-token", query.get("start-after", [""]))[0]
        names = sorted(n for n in self.s3.objects if n.startswith(prefix) and n > after)
        folders = sorted({n[: n.index("/", len(prefix)) + 1] for n in names if delimiter and "/" in n[len(prefix) :]})
        files = [n for n in names if not (delimiter and "/" in n[len(prefix) :])]
        more = "<IsTruncated>false</IsTruncated>"
        if len(files) > PAGE and not folders:
            files = files[:PAGE]
            more = f"<IsTruncated>true</IsTruncated><NextContinuationToken>{escape(files[-1])}</NextContinuationToken>"
        self.answer(
            200, f"<ListBucketResult>{more}"
            + "".join(
                f"<Contents><Key>{escape(n)}</Key><Size>{len(self.s3.objects[n])}</Size>"
                "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>" for n in files)
            + "".join(f"<CommonPrefixes><Prefix>{escape(n)}</Prefix></CommonPrefixes>" for n in folders) + "</ListBucketResult>"
        )

    def on_get(self, key, _):
        data = self.s3.objects.get(key)
        if data is None:
            return self.fail(404, "NoSuchKey")
        tag, code, extra = f'"{hashlib.md5(data).hexdigest()}"', 200, {}
        asked = self.headers.get("Range")
        if asked:
            first, _, last = asked.removeprefix("bytes=").partition("-")
            begin = int(first) if first else max(0, len(data) - int(last))
            end = min(len(data), int(last) + 1 if first and last else len(data))
            if begin >= len(data):
                return self.fail(416, "InvalidRange")
            extra, code = {"Content_Range": f"bytes {begin}-{end - 1}/{len(data)}"}, 206
            data = data[begin:end]
        return self.answer(code, data, ETag=tag, Last_Modified="Thu, 01 Jan 2026 00:00:00 GMT", **extra)

    on_head = on_get

    def on_put(self, key, body):
        if key in self.s3.objects and self.headers.get("If-None-Match") == "*" and self.s3.fault != "noconditions":
            return self.fail(412, "PreconditionFailed")
        self.s3.objects[key] = body
        return self.answer(200, ETag=f'"{hashlib.md5(body).hexdigest()}"')

    def on_delete(self, key, _):
        self.s3.objects.pop(key, None)
        self.answer(204)

    def on_post(self, _key, _body):
        self.answer(200, "<DeleteResult/>")


class Server(ThreadingHTTPServer):
    def handle_error(self, *_):
        """A client that goes away, or that does not like a certificate, is no fault of the test."""


class FakeS3:
    def __init__(self, tls=False, newest=None):
        self.lock = threading.RLock()
        self.objects, self.seen, self.fault, self.skew, self.echo = {}, [], None, 0, False
        self.token_answer, self.deny_writes = (200, "{}"), None  # a part of keys that may not be written
        self.listing = None  # what listings are answered with, instead of one
        self.server = Server(("127.0.0.1", 0), type("Bound", (Handler,), {"s3": self}))
        self.folder, self.cert = None, None
        if tls:
            self.folder = tempfile.TemporaryDirectory(prefix="silt-fake-s3-")
            self.cert, key = (os.path.join(self.folder.name, name) for name in ("cert.pem", "key.pem"))
            subprocess.run(
                f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=fake -keyout {key} "
                f"-out {self.cert} -addext subjectAltName=IP:127.0.0.1".split(),
                check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.cert, key)
            if newest is not None:  # the newest version of TLS that it speaks
                context.set_ciphers("ALL:@SECLEVEL=0")
                context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, newest
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        if self.folder:
            self.folder.cleanup()

    def options(self, **more):
        """Options of the program; None takes one out."""
        given = {"aws_endpoint_url": self.url, "aws_access_key_id": KEY_ID, "aws_secret_access_key": SECRET, **more}
        return [text for name, value in given.items() if value is not None for text in ("--store-option", f"{name}={value}")]
