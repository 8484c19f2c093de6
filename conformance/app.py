"""A client as the cdev app is one: it pairs, pings, says hello, calls, and drops its connection where the app would."""

import asyncio
import json
import re
import subprocess
import urllib.request
import uuid

import swift
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

# What the app takes in one message; a bigger one ends its connection.
FRAME = 1 << 20
# What the app waits for a pong, and for an answer.
PATIENCE = 31
# What is a time as a whole; a line of an agent's may begin with one.
TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*$")
EXACT_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")


class Fault(Exception):
    """The daemon refused a call."""

    def __init__(self, error):
        super().__init__(f"{error['code']}: {error['message']}")
        self.code = error["code"]
        self.data = error.get("data", {})


def check(holds, why):
    """A point fails with a reason where something does not hold."""
    if not holds:
        raise AssertionError(why)


def needs(value, **fields):
    """The app cannot decode an object that lacks one of these fields, or has it as another type."""
    check(isinstance(value, dict), f"not an object: {value}")
    for name, kind in fields.items():
        check(isinstance(value.get(name), kind), f"`{name}` is not {kind.__name__} in {shown(value)}")
    return value


def shown(value):
    text = json.dumps(value)
    return text if len(text) < 300 else text[:300] + "…"


class Host:
    """The daemon as somebody at the machine reaches it."""

    def __init__(self, roost, repo, agents):
        self.roost = roost
        self.repo = repo
        # Those that the daemon hosts besides its own, with the scripted model.
        self.agents = agents

    def run(self, *args):
        """Runs `roost`; what it printed."""
        return subprocess.run([self.roost, *args], check=True, capture_output=True, text=True).stdout

    def scan(self):
        """What a phone reads from the QR code."""
        code = json.loads(self.run("pair", "--json"))
        needs(code, ws=str, http=str, session=str, repo=str, token=str)
        check(code["ws"].startswith(("ws://", "wss://")), f"ws is {code['ws']}")
        check(code["http"].startswith(("http://", "https://")), f"http is {code['http']}")
        check(code["token"].startswith("cdev_p_"), "the pairing token has another prefix")
        return code

    async def pair(self):
        """A new device."""
        code = await asyncio.to_thread(self.scan)
        pair = await asyncio.to_thread(post, code["http"] + "/api/auth/exchange", {"pairing_token": code["token"]})
        swift.decode(swift.ROUTES["POST /api/auth/exchange"], pair, "exchange")
        needs(pair, access_token=str, refresh_token=str, expires_in=int, token_type=str)
        return Device(code, pair)

    async def app(self):
        """A new device, connected."""
        return await (await self.pair()).connect()

    def log(self, session):
        """The session's record as `roost log --json` prints it."""
        return [json.loads(line) for line in self.run("log", session, "--json").splitlines()]


def post(url, body):
    """Sends JSON; the answer's JSON."""
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.load(answer)


class Device:
    """A paired device: where it connects to, and its tokens."""

    def __init__(self, code, pair):
        self.code = code
        self.pair = pair

    async def http(self, verb, path, query="", picture=None):
        """Calls a route as the app does, with a picture as a form; the decoded answer."""
        headers, body = {"Authorization": f"Bearer {self.pair['access_token']}"}, None
        if picture is not None:
            headers["Content-Type"] = "multipart/form-data; boundary=edge"
            head = '--edge\r\nContent-Disposition: form-data; name="file"; filename="a.gif"\r\n\r\n'
            body = head.encode() + picture + b"\r\n--edge--\r\n"
        request = urllib.request.Request(self.code["http"] + path + query, body, headers, method=verb)

        def send():
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)

        answer = await asyncio.to_thread(send)
        swift.decode(swift.ROUTES[f"{verb} {path}"], answer, f"{verb} {path}")
        return answer

    async def connect(self):
        """A connection that has said hello."""
        app = await App.open(self)
        await app.hello()
        return app


class App:
    """One connection."""

    def __init__(self, device, socket):
        self.device = device
        self.socket = socket
        self.answers = {}
        # Every event so far, as (name, parameters), and how many of them were looked at.
        self.events = []
        self.seen = 0
        self.news = asyncio.Condition()
        self.broken = None
        self.reading = asyncio.create_task(self.read())

    @classmethod
    async def open(cls, device):
        headers = {"Authorization": f"Bearer {device.pair['access_token']}"}
        socket = await connect(
            device.code["ws"], additional_headers=headers, max_size=FRAME, ping_interval=None, proxy=None
        )
        return cls(device, socket)

    async def read(self):
        try:
            async for text in self.socket:
                await self.take(text)
        except (ConnectionClosed, AssertionError) as error:
            self.broken = error
        finally:
            async with self.news:
                self.broken = self.broken or AssertionError("the connection was closed")
                for answer in self.answers.values():
                    if not answer.done():
                        answer.set_exception(self.broken)
                self.news.notify_all()

    async def take(self, text):
        check(isinstance(text, str), "a binary message came")
        check("\n" not in text, "a message of several lines came")
        message = json.loads(text)
        times(message)
        if "method" in message:
            name, params = message["method"].removeprefix("event/"), message["params"]
        elif "event" in message:
            name, params = message["event"], message["payload"]
        else:
            self.answers.pop(message["id"]).set_result(message)
            return
        swift.decode_event(name, params)
        async with self.news:
            self.events.append((name, params))
            self.news.notify_all()

    async def ping(self):
        """The app pings first, before it says anything."""
        pong = await self.socket.ping()
        await asyncio.wait_for(pong, PATIENCE)

    async def hello(self):
        await self.ping()
        hello = await self.call(
            "initialize",
            client_info={"name": "cdev-ios", "version": "1.0.0"},
            capabilities={"notifications": ["agent_log", "agent_status"]},
        )
        self.id = needs(hello, clientId=str, capabilities=dict)["clientId"]
        await self.socket.send(json.dumps({"jsonrpc": "2.0", "method": "initialized"}))
        return hello

    async def call(self, method, **params):
        """Calls a method; its result, or a Fault."""
        id = str(uuid.uuid4()).upper()
        self.answers[id] = asyncio.get_running_loop().create_future()
        answer = self.answers[id]
        await self.socket.send(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
        message = await asyncio.wait_for(answer, PATIENCE)
        if "error" in message:
            raise Fault(message["error"])
        check(message.get("result") is not None, f"{method} answered null, which the app cannot decode")
        swift.decode_answer(method, message["result"])
        return message["result"]

    async def event(self, name, **fields):
        """The next event of this name with these fields; others are passed over."""

        def found():
            while self.seen < len(self.events):
                other, params = self.events[self.seen]
                self.seen += 1
                if other == name and all(params.get(field) == value for field, value in fields.items()):
                    return params
            return None

        async def wait():
            async with self.news:
                while True:
                    params = found()
                    if params is not None:
                        return params
                    if self.broken:
                        raise AssertionError(f"the connection broke before `{name}` came: {self.broken}")
                    await self.news.wait()

        try:
            return await asyncio.wait_for(wait(), PATIENCE)
        except TimeoutError:
            names = [other for other, _ in self.events[-20:]]
            raise AssertionError(f"no event `{name}` {fields or ''} came; the last were {names}") from None

    def all(self, name):
        """Every event of this name so far."""
        return [params for other, params in self.events if other == name]

    async def refused(self, code, method, **params):
        """A call that must be refused with this code."""
        try:
            result = await self.call(method, **params)
        except Fault as fault:
            check(fault.code == code, f"{method} was refused with {fault}, not with {code}")
            return fault
        raise AssertionError(f"{method} was not refused: {shown(result)}")

    async def close(self):
        await self.socket.close()
        await self.reading

    async def cut(self):
        """The network is gone, without a word."""
        self.socket.transport.abort()
        await self.reading


def times(value):
    """The app reads times with exactly three decimals and `Z`."""
    if isinstance(value, dict):
        for inner in value.values():
            times(inner)
    elif isinstance(value, list):
        for inner in value:
            times(inner)
    elif isinstance(value, str) and TIME.match(value):
        check(EXACT_TIME.match(value), f"a time in another form: {value}")
