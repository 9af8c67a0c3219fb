#!/usr/bin/env python3
"""A small Azure: the Blob and the Data Lake service and a login, for what azurite has not (hierarchical accounts, tokens) and for faults.
Standard library only. Listens on 127.0.0.1, prints its port, and ends when its standard input does; with --port N, listens there until it is
ended.

  /acct/CONTAINER/PATH    both services; which one is meant follows from the parameters. Containers: flat, tree (hierarchical), shy (hierarchical, but
                          Get Account Information is refused), mute (flat, refused likewise). Others do not exist.
  /login/TENANT/oauth2/v2.0/token, /msi/token     tokens

Every request is authorised: Shared Key (computed here on its own), a signature `sig=good+sig/`, or a token that was given out and not revoked.

Control (GET): /_log the requests, one a line: method, target, what authorised it; /_tokens how many were given out; /_names what is there;
/_set?NAME=VALUE&… with
  page=N       names of a page              life=N       seconds that tokens live        revoke=1   no token is good any more
  grant=TOKEN  this one is good
  login=CODE   what the login answers       order=-1     listings backwards              stuck=1    the next page is always the same
  hollow=1     a range behind the end is empty, as azurite's are, and not refused
  range=N      ranges are N bytes too long or short                                      skew=N     the Date header is off by N seconds
  code=N&name=CODE&method=M&has=TEXT&times=N&after=1     the next N requests that fit get this answer; after: what they ask for is done before;
                                                         code 0: no answer at all
  reset=1      as at the start
"""
import base64
import email.utils
import hashlib
import hmac
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote, urlsplit
from xml.sax.saxutils import escape

ACCOUNT = "acct"
KEY = base64.b64encode(b"the key of the fake account, 32+").decode()
SIGNATURE = "good+sig/"
SECRET = "hush=hush&hush"
LOCK = threading.RLock()
PLACES = [
    "content-encoding", "content-language", "content-length", "content-md5", "content-type", "date", "if-modified-since",
    "if-match", "if-none-match", "if-unmodified-since", "range",
]  # fmt: skip


class State:
    def __init__(self):
        self.files = {name: {} for name in ("flat", "tree", "shy", "mute")}
        self.blocks, self.settings, self.fault = {}, {}, None
        self.log, self.tokens, self.good, self.stamp = [], 0, set(), 0

    def number(self, name, default):
        return int(self.settings.get(name, default))


STATE = State()


class File:
    def __init__(self, data=b"", folder=False, meta=None):
        STATE.stamp += 1
        self.data, self.flushed, self.folder, self.meta, self.tag = data, len(data), folder, meta or {}, f'"{STATE.stamp}"'
        self.modified = email.utils.formatdate(time.time(), usegmt=True)


class Fault(Exception):
    def __init__(self, code, name, **fields):
        super().__init__(name)
        self.code, self.name, self.fields = code, name, fields


def shared_key(method, path, query, headers, length):
    known = dict(headers, **{"content-length": str(length) if length else ""})
    lines = [method] + [known.get(name, "") for name in PLACES]
    lines += [f"{name}:{known[name].strip()}" for name in sorted(known) if name.startswith("x-ms-")]
    lines.append(f"/{ACCOUNT}{path}")
    lines += [f"{name.lower()}:{query[name]}" for name in sorted(query, key=str.lower)]
    digest = hmac.new(base64.b64decode(KEY), "\n".join(lines).encode(), hashlib.sha256).digest()
    return f"SharedKey {ACCOUNT}:{base64.b64encode(digest).decode()}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def date_time_string(self, timestamp=None):
        return email.utils.formatdate((timestamp or time.time()) + STATE.number("skew", 0), usegmt=True)

    def answer(self, code, body=b"", **fields):
        self.send_response(code)
        for name, value in fields.items():
            self.send_header(name if "-" in name else name.replace("_", "-"), value)
        if "Content_Length" not in fields:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def refuse(self, code, name, **fields):
        body = f'<?xml version="1.0"?><Error><Code>{name}</Code><Message>it had {SECRET}</Message></Error>'.encode()
        self.answer(code, body if self.command != "HEAD" and code != 204 else b"", x_ms_error_code=name, **fields)

    # ---- the course of a request ----

    def handle_any(self):
        length = int(self.headers.get("Content-Length") or 0)
        self.body = self.rfile.read(length)
        parts = urlsplit(self.path)
        self.raw_path, self.query = parts.path, dict(parse_qsl(parts.query.replace("+", "%2B"), keep_blank_values=True))
        self.fields = {name.lower(): value for name, value in self.headers.items()}
        with LOCK:
            if self.raw_path.startswith("/_"):
                return self.control()
            fault = self.take_fault()
            if fault and not fault.get("after"):
                STATE.log.append(f"{self.command} {self.path} fault")
                return self.end_with(fault)
            if fault:
                self.answer, self.refuse = (lambda *_, **__: None), (lambda *_, **__: None)
            try:
                self.act()
            except Fault as reason:
                self.refuse(reason.code, reason.name, **reason.fields)
            if fault:
                del self.answer, self.refuse
                self.end_with(fault)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = do_PATCH = handle_any

    def take_fault(self):
        fault = STATE.fault
        fits = fault and fault["times"] > 0 and fault.get("method", self.command) == self.command and fault.get("has", "") in self.path
        if fits:
            fault["times"] -= 1
        return fault if fits else None

    def end_with(self, fault):
        if int(fault["code"]) == 0:
            self.close_connection = True
            self.connection.shutdown(2)
        else:
            self.refuse(int(fault["code"]), fault.get("name", "Fault"))

    def control(self):
        text = ""
        if self.raw_path == "/_log":
            text = "\n".join(STATE.log)
        elif self.raw_path == "/_tokens":
            text = str(STATE.tokens)
        elif self.raw_path == "/_names":
            text = "\n".join(f"{c}/{n}" for c, files in STATE.files.items() for n in sorted(files))
        elif self.query.get("reset"):
            STATE.__init__()
        elif "code" in self.query:
            STATE.fault = dict(self.query, times=int(self.query.get("times", 1)))
        else:
            STATE.settings.update(self.query)
            STATE.good = set() if self.query.get("revoke") else STATE.good
            STATE.good.add(self.query.get("grant"))
        self.answer(200, text.encode())

    def act(self):
        if self.raw_path.startswith(("/login/", "/msi/")):
            return self.give_token()
        how = self.authorise()
        STATE.log.append(f"{self.command} {self.path} {how}")
        _, account, container, *path = unquote(self.raw_path).split("/", 3)
        self.container, self.name = container, path[0] if path else ""
        if account != ACCOUNT:
            raise Fault(400, "InvalidUri")
        if container not in STATE.files:
            raise Fault(404, "ContainerNotFound")
        self.files = STATE.files[container]
        self.hierarchical = container in ("tree", "shy")
        self.dispatch()

    # ---- who it is ----

    def authorise(self):
        value = self.fields.get("authorization", "")
        if value.startswith("Bearer "):
            if value[7:] not in STATE.good:
                raise Fault(401, "InvalidAuthenticationInfo")
            return "token"
        if value.startswith("SharedKey "):
            query = {name: text for name, text in self.query.items()}
            if value != shared_key(self.command, self.raw_path, query, self.fields, len(self.body)):
                raise Fault(403, "AuthenticationFailed")
            return "key"
        if self.query.get("sig") == SIGNATURE:
            return "sas"
        raise Fault(403, "AuthenticationFailed")

    def give_token(self):
        STATE.log.append(f"{self.command} {self.path} login")
        form = dict(parse_qsl(self.body.decode()))
        refused = STATE.number("login", 200)
        good = form.get("client_secret") == SECRET or form.get("client_assertion") == "assertion"
        if self.raw_path.startswith("/msi/"):
            good = self.fields.get("metadata") == "true" or self.fields.get("x-identity-header") == SECRET
        if refused != 200 or not good:
            text = json.dumps({"error": "invalid_client", "error_description": f"AADSTS7000215: {SECRET} is wrong"})
            return self.answer(refused if refused != 200 else 401, text.encode())
        STATE.tokens += 1
        token = f"token-{STATE.tokens}"
        STATE.good.add(token)
        self.answer(200, json.dumps({"access_token": token, "expires_in": str(STATE.number("life", 3600))}).encode())

    # ---- which call it is ----

    def dispatch(self):
        query = self.query
        if query.get("restype") == "account":
            if self.container in ("shy", "mute"):
                raise Fault(403, "AuthorizationPermissionMismatch")
            return self.answer(200, x_ms_is_hns_enabled="true" if self.hierarchical else "false")
        if query.get("action") == "getAccessControl":
            return self.answer(200) if self.hierarchical else self.refuse(400, "HierarchicalNamespaceNotEnabled")
        if query.get("comp") == "list":
            return self.list_blobs()
        paths = query.get("resource") or query.get("action") or "recursive" in query or "x-ms-rename-source" in self.fields
        if paths and not self.hierarchical:
            raise Fault(400, "HierarchicalNamespaceNotEnabled")
        if paths:
            return self.path_call()
        return {"PUT": self.put, "GET": self.get, "HEAD": self.get, "DELETE": self.delete}[self.command]()

    def condition(self):
        if self.fields.get("if-none-match") == "*" and self.name in self.files:
            path = "resource" in self.query or "x-ms-rename-source" in self.fields
            raise Fault(409, "PathAlreadyExists" if path else "BlobAlreadyExists")

    def store(self, data):
        meta = {name: value for name, value in self.fields.items() if name.startswith("x-ms-meta-")}
        self.files[self.name] = File(data, meta=meta)
        if self.hierarchical:
            folder = self.name.rpartition("/")[0]
            while folder:
                self.files.setdefault(folder, File(folder=True))
                folder = folder.rpartition("/")[0]

    def put(self):
        blocks = STATE.blocks.setdefault((self.container, self.name), {})
        if self.query.get("comp") == "block":
            blocks[self.query["blockid"]] = self.body
        elif self.query.get("comp") == "blocklist":
            self.condition()
            ids = [part.partition("<")[0] for part in self.body.decode().split("<Uncommitted>")[1:]]
            self.store(b"".join(blocks[name] for name in ids))
            blocks.clear()
        else:
            self.condition()
            self.store(self.body)
        self.answer(201)

    def get(self):
        file = self.files.get(self.name)
        if file is None:
            raise Fault(404, "BlobNotFound")
        if self.fields.get("if-match", file.tag) != file.tag:
            raise Fault(412, "ConditionNotMet")
        fields = {"ETag": file.tag, "Last_Modified": file.modified}
        fields.update(file.meta)
        if file.folder:
            fields["x-ms-meta-hdi_isfolder"] = "true"
        wanted = self.fields.get("x-ms-range")
        if self.command == "HEAD":
            return self.answer(200, Content_Length=str(len(file.data)), **fields)
        if not wanted:
            return self.answer(200, file.data, **fields)
        first, _, last = wanted[6:].partition("-")
        begin, end = int(first), min(int(last) + 1 if last else len(file.data), len(file.data))
        if begin >= len(file.data) and STATE.number("hollow", 0):
            begin, end = len(file.data), len(file.data)
        elif begin >= len(file.data):
            raise Fault(416, "InvalidRange", Content_Range=f"bytes */{len(file.data)}")
        end += STATE.number("range", 0)
        self.answer(206, file.data[begin:end], Content_Range=f"bytes {begin}-{end - 1}/{len(file.data)}", **fields)

    def delete(self):
        if self.files.pop(self.name, None) is None:
            raise Fault(404, "BlobNotFound")
        self.answer(202)

    def page_of(self, names, marker):
        """The names of this page, and where the next begins ("" at the end)."""
        size = min(STATE.number("page", 5000), int(self.query.get("maxresults", 5000)))
        begin = int(marker.rpartition("!")[2] or 0) if marker else 0
        rest = begin + size < len(names)
        return names[begin : begin + size], f"m!{begin if STATE.number('stuck', 0) and marker else begin + size}" if rest else ""

    def list_blobs(self):
        prefix, delimiter = self.query.get("prefix", ""), self.query.get("delimiter")
        found = {}
        for name in self.files:
            if name.startswith(prefix) and name >= self.query.get("startFrom", ""):
                tail = name[len(prefix) :]
                cut = tail.find(delimiter) if delimiter else -1
                found[prefix + tail[: cut + 1] if cut >= 0 else name] = cut < 0
        names = sorted(found, key=str.encode, reverse=STATE.number("order", 1) < 0)
        names, marker = self.page_of(names, self.query.get("marker"))
        lines = []
        for name in names:
            if not found[name]:
                lines.append(f"<BlobPrefix><Name>{escape(name)}</Name></BlobPrefix>")
                continue
            file = self.files[name]
            meta = "<Metadata><hdi_isfolder>true</hdi_isfolder></Metadata>" if file.folder else ""
            lines.append(
                f"<Blob><Name>{escape(name)}</Name><Properties><Last-Modified>{file.modified}</Last-Modified>"
                f"<Content-Length>{len(file.data)}</Content-Length></Properties>{meta}</Blob>"
            )
        text = f'<?xml version="1.0"?><EnumerationResults><Blobs>{"".join(lines)}</Blobs><NextMarker>{marker}</NextMarker></EnumerationResults>'
        self.answer(200, text.encode())

    # ---- hierarchical accounts ----

    def path_call(self):
        action, query = self.query.get("action"), self.query
        if query.get("resource") == "filesystem":
            return self.list_paths()
        if query.get("resource") == "file":
            self.condition()
            self.store(b"")
            return self.answer(201)
        if "x-ms-rename-source" in self.fields:
            return self.rename()
        if action in ("append", "flush") and self.name not in self.files:
            raise Fault(404, "PathNotFound")
        file = self.files.get(self.name)
        if action == "append":
            if int(query["position"]) > len(file.data):
                raise Fault(400, "InvalidAppendPosition")
            file.data = file.data[: int(query["position"])] + self.body
            return self.answer(202)
        if action == "flush":
            if int(query["position"]) != len(file.data):
                raise Fault(400, "InvalidFlushPosition")
            file.flushed = len(file.data)
            return self.answer(200)
        return self.delete_tree()

    def rename(self):
        source = urlsplit(self.fields["x-ms-rename-source"])
        _, container, name = unquote(source.path).split("/", 2)
        if "sig" in self.query and "sig=" not in source.query:
            raise Fault(403, "AuthorizationPermissionMismatch")
        if container != self.container or name not in self.files:
            raise Fault(404, "RenameSourceNotFound")
        self.condition()
        file = self.files.pop(name)
        if file.flushed != len(file.data):
            raise Fault(400, "NotFlushed")
        self.files[self.name] = file
        self.answer(201)

    def list_paths(self):
        folder, recursive = self.query.get("directory", ""), self.query["recursive"] == "true"
        if folder and folder not in self.files:
            raise Fault(404, "PathNotFound")
        prefix = folder + "/" if folder else ""
        names = [n for n in self.files if n.startswith(prefix) and n != folder and (recursive or "/" not in n[len(prefix) :])]
        names.sort(key=lambda name: name.replace("/", "\x01"))  # folder by folder
        names, next_page = self.page_of(names, self.query.get("continuation"))
        paths = [
            {"name": n, "contentLength": str(len(self.files[n].data)), "lastModified": self.files[n].modified}
            | ({"isDirectory": "true"} if self.files[n].folder else {})
            for n in names
        ]
        fields = {"x_ms_continuation": next_page} if next_page else {}
        self.answer(200, json.dumps({"paths": paths}).encode(), **fields)

    def delete_tree(self):
        below = [n for n in self.files if n == self.name or n.startswith(self.name + "/")]
        if not below:
            raise Fault(404, "PathNotFound")
        below.sort(key=len, reverse=True)
        now = below[: STATE.number("page", 5000)]
        for name in now:
            del self.files[name]
        fields = {"x_ms_continuation": f"d!{len(below)}"} if len(now) < len(below) else {}
        self.answer(200, **fields)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):  # clients go away as they like
            super().handle_error(request, client_address)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--port"]:
        Server(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()
