"""A WebSocket client (RFC 6455) over the standard library: text messages, pings and closes, which is all that is used."""

from __future__ import annotations

import base64
import os
import socket
import ssl
import struct
from typing import Optional, Tuple
from urllib.parse import urlsplit

#: Most bytes of one message; longer than any frame of the contract.
LONGEST = 16 * 1024 * 1024


class Closed(Exception):
    """The other side closed the connection. 1006 when it was lost."""

    def __init__(self, code: int) -> None:
        super().__init__(f"closed with {code}")
        self.code = code


class WebSocket:
    """One connection. `timeout` is in seconds, for opening it and for each message."""

    def __init__(self, url: str, timeout: float) -> None:
        parts = urlsplit(url)
        is_secure = parts.scheme == "wss"
        host = parts.hostname or ""
        raw = socket.create_connection((host, parts.port or (443 if is_secure else 80)), timeout=timeout)
        try:
            self._socket = ssl.create_default_context().wrap_socket(raw, server_hostname=host) if is_secure else raw
            self._rest = b""
            key = base64.b64encode(os.urandom(16)).decode()
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            lines = [
                f"GET {target} HTTP/1.1",
                f"Host: {parts.netloc}",
                "Upgrade: websocket",
                "Connection: Upgrade",
                f"Sec-WebSocket-Key: {key}",
                "Sec-WebSocket-Version: 13",
            ]
            self._socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
            head = b""
            while b"\r\n\r\n" not in head:
                head += self._receive()
            head, self._rest = head.split(b"\r\n\r\n", 1)
            if b" 101 " not in head.split(b"\r\n", 1)[0]:
                raise Closed(1006)
        except BaseException:
            raw.close()
            raise

    def _receive(self) -> bytes:
        data = self._socket.recv(65536)
        if data == b"":
            raise Closed(1006)
        return data

    def _exactly(self, count: int) -> bytes:
        while len(self._rest) < count:
            self._rest += self._receive()
        data, self._rest = self._rest[:count], self._rest[count:]
        return data

    def _frame(self) -> Tuple[bool, int, bytes]:
        first, second = self._exactly(2)
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack(">H", self._exactly(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", self._exactly(8))
        if length > LONGEST:
            raise Closed(1009)
        return first & 0x80 != 0, first & 0x0F, self._exactly(length)

    def _write(self, opcode: int, payload: bytes) -> None:
        mask = os.urandom(4)
        length = len(payload)
        if length < 126:
            head = struct.pack(">BB", 0x80 | opcode, 0x80 | length)
        elif length < 65536:
            head = struct.pack(">BBH", 0x80 | opcode, 0xFE, length)
        else:
            head = struct.pack(">BBQ", 0x80 | opcode, 0xFF, length)
        masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))
        self._socket.sendall(head + mask + masked)

    def send(self, text: str) -> None:
        self._write(0x1, text.encode())

    def receive(self) -> str:
        """The next message. Raises `Closed` once the other side has closed, and `TimeoutError` when it is silent."""
        parts = b""
        while True:
            is_last, opcode, payload = self._frame()
            if opcode == 0x9:
                self._write(0xA, payload)
            elif opcode == 0x8:
                raise Closed(struct.unpack(">H", payload[:2])[0] if len(payload) >= 2 else 1005)
            elif opcode in (0x0, 0x1, 0x2):
                parts += payload
                if len(parts) > LONGEST:
                    raise Closed(1009)
                if is_last:
                    return parts.decode()

    def close(self, code: Optional[int] = 1000) -> None:
        try:
            if code is not None:
                self._write(0x8, struct.pack(">H", code))
        except OSError:
            pass
        finally:
            self._socket.close()
