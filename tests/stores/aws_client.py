"""A small client of S3 and DynamoDB for tests: requests that are signed, nothing that is repeated. Standard library only."""
import hashlib
import hmac
import http.client
import json
import time
import urllib.parse
import xml.etree.ElementTree


class Refused(Exception):
    """The server did not do it: code, and what it calls it."""

    def __init__(self, code, name):
        super().__init__(f"HTTP {code} {name}")
        self.code, self.name = code, name


def sign(server, service, method, path, query, headers, body):
    """The headers of a request with its signature (version 4)."""
    now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    digest = hashlib.sha256(body).hexdigest()
    headers = {**headers, "host": f"127.0.0.1:{server.port}", "x-amz-date": now}
    if service == "s3":
        headers["x-amz-content-sha256"] = digest
    names = sorted(headers, key=str.lower)
    lines = "".join(f"{name.lower()}:{headers[name].strip()}\n" for name in names)
    signed = ";".join(name.lower() for name in names)
    canonical = "\n".join([method, path, query, lines, signed, digest])
    scope = f"{now[:8]}/{server.region}/{service}/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + server.secret).encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    headers["authorization"] = f"AWS4-HMAC-SHA256 Credential={server.key}/{scope}, SignedHeaders={signed}, Signature={signature}"
    return headers


def ask(port, method, target, headers, body):
    """(code, headers, body)"""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, target, body=body, headers=headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


class S3:
    """Objects of one bucket. server: port, region, key, secret."""

    def __init__(self, server, bucket):
        self.server, self.bucket = server, bucket

    def request(self, method, key, query="", body=b"", headers=None):
        path = urllib.parse.quote(f"/{self.bucket}/{key}" if key else f"/{self.bucket}", safe="/-._~")
        signed = sign(self.server, "s3", method, path, query, headers or {}, body)
        return ask(self.server.port, method, path + (f"?{query}" if query else ""), signed, body)

    def demand(self, method, key, query="", body=b"", headers=None):
        code, _, text = self.request(method, key, query, body, headers)
        if code >= 300:
            raise Refused(code, text.decode(errors="replace")[:200])
        return text

    def exists(self, key):
        code, _, _ = self.request("HEAD", key)
        if code not in (200, 404):
            raise Refused(code, "HEAD")
        return code == 200

    def get(self, key):
        return self.demand("GET", key)

    def put(self, key, body):
        self.demand("PUT", key, body=body)

    def remove(self, key):
        self.demand("DELETE", key)

    def keys(self, prefix):
        """All keys that begin so, in order."""
        found, token = [], None
        while True:
            more = f"continuation-token={urllib.parse.quote(token, safe='')}&" if token else ""
            text = self.demand("GET", "", f"{more}list-type=2&prefix={urllib.parse.quote(prefix, safe='')}")
            root = xml.etree.ElementTree.fromstring(text)
            space = root.tag[: root.tag.index("}") + 1] if root.tag.startswith("{") else ""
            found += [item.findtext(f"{space}Key") for item in root.findall(f"{space}Contents")]
            token = root.findtext(f"{space}NextContinuationToken")
            if not token:
                return found


class DynamoDb:
    """Calls of DynamoDB's API: call("GetItem", {...}). identity: region, key, secret."""

    def __init__(self, port, identity):
        self.port, self.region, self.key, self.secret = port, identity.region, identity.key, identity.secret

    def call(self, operation, body):
        data = json.dumps(body).encode()
        headers = {"content-type": "application/x-amz-json-1.0", "x-amz-target": f"DynamoDB_20120810.{operation}"}
        code, _, text = ask(self.port, "POST", "/", sign(self, "dynamodb", "POST", "/", "", headers, data), data)
        answer = json.loads(text or b"{}")
        if code != 200:
            raise Refused(code, answer.get("__type", "").split("#")[-1])
        return answer
