"""Calls of the Fathom API over the standard library: attempts, errors, exact numbers."""

from __future__ import annotations

import http.client
import json
import random
import ssl
import time
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple
from urllib.parse import quote, urlencode, urlsplit

#: Statuses after which the same request may succeed.
TRANSIENT = frozenset({429, 502, 503, 504})

#: A stream without a byte for this many seconds counts as dead: two and a half heartbeats.
SILENCE = 50.0


class FathomError(Exception):
    """A failed call: a problem of the contract, or a failure that the client detected.

    Branch on `code`. A newer service may send codes that are not listed in the reference. `status` and `request_id` are
    None without a response; `retry_after` is in seconds. The cause (`__cause__`) is what the platform raised.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: Optional[int] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
        details: Optional[List[Dict[str, Any]]] = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.request_id = request_id
        self.retry_after = retry_after
        self.details = details if details is not None else []


class Retry:
    """Limits of attempts and delays, in seconds. `tries` counts all attempts; 1 disables repetitions."""

    def __init__(
        self, tries: int = 4, first_delay: float = 0.25, longest_delay: float = 8.0, longest_wait: float = 60.0
    ) -> None:
        self.tries = tries
        self.first_delay = first_delay
        self.longest_delay = longest_delay
        self.longest_wait = longest_wait

    def delay(self, tried: int, retry_after: Optional[float]) -> Optional[float]:
        """Seconds before the next attempt; None when there is none."""
        if tried >= self.tries or (retry_after is not None and retry_after > self.longest_wait):
            return None
        if retry_after is not None:
            return retry_after + random.random() * self.first_delay
        return random.random() * min(self.longest_delay, self.first_delay * 2 ** (tried - 1))


def _retry_after(header: Optional[str]) -> Optional[float]:
    if header is None:
        return None
    if header.isdigit():
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def decode(value: Any, shape: Any, shapes: Mapping[str, Any]) -> Any:
    """Turns exact text into `int` and `Decimal`, where the shape says so. Everything else stays as it is."""
    if isinstance(shape, str):
        if shape == "i":
            return int(value) if isinstance(value, str) else value
        if shape == "d":
            return Decimal(value) if isinstance(value, str) else value
        return decode(value, shapes[shape], shapes)
    if isinstance(shape, list):
        return [decode(each, shape[0], shapes) for each in value] if isinstance(value, list) else value
    if isinstance(value, dict):
        every = shape.get("*")
        return {
            name: decode(each, shape[name], shapes)
            if name in shape
            else (decode(each, every, shapes) if every is not None else each)
            for name, each in value.items()
        }
    return value


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(_text(each) for each in value)
    return str(value)


def encode(value: Any, shape: Any, shapes: Mapping[str, Any]) -> Any:
    """The reverse of `decode`: whole numbers and decimals as exact text, where the shape says so."""
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(shape, str):
        if shape in ("i", "d"):
            return value if value is None else str(value)
        return encode(value, shapes[shape], shapes)
    if isinstance(value, (list, tuple)):
        return [encode(each, shape[0] if isinstance(shape, list) else None, shapes) for each in value]
    if isinstance(value, Mapping):
        fields = shape if isinstance(shape, dict) else {}
        return {name: encode(each, fields.get(name, fields.get("*")), shapes) for name, each in value.items()}
    return value


class Core:
    """One service and one key. Connections are not shared between calls, so threads may share a client."""

    def __init__(self, base_url: str, key: str, retry: Optional[Retry] = None, timeout: float = 30.0) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or parts.hostname is None:
            raise ValueError("base_url must start with http:// or https:// and name a host")
        self._host = parts.hostname
        self._port = parts.port
        self._is_secure = parts.scheme == "https"
        self._prefix = parts.path.rstrip("/")
        self._key = key
        self._retry = retry if retry is not None else Retry()
        self._timeout = timeout

    def _open(self, timeout: float) -> http.client.HTTPConnection:
        if self._is_secure:
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=context)
        return http.client.HTTPConnection(self._host, self._port, timeout=timeout)

    def _send(
        self,
        method: str,
        url: str,
        body: Optional[bytes],
        headers: Mapping[str, str],
        timeout: float,
    ) -> Tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        connection = self._open(timeout)
        try:
            sent = {"authorization": f"Bearer {self._key}", **headers}
            if body is not None:
                sent["content-type"] = "application/json"
            connection.request(method, url, body=body, headers=sent)
            return connection, connection.getresponse()
        except BaseException:
            connection.close()
            raise

    def _url(self, path: str, params: Mapping[str, Any], query: Mapping[str, Any]) -> str:
        for name, value in params.items():
            path = path.replace("{" + name + "}", quote(_text(value), safe=""))
        given = {name: _text(value) for name, value in query.items() if value is not None}
        return self._prefix + path + (f"?{urlencode(given)}" if given else "")

    @staticmethod
    def _problem(response: http.client.HTTPResponse, text: bytes) -> FathomError:
        waits = _retry_after(response.getheader("retry-after"))
        request_id = response.getheader("x-request-id")
        try:
            envelope = json.loads(text)
            error = envelope["error"]
            return FathomError(
                str(error["code"]),
                str(error["message"]),
                status=response.status,
                request_id=envelope.get("requestId") or request_id,
                retry_after=waits,
                details=error.get("details"),
            )
        except (ValueError, KeyError, TypeError):
            return FathomError(
                "invalid_answer",
                f"The response has status {response.status} and no error envelope.",
                status=response.status,
                request_id=request_id,
                retry_after=waits,
            )

    def _attempt(
        self, method: str, url: str, body: Optional[bytes], headers: Mapping[str, str]
    ) -> Tuple[http.client.HTTPResponse, bytes]:
        try:
            connection, response = self._send(method, url, body, headers, self._timeout)
            try:
                text = response.read()
            finally:
                connection.close()
        except (OSError, http.client.HTTPException) as cause:
            raise FathomError("connection_lost", f"No response arrived: {cause}") from cause
        if response.status >= 400:
            raise self._problem(response, text)
        return response, text

    def call(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any],
        query: Mapping[str, Any],
        body: Any = None,
        sends: Any = None,
        headers: Optional[Mapping[str, Any]] = None,
        shape: Any = None,
        shapes: Mapping[str, Any],
        repeats: bool,
    ) -> Any:
        """Sends one call. A call that is safe to repeat is attempted again on 429, 502, 503, 504 and lost connections."""
        url = self._url(path, params, query)
        sent = None if body is None else json.dumps(encode(body, sends, shapes)).encode()
        given = {name: _text(value) for name, value in (headers or {}).items() if value is not None}
        tried = 0
        while True:
            tried += 1
            try:
                response, text = self._attempt(method, url, sent, given)
                break
            except FathomError as failure:
                passes = failure.code == "connection_lost" or failure.status in TRANSIENT
                wait = self._retry.delay(tried, failure.retry_after) if repeats and passes else None
                if wait is None:
                    raise
            time.sleep(wait)
        if response.status == 204 or text == b"":
            return None
        kind = response.getheader("content-type") or ""
        if not kind.startswith("application/json"):
            return text.decode() if kind.startswith("text/") or kind == "application/x-ndjson" else text
        try:
            answer = json.loads(text)
        except ValueError as cause:
            raise FathomError("invalid_answer", "The response is no JSON.", status=response.status) from cause
        return answer if shape is None else decode(answer, shape, shapes)

    def stream(
        self, path: str, *, params: Mapping[str, Any], query: Mapping[str, Any]
    ) -> Iterator[Tuple[str, Dict[str, Any]]]:
        """Events of a stream as `(event, data)`, until it closes. The data is as on the wire: amounts are text."""
        try:
            connection, response = self._send("GET", self._url(path, params, query), None, {}, SILENCE)
        except (OSError, http.client.HTTPException) as cause:
            raise FathomError("connection_lost", f"No response arrived: {cause}") from cause
        try:
            if response.status >= 400:
                raise self._problem(response, response.read())
            event, data = "message", []
            while True:
                try:
                    line = response.readline()
                except TimeoutError as cause:
                    raise FathomError("stream_silent", "The stream sent neither frames nor heartbeats.") from cause
                except (OSError, http.client.HTTPException) as cause:
                    raise FathomError("stream_broken", "The connection of the stream was lost.") from cause
                if line == b"":
                    raise FathomError("stream_broken", "The stream ended without its last frame.")
                text = line.decode().rstrip("\r\n")
                if text.startswith("event:"):
                    event = text[6:].strip()
                elif text.startswith("data:"):
                    data.append(text[5:].removeprefix(" "))
                elif text == "" and data:
                    yield event, json.loads("\n".join(data))
                    if event == "close":
                        return
                    event, data = "message", []
        finally:
            connection.close()
