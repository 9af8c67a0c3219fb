"""A proxy before a server of tests that tells by name what was asked, can hold requests up, and can lose one or end a process at it.

    with Proxy(server.port, delay=0.03) as proxy:
        ... proxy.port ...
        proxy.log       # Asked(label, begin, end), in the order of the answers; counting.rounds() takes it

    proxy.gate = lambda label: True      # called before a request is passed on; True: it is not, and the connection ends
    proxy.hook = lambda label: True      # called after a request was obeyed and before it is answered; True: there is no answer

Label: "PUT /bucket/key", "LIST prefix", or the operation's name for DynamoDB.
"""
import collections
import time
import urllib.parse

from lossy import Gone, Lossy

Asked = collections.namedtuple("Asked", "label begin end")


def label_of(request):
    operation = next((value for name, value in request.fields if name.lower() == "x-amz-target"), None)
    if operation:
        return operation.split(".")[-1]
    path, _, query = request.target.partition("?")
    if "list-type=2" in query:
        return "LIST " + urllib.parse.parse_qs(query).get("prefix", [""])[0]
    return f"{request.method} {urllib.parse.unquote(path)}"


class Proxy(Lossy):
    def __init__(self, upstream, delay=0.0):
        super().__init__(upstream)
        self.delay, self.hook, self.gate, self.log = delay, None, None, []

    def pass_on(self, connection, request):
        label, begin = label_of(request), time.monotonic()
        time.sleep(self.delay)
        if self.gate is not None and self.gate(label):
            raise Gone
        reply = super().pass_on(connection, request)
        if self.hook is not None and self.hook(label):
            raise Gone
        with self.lock:
            self.log.append(Asked(label, begin, time.monotonic()))
        return reply
