#!/usr/bin/env python3
"""An HTTP server that misbehaves as it is told, for tests of what talks to stores. Standard library only.

    stub.py [--tls]

Listens on 127.0.0.1, prints one line "PORT" or "PORT TLS_PORT CA_FILE", and ends when its standard input does.
The certificate is made by openssl, self-signed, for 127.0.0.1 and localhost.

It answers as a proxy too: itself to a request with a whole URL, 405 to CONNECT.

What a request is answered with, the first of these that fits:

  /_count/TARGET     how many requests had exactly that target (GET)
  /_connections      how many connections there were, those of control not counted (GET)
  /_open             how many connections are open, those of control not counted (GET)
  /_late             how often late bytes and notices have gone out (GET)
  /_log              all requests as JSON: connection, method, target, headers, body_len, tls (GET)
  /_script           POST {"prefix": P, "method": M or absent, "steps": [STEPS of /do …]}: the next requests whose target begins
                     with P get these steps, one each; those that come later are answered as if there were no script
  /_reset            forgets requests, connections, scripts and objects (POST)
  /do/STEPS/NAME     steps between ";", settings of a step between ",", values percent-encoded. The n-th request of the very same target
                     gets the n-th step, later ones the last
  /items/…           POST: a DynamoDB of tables that are all there: PutItem (under a condition), GetItem, Query of the newest, DeleteItem
  /webhdfs/v1/live/… a name node and a data node in one: CREATE, RENAME without overwriting, DELETE, GETFILESTATUS, OPEN
  anything else      an object of that name: PUT (If-None-Match: *), GET (Range), HEAD, DELETE

Settings of a step:

  code=200           status
  body=TEXT          the body; size=N makes one of N bytes
  header=NAME:VALUE  as often as wanted; retry-after=V for short; headers=N adds N fields of 1,000 bytes
  length=N           another Content-Length than the body's; length=none for none; lengths=A+B for two
  chunked            in chunks; trailer=NAME:VALUE behind them
  excess=TEXT        bytes behind the body, in one piece with it
  late=TEXT          bytes behind the body, after it has gone out
  interim            "100 Continue" first
  delay=MS           before the answer; pause=MS between pieces of the body of piece=N bytes
  cut=N              the body ends after N bytes, and the connection with it
  headcut=N          the head of the answer ends after N bytes, and the connection with it
  stall=N            nothing comes after N bytes of the body
  end=close, reset   what becomes of the connection after the answer, without a word in its headers; default: it is kept;
  end=notice         TLS's notice of the end, and the connection stays open for a second
  quiet              no answer at all
  early              acts before the body of the request is read
  effect             does first what the method means for an object of that name
  object             nothing but that: the object's own answer
  hang               answers never
"""
import argparse
import json
import os
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
from urllib.parse import parse_qsl, unquote, urlsplit

MAX_HEAD = 1 << 20
STATE_LOCK = threading.Lock()


class State:
    def __init__(self):
        self.reset()

    def reset(self):
        self.log = []
        self.counts = {}
        self.connections = set()
        self.open = set()
        self.late = 0
        self.scripts = []
        self.objects = {}
        self.items = {}  # by tablePath and fileName


STATE = State()


class Gone(Exception):
    """The connection is at its end."""


class Request:
    def __init__(self, method, target, headers):
        self.method, self.target, self.headers = method, target, headers
        self.body = b""

    def header(self, name):
        return next((value for key, value in self.headers if key.lower() == name), None)


class Step:
    def __init__(self, text=""):
        self.settings = {}
        self.fields = []
        for part in filter(None, text.split(",")):
            name, _, value = part.partition("=")
            value = unquote(value)
            if name in ("header", "trailer"):
                field = tuple(value.split(":", 1))
                if name == "header":
                    self.fields.append(field)
                else:
                    self.settings["trailer"] = field
            elif name == "retry-after":
                self.fields.append(("Retry-After", value))
            else:
                self.settings[name] = value

    def has(self, name):
        return name in self.settings

    def number(self, name, default=0):
        return int(self.settings.get(name, default))


class Answer:
    def __init__(self, code, body=b"", fields=()):
        self.code, self.body, self.fields = code, body, list(fields)


# ---- objects ------------------------------------------------------------------------------------------------------


def put_object(request):
    taken = request.target in STATE.objects
    if taken and request.header("if-none-match") == "*":
        return Answer(412, b"there is one")
    STATE.objects[request.target] = request.body
    return Answer(200)


def get_object(request):
    data = STATE.objects.get(request.target)
    if data is None:
        return Answer(404, b"there is none")
    text = request.header("range")
    if text is None:
        return Answer(200, data)
    first, _, last = text.partition("=")[2].partition("-")
    begin = int(first) if first else max(0, len(data) - int(last))
    end = min(int(last) if first and last else len(data) - 1, len(data) - 1)
    if begin >= len(data):
        return Answer(416, b"", [("Content-Range", f"bytes */{len(data)}")])
    return Answer(206, data[begin : end + 1], [("Content-Range", f"bytes {begin}-{end}/{len(data)}")])


def item_key(item):
    return item["tablePath"]["S"], item["fileName"]["S"]


def meets(condition, asked, found):
    if condition.startswith("attribute_not_exists"):
        return found is None
    name, _, value = condition.partition(" = ")
    return found is not None and found.get(name) == asked["ExpressionAttributeValues"][value]


def item_answer(request):
    operation = request.header("x-amz-target").rpartition(".")[2]
    asked = json.loads(request.body)
    said = {}
    if operation == "PutItem":
        key = item_key(asked["Item"])
        if not meets(asked["ConditionExpression"], asked, STATE.items.get(key)):
            return Answer(400, b'{"__type":"x#ConditionalCheckFailedException"}')
        STATE.items[key] = asked["Item"]
    elif operation == "GetItem":
        item = STATE.items.get(item_key(asked["Key"]))
        said = {"Item": item} if item else {}
    elif operation == "Query":
        path = asked["ExpressionAttributeValues"][":p"]["S"]
        said = {"Items": [STATE.items[key] for key in sorted(STATE.items, reverse=True) if key[0] == path][:1]}
    elif operation == "DeleteItem":
        STATE.items.pop(item_key(asked["Key"]), None)
    return Answer(200, json.dumps(said).encode())


def refuse(code, fault):
    return Answer(code, json.dumps({"RemoteException": {"exception": fault, "message": "so"}}).encode())


def hdfs_answer(request):
    url = urlsplit(request.target)
    query = dict(parse_qsl(url.query))
    path = unquote(url.path).removeprefix("/webhdfs/v1")
    operation = query["op"]
    if operation == "CREATE" and "data" not in query:
        return Answer(307, b"", [("Location", f"http://{request.header('host')}{url.path}?op=CREATE&data=1")])
    if operation == "CREATE":
        STATE.objects[path] = request.body
        return Answer(201)
    if operation == "DELETE":
        return Answer(200, json.dumps({"boolean": STATE.objects.pop(path, None) is not None}).encode())
    if path not in STATE.objects:
        return refuse(404, "FileNotFoundException")
    if operation == "RENAME":
        if query["destination"] in STATE.objects:
            return refuse(403, "FileAlreadyExistsException")
        STATE.objects[query["destination"]] = STATE.objects.pop(path)
        return Answer(200)
    data = STATE.objects[path]
    if operation == "OPEN":
        return Answer(200, data[int(query.get("offset", 0)) :][: int(query.get("length", len(data)))])
    status = {"pathSuffix": "", "type": "FILE", "length": len(data), "modificationTime": 17}
    return Answer(200, json.dumps({"FileStatus": status}).encode())


def object_answer(request):
    with STATE_LOCK:
        if request.target.startswith("/webhdfs/v1/live/"):
            return hdfs_answer(request)
        if request.method == "POST" and request.target.startswith("/items/"):
            return item_answer(request)
        if request.method == "PUT":
            return put_object(request)
        if request.method in ("GET", "HEAD"):
            return get_object(request)
        if request.method == "DELETE":
            return Answer(204 if STATE.objects.pop(request.target, None) is not None else 404)
    return Answer(405)


# ---- control ------------------------------------------------------------------------------------------------------


def control_answer(request):
    name = request.target
    with STATE_LOCK:
        if name.startswith("/_count/"):
            return Answer(200, str(STATE.counts.get(name[len("/_count") :], 0)).encode())
        if name == "/_connections":
            return Answer(200, str(len(STATE.connections)).encode())
        if name == "/_open":
            return Answer(200, str(len(STATE.open)).encode())
        if name == "/_late":
            return Answer(200, str(STATE.late).encode())
        if name == "/_log":
            return Answer(200, json.dumps(STATE.log).encode())
        if name == "/_reset":
            STATE.reset()
            return Answer(200)
        if name == "/_script":
            script = json.loads(request.body)
            steps = [Step(text) for text in script["steps"]]
            STATE.scripts.append((script["prefix"], script.get("method"), steps))
            return Answer(200)
    return Answer(404)


def choose_step(request):
    """The step for a request, which is counted; None for an object."""
    with STATE_LOCK:
        count = STATE.counts.get(request.target, 0)
        STATE.counts[request.target] = count + 1
        for prefix, method, steps in STATE.scripts:
            if steps and request.target.startswith(prefix) and method in (None, request.method):
                return steps.pop(0)
    if not request.target.startswith("/do/"):
        return None
    steps = request.target.split("/")[2].split(";")
    return Step(steps[min(count, len(steps) - 1)])


def count_late():
    with STATE_LOCK:
        STATE.late += 1


# ---- connections --------------------------------------------------------------------------------------------------


class Connection:
    def __init__(self, sock, number, tls):
        self.sock, self.number, self.tls = sock, number, tls
        self.pending = b""

    def receive(self):
        data = self.sock.recv(1 << 16)
        if not data:
            raise Gone
        self.pending += data

    def wait_for_end(self):
        while True:
            self.receive()

    def take(self, n):
        while len(self.pending) < n:
            self.receive()
        data, self.pending = self.pending[:n], self.pending[n:]
        return data

    def take_line(self):
        while b"\n" not in self.pending:
            self.receive()
        line, _, self.pending = self.pending.partition(b"\n")
        return line.rstrip(b"\r").decode("latin-1")

    def read_head(self):
        while b"\r\n\r\n" not in self.pending:
            if len(self.pending) > MAX_HEAD:
                raise Gone
            self.receive()
        head, _, self.pending = self.pending.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ", 2)
        if target.startswith("http://"):  # as a proxy it is asked with the whole URL, and answers itself
            target = "/" + target.split("/", 3)[3]
        return Request(method, target, [tuple(part.strip() for part in line.split(":", 1)) for line in lines[1:]])

    def read_body(self, request):
        if (request.header("transfer-encoding") or "").lower() == "chunked":
            while size := int(self.take_line().split(";")[0], 16):
                request.body += self.take(size)
                self.take_line()
            while self.take_line():
                pass
        else:
            request.body = self.take(int(request.header("content-length") or 0))

    def end(self, how):
        if how == "notice":
            try:
                self.sock.settimeout(0.01)
                self.sock.unwrap()  # waits for the other side's notice, which does not come
            except OSError:
                count_late()
                time.sleep(1)
        if how == "reset":
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise Gone

    def send_body(self, head, body, step):
        piece = step.number("piece", len(body) or 1)
        cut = step.number("cut", len(body))
        if step.has("excess"):
            self.sock.sendall(head + body + step.settings["excess"].encode())
            return
        self.sock.sendall(head)
        if step.has("stall"):
            self.sock.sendall(body[: step.number("stall")])
            self.wait_for_end()
        for begin in range(0, min(cut, len(body)), piece):
            data = body[begin : min(begin + piece, cut)]
            if step.has("chunked"):
                data = b"%x\r\n%s\r\n" % (len(data), data)
            self.sock.sendall(data)
            if step.has("pause"):
                time.sleep(step.number("pause") / 1000)
        if step.has("cut"):
            self.end(step.settings.get("end", "close"))
        if step.has("chunked"):
            name, value = step.settings.get("trailer", (None, None))
            self.sock.sendall(b"0\r\n" + (f"{name}: {value}\r\n".encode() if name else b"") + b"\r\n")

    def send_answer(self, request, answer, step):
        lines = [f"HTTP/1.1 {answer.code} Said"]
        lines += [f"{name}: {value}" for name, value in answer.fields]
        lines += [f"X-Filler-{number}: {'x' * 980}" for number in range(step.number("headers"))]
        length = step.settings.get("length", str(len(answer.body)))
        if step.has("lengths"):
            lines += [f"Content-Length: {value}" for value in step.settings["lengths"].split("+")]
        elif step.has("chunked"):
            lines.append("Transfer-Encoding: chunked")
        elif length != "none" and answer.code != 204:
            lines.append(f"Content-Length: {length}")
        head = "\r\n".join(lines) + "\r\n\r\n"
        if step.has("interim"):
            head = "HTTP/1.1 100 Continue\r\nX-Interim: yes\r\n\r\n" + head
        if step.has("headcut"):
            self.sock.sendall(head[: step.number("headcut")].encode("latin-1"))
            self.end("close")
        if request.method == "HEAD" or answer.code == 204:
            self.sock.sendall(head.encode("latin-1"))
        else:
            self.send_body(head.encode("latin-1"), answer.body, step)
            if length == "none" and not step.has("chunked"):
                self.end(step.settings.get("end", "close"))

    def obey(self, request, step):
        if step.has("delay"):
            time.sleep(step.number("delay") / 1000)
        if step.has("object"):
            answer = object_answer(request)
        else:
            if step.has("effect"):
                object_answer(request)
            body = b"x" * step.number("size") if step.has("size") else step.settings.get("body", "").encode()
            answer = Answer(step.number("code", 200), body)
        answer.fields += step.fields
        if step.has("hang"):
            self.wait_for_end()
        if not step.has("quiet"):
            self.send_answer(request, answer, step)
        if step.has("late"):
            self.sock.sendall(step.settings["late"].encode())
            count_late()
        if step.has("end"):
            self.end(step.settings["end"])

    def note(self, request):
        with STATE_LOCK:
            STATE.connections.add(self.number)
            STATE.open.add(self.number)
            STATE.log.append(
                {
                    "connection": self.number,
                    "method": request.method,
                    "target": request.target,
                    "headers": request.headers,
                    "body_len": len(request.body),
                    "tls": self.tls,
                }
            )

    def serve_one(self):
        request = self.read_head()
        if request.target.startswith("/_"):
            self.read_body(request)
            self.send_answer(request, control_answer(request), Step())
            return
        step = choose_step(request)
        if step is None or not step.has("early"):
            self.read_body(request)
        self.note(request)
        if step is None:
            self.send_answer(request, object_answer(request), Step())
        else:
            self.obey(request, step)


def serve(sock, number, context):
    try:
        if context is not None:
            sock = context.wrap_socket(sock, server_side=True)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = Connection(sock, number, context is not None)
        while True:
            connection.serve_one()
    except (Gone, OSError, ValueError):
        pass
    finally:
        sock.close()
        with STATE_LOCK:
            STATE.open.discard(number)


def listen(context):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", 0))
    listener.listen(256)

    def accept():
        number = 0
        while True:
            sock, _ = listener.accept()
            number += 1
            name = f"tls-{number}" if context else f"plain-{number}"
            threading.Thread(target=serve, args=(sock, name, context), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


def make_context(folder):
    key, cert = os.path.join(folder, "key.pem"), os.path.join(folder, "ca.pem")
    subprocess.run(
        f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=stub -keyout {key} -out {cert} "
        "-addext subjectAltName=IP:127.0.0.1,DNS:localhost".split(),
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return context, cert


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tls", action="store_true")
    with tempfile.TemporaryDirectory() as folder:
        words = [str(listen(None))]
        if parser.parse_args().tls:
            context, cert = make_context(folder)
            words += [str(listen(context)), cert]
        print(*words, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
