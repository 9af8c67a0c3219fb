"""A query that waits for a store that stopped answering ends with Ctrl-C at once, not when the store's time is up."""
import http.server
import os
import re
import signal
import subprocess
import threading
import unittest
import urllib.parse

from cli_support import CliTest, PATIENCE, SILT

NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"


class Bucket(http.server.BaseHTTPRequestHandler):
    """A folder as a bucket, to read. Parts of data files never come, but for their ends."""
    protocol_version = "HTTP/1.1"
    root = ""
    asked = threading.Event()
    over = threading.Event()

    def log_message(self, *_):
        """Quiet."""

    def answer(self, code, body, **headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
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

    def do_GET(self):  # pylint: disable=invalid-name
        url = urllib.parse.urlsplit(self.path)
        key = urllib.parse.unquote(url.path).removeprefix("/bucket").removeprefix("/")
        if not key:
            self.list(urllib.parse.parse_qs(url.query).get("prefix", [""])[0])
            return
        path = os.path.join(self.root, key)
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
        if key.endswith(".parquet") and begin:
            self.asked.set()
            self.over.wait()
        start = int(begin) if begin else max(0, len(data) - int(end))
        stop = min(len(data), int(end) + 1) if begin and end else len(data)
        self.answer(206, data[start:stop], ETag='"v1"', Content_Range=f"bytes {start}-{stop - 1}/{len(data)}")


class Interrupted(CliTest):
    def test_waiting_for_a_store_ends_with_the_statement(self):
        self.sql(f"CREATE TABLE delta.`{self.dir}/t` USING delta AS SELECT md5(range::VARCHAR) AS s FROM range(100000)")
        Bucket.root = self.dir
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Bucket)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        env = dict(self.env, AWS_ENDPOINT_URL=f"http://127.0.0.1:{server.server_port}", AWS_ACCESS_KEY_ID="id",
                   AWS_SECRET_ACCESS_KEY="key", AWS_REGION="us-east-1", AWS_ALLOW_HTTP="true",
                   SILT_CACHE_DIR=f"{self.dir}/cache")
        with subprocess.Popen([SILT, "sql", "SELECT max(s) FROM delta.`s3://bucket/t`"], env=env, stderr=subprocess.PIPE,
                              stdout=subprocess.PIPE) as query:
            try:
                self.assertTrue(Bucket.asked.wait(PATIENCE), "the query read no data")
                query.send_signal(signal.SIGINT)
                out, err = query.communicate(timeout=20)  # the store has 30 seconds, several times
            finally:
                query.kill()
                Bucket.over.set()
                server.shutdown()
        self.assertEqual(out, b"")
        self.assertIn(b"interrupted", err)
        self.assertIn(query.returncode, (-signal.SIGINT, 130))


if __name__ == "__main__":
    unittest.main()
