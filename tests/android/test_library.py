"""What the Android library does when it runs: see run.sh."""

import asyncio
import contextlib
import ctypes
import json
import os
import pathlib
import socket
import ssl
import subprocess
import tempfile
import unittest

WORK = pathlib.Path(os.environ["REJOIN_WORK"]).resolve()
FAULTS = pathlib.Path(__file__).parents[1] / "faults"

# The stand-ins are there first and go by their names, so that the library gets them.
for name in ("libc", "libm", "libdl", "liblog"):
    ctypes.CDLL(WORK / "system" / f"{name}.so")
# Its own libraries before the process's: else it would get glibc's getaddrinfo.
ctypes.CDLL(WORK / "librejoin.so", mode=os.RTLD_NOW | os.RTLD_DEEPBIND)

import rejoin  # noqa: E402

# A test runner's numbers: quick, and exact waits.
QUICK = {
    "connect_timeout_ms": 1000,
    "first_byte_timeout_ms": 1500,
    "idle_timeout_ms": 700,
    "finish_grace_ms": 300,
    "non_streaming_timeout_ms": 1500,
    "backoff_base_ms": 20,
    "backoff_jitter": 0.0,
}
# For tests in which only the test itself ends anything.
PATIENT = {**QUICK, "first_byte_timeout_ms": 60_000, "idle_timeout_ms": 60_000}


def client(url, policy=QUICK, headers=None, **settings):
    policy = rejoin.Policy(**policy)
    settings = rejoin.ClientSettings(base_url=url, api_key="test-key", policy=policy, **settings)
    return rejoin.NativeClient(settings, headers)


def kind_of(event):
    return type(event.kind).__name__.split(".")[-1].lower()


def ask(prompt="Go on."):
    return rejoin.TurnRequest(model="m", prompt=prompt)


async def collect(turn, on_event=lambda event: None):
    events, cursor = [], 0
    while True:
        batch = await turn.events_after(cursor, 64)
        for event in batch.events:
            events.append(event)
            on_event(event)
        if batch.finished:
            return events
        cursor = batch.next_cursor


def rendered(events):
    """What a screen with the two rules shows after each event, in UTF-16 code units."""
    shown, screens = b"", []
    for event in events:
        if kind_of(event) == "text":
            shown += event.kind.text.encode("utf-16-le")
        if kind_of(event) == "reset":
            shown = shown[: 2 * event.kind.keep_utf16]
        screens.append(shown.decode("utf-16-le"))
    return screens


@contextlib.asynccontextmanager
async def flaky(script):
    """`rejoin serve-flaky` with a script's file, or with a script's responses."""
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(script, list):
            whole = {"name": "t", "about": "", "request": {"prompt": "x"}, "server": script}
            whole["expect"] = {"end": "completed"}
            script = pathlib.Path(folder) / "t.json"
            script.write_text(json.dumps(whole))
        process = await asyncio.create_subprocess_exec(
            os.environ["REJOIN_BIN"], "serve-flaky", "--script", script, stdout=subprocess.PIPE
        )
        try:
            line = (await process.stdout.readline()).decode().strip()
            assert line.startswith("listening on http://"), line
            yield line.removeprefix("listening on ")
        finally:
            with contextlib.suppress(ProcessLookupError):  # it said why, above
                process.kill()
            await process.wait()


class WhatIsLoaded(unittest.TestCase):
    def test_it_is_the_android_library_over_the_stand_ins(self):
        # Of the files mapped into this process, those named as the library and its neighbours.
        maps = pathlib.Path("/proc/self/maps").read_text().splitlines()
        files = {line.split()[-1] for line in maps if line.endswith(".so")}
        self.assertEqual({f for f in files if f.endswith("/librejoin.so")}, {f"{WORK}/librejoin.so"})
        self.assertIn(f"{WORK}/system/libc.so", files)
        shipped = WORK.parent / "libs" / "x86_64" / "librejoin.so"
        self.assertEqual((WORK / "librejoin.so").read_bytes(), shipped.read_bytes())


class FaultScripts(unittest.IsolatedAsyncioTestCase):
    async def test_every_fault_script_ends_as_it_says(self):
        scripts = sorted(FAULTS.glob("*.json"))
        self.assertGreater(len(scripts), 100)
        # Enough at once to be quick, few enough that two cores keep the scripts' times.
        slots, wrong, strategies = asyncio.Semaphore(6), [], set()

        async def play(path):
            async with slots:
                try:
                    strategies.update(await self.play(json.loads(path.read_text()), path))
                except Exception as error:  # all of them are told at the end
                    wrong.append(f"{path.name}: {error!r}")

        await asyncio.gather(*map(play, scripts))
        print(f"fault scripts through the Android library: {len(scripts)}, wrong: {len(wrong)}")
        self.assertEqual(wrong, [])
        self.assertEqual(strategies, {s.name.lower() for s in rejoin.Strategy})

    async def play(self, script, path):
        async with flaky(path) as url:
            turn = client(url, {**QUICK, **script.get("policy", {})}).start(self.request(script))
            cancel = script.get("cancel", {})
            if "after_ms" in cancel:
                asyncio.get_running_loop().call_later(cancel["after_ms"] / 1000, turn.cancel)

            def on_event(event):
                if kind_of(event) == cancel.get("on"):
                    turn.cancel()

            events = await collect(turn, on_event)
        return self.compare(script["expect"], events)

    def request(self, script):
        request, turn_id = script["request"], script.get("turn_id")
        if "body" in request:
            return rejoin.TurnRequest(model="m", raw=json.dumps(request["body"]), turn_id=turn_id)
        tools = [
            rejoin.Tool(name=name, parameters='{"type":"object"}')
            for name in request.get("tools", [])
        ]
        return rejoin.TurnRequest(
            model="m",
            prompt=request.get("prompt"),
            system=request.get("system"),
            tools=tools,
            turn_id=turn_id,
        )

    def compare(self, expect, events):
        self.assertEqual([event.seq for event in events], list(range(1, len(events) + 1)))
        self.assertEqual(kind_of(events[-1]), expect["end"])
        screens = rendered(events)
        if expect["end"] == "completed":
            answer = events[-1].kind.answer
            self.assertEqual(screens[-1], answer.text)
            self.assertEqual(answer.text, expect.get("text", answer.text))
            if "tools" in expect:
                calls = [(call.name, json.loads(call.args)) for call in answer.tool_calls]
                self.assertEqual(calls, [(tool["name"], tool["args"]) for tool in expect["tools"]])
            attempts = answer.attempts
        else:
            failure = events[-1].kind.failure
            kind = failure.kind.name.lower()
            self.assertEqual(kind, expect.get("error", {}).get("kind", kind))
            partial = failure.partial_text
            self.assertEqual(partial, expect.get("partial_text", partial))
            attempts = failure.attempts
        strategies = [attempt.strategy.name.lower() for attempt in attempts]
        wanted = expect.get("attempts", [])
        if wanted and all(isinstance(want, dict) for want in wanted):
            self.assertEqual(len(attempts), len(wanted))
            for want, got, strategy in zip(wanted, attempts, strategies):
                self.assertEqual(strategy, want.get("strategy", strategy))
                outcome = got.outcome.name.lower()
                self.assertEqual(outcome, want.get("outcome", outcome))
        for never in expect.get("never", []):
            self.assertFalse(any(never in screen for screen in screens), never)
        return strategies


class Errors(unittest.IsolatedAsyncioTestCase):
    async def failure(self, url, **settings):
        turn = client(url, {**QUICK, "max_unsent": 2}, **settings).start(ask())
        last = (await collect(turn))[-1]
        self.assertEqual(kind_of(last), "failed")
        return last.kind.failure

    async def test_a_refusal_that_no_retry_cures_has_a_kind_and_keeps_the_key_to_itself(self):
        async with flaky([{"send": [{"error": 401, "message": "No."}], "status": 401}]) as url:
            failure = await self.failure(url)
        self.assertEqual((failure.kind.name, failure.http_status), ("UNAUTHORIZED", 401))
        self.assertNotIn("test-key", repr(failure))

    async def test_a_port_where_nobody_listens_is_unreachable(self):
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            failure = await self.failure(f"http://127.0.0.1:{nobody.getsockname()[1]}")
        self.assertEqual(failure.kind.name, "UNREACHABLE")

    async def test_a_name_that_does_not_exist_is_unreachable(self):
        # Asks the stand-in's getaddrinfo, on a thread of its own.
        failure = await self.failure("https://nobody.invalid")
        self.assertEqual(failure.kind.name, "UNREACHABLE")

    async def test_a_name_is_looked_up(self):
        async with flaky([{"send": [{"text": "found", "finish": "STOP"}]}]) as url:
            turn = client(url.replace("127.0.0.1", "localhost")).start(ask())
            self.assertEqual((await collect(turn))[-1].kind.answer.text, "found")

    async def test_what_cannot_be_used_is_said_before_anything_is_sent(self):
        with self.assertRaises(rejoin.CallError.InvalidArgument):
            client("ftp://x")
        with self.assertRaises(rejoin.CallError.InvalidArgument):
            client("http://127.0.0.1:1", {"max_attempts": -1})
        with self.assertRaises(rejoin.CallError.InvalidArgument):
            client("http://127.0.0.1:1").start(rejoin.TurnRequest(model="m"))
        with self.assertRaises(rejoin.CallError.InvalidArgument):
            rejoin.effect_key("t", "f", "{")

    async def test_a_header_provider_that_raises_is_asked_again(self):
        asked = []

        class Provider(rejoin.HeaderProvider):
            def headers(self, attempt):
                asked.append(attempt)
                if len(asked) == 1:
                    raise RuntimeError("not ready")
                return {"authorization": f"Bearer {attempt}"}

        async with flaky([{"send": [{"text": "word", "finish": "STOP"}]}]) as url:
            events = await collect(client(url, headers=Provider()).start(ask()))
        self.assertEqual(events[-1].kind.answer.text, "word")
        self.assertEqual(asked, [1, 2])
        dropped = next(event.kind for event in events if kind_of(event) == "dropped")
        self.assertEqual(dropped.cause.name, "UNREACHABLE")
        self.assertIn("not ready", dropped.detail)


class Panics(unittest.IsolatedAsyncioTestCase):
    """No public call panics, so one is made to below the generated code: a buffer without memory
    that claims to hold a byte, for which the border has an `assert!`. The panic has to unwind, by
    the unwinder in the library, through the frames above it to where the border catches it."""

    async def test_a_panic_is_caught_and_the_library_goes_on(self):
        request = rejoin._UniffiFfiConverterTypeTurnRequest
        lower = request.lower
        impossible = rejoin._UniffiRustBuffer(capacity=0, len=1, data=None)
        async with flaky([{"send": [{"text": "word", "finish": "STOP"}]}] * 20) as url:
            ours = client(url)
            for _ in range(20):
                request.lower = lambda value: impossible
                try:
                    # The text of the assertion: caught as a panic, not refused as a bad argument.
                    with self.assertRaisesRegex(rejoin.InternalError, "null RustBuffer had non-zero length"):
                        ours.start(ask())
                finally:
                    request.lower = lower
                last = (await collect(ours.start(ask())))[-1]
                self.assertEqual(last.kind.answer.text, "word")


class Cancel(unittest.IsolatedAsyncioTestCase):
    async def test_a_pending_read_completes_and_the_socket_is_closed(self):
        closed = asyncio.Event()

        async def silent(reader, writer):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
            while await reader.read(4096):
                pass
            closed.set()
            writer.close()

        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        turn = client(f"http://127.0.0.1:{port}", PATIENT).start(ask())
        first = await turn.events_after(0, 64)
        self.assertEqual(kind_of(first.events[0]), "attempt_started")
        pending = asyncio.create_task(turn.events_after(first.next_cursor, 64))
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.shield(pending), 0.2)
        turn.cancel()
        last = await asyncio.wait_for(pending, 5)
        self.assertTrue(last.finished)
        self.assertEqual(last.events[-1].kind.failure.kind.name, "CANCELLED")
        await asyncio.wait_for(closed.wait(), 5)
        server.close()


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


class Tls(unittest.IsolatedAsyncioTestCase):
    """A loopback server with a certificate of an authority of our own."""

    def authority(self, name):
        key, root = self.folder / f"{name}.key", self.folder / f"{name}.pem"
        openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-keyout", key, "-out", root, "-subj", f"/CN={name}", "-days", "2",
        )  # fmt: skip
        return key, root

    async def asyncSetUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        ca_key, self.root = self.authority("ours")
        _, self.foreign = self.authority("foreign")
        key, request, certificate = (self.folder / f"server.{end}" for end in ("key", "csr", "pem"))
        openssl(
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-keyout", key, "-out", request, "-subj", "/CN=server",
        )  # fmt: skip
        names = self.folder / "names"
        names.write_text("subjectAltName=IP:127.0.0.1\n")
        openssl(
            "x509", "-req", "-in", request, "-CA", self.root, "-CAkey", ca_key, "-CAcreateserial",
            "-out", certificate, "-days", "2", "-extfile", names,
        )  # fmt: skip
        self.requests = []

        async def answer(reader, writer):
            self.requests.append(await reader.readuntil(b"\r\n\r\n"))
            event = {"candidates": [{"content": {"parts": [{"text": "safe"}]}, "finishReason": "STOP"}]}
            head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
            writer.write(f"{head}data: {json.dumps(event)}\r\n\r\n".encode())
            await writer.drain()
            writer.close()

        # A client that hangs up in the handshake is what a test here wants.
        loop = asyncio.get_running_loop()
        loop.set_debug(False)
        loop.set_exception_handler(lambda loop, context: None)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
        self.addCleanup(server.close)
        self.url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    async def last(self, roots):
        policy = {**QUICK, "max_unsent": 2}
        roots = [root.read_text() for root in roots]
        return (await collect(client(self.url, policy, extra_root_pems=roots).start(ask())))[-1]

    async def test_an_extra_root_is_trusted(self):
        last = await self.last([self.root])
        self.assertEqual(kind_of(last), "completed")
        self.assertEqual(last.kind.answer.text, "safe")
        self.assertEqual(len(self.requests), 1)

    async def test_a_foreign_root_is_not_and_neither_is_none(self):
        for roots in ([self.foreign], []):
            last = await self.last(roots)
            self.assertEqual(last.kind.failure.kind.name, "UNREACHABLE")
            self.assertIn("certificate", last.kind.failure.details)
        self.assertEqual(self.requests, [], "nothing is sent to a server that is not trusted")
