"""Live events of the market and of tracked wallets, across reconnections."""

from __future__ import annotations

import json
import random
import time
from collections import OrderedDict
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence

from ._core import SILENCE, TRANSIENT, FathomError
from ._socket import Closed, WebSocket

Event = Dict[str, Any]

_AT_ONCE = frozenset({1001, 1012, 4401})
_STOP = frozenset({1008, 1009, 4403, 4409})
_PASSING = frozenset({"rate_limited", "limiter_unavailable", "data_unavailable", "state_cold", "state_stale"})
_SEEN = 4096


class _Market:
    name, closed_code = "market socket", "market_closed"

    def __init__(self, subscriptions: Sequence[Dict[str, Any]]) -> None:
        self.failures = 0
        self._stream = ""
        self._again: Dict[str, float] = {}
        self._places: Dict[str, Dict[str, Any]] = {
            str(terms.get("id", place)): {
                "message": {**terms, "op": "subscribe", "id": str(terms.get("id", place))},
                "at": None,
                "ended": False,
            }
            for place, terms in enumerate(subscriptions)
        }

    def _message(self, name: str) -> str:
        place = self._places[name]
        resume = {} if place["at"] is None else {"resume": place["at"]}
        return json.dumps({**place["message"], **resume})

    def opening(self) -> List[str]:
        self._again.clear()
        return [self._message(name) for name, place in self._places.items() if not place["ended"]]

    def due(self, now: float) -> List[str]:
        """Messages for subscriptions whose pause is over."""
        names = [name for name, at in self._again.items() if at <= now]
        return [self._message(name) for name in names if self._again.pop(name) <= now]

    def take(self, frame: Event) -> Optional[List[Optional[Event]]]:
        kind = frame["type"]
        if kind == "open":
            self._stream = frame["streamId"]
            return []
        if kind == "error":
            if frame["code"] == "rate_limited":
                return None
            raise FathomError("invalid_call", frame["message"])
        if kind == "ended":
            place = self._places.get(frame["id"])
            if place is None:
                return []
            if frame["code"] in _PASSING:
                self._again[frame["id"]] = time.monotonic() + max(2.0, (frame["retryAfterMs"] or 0) / 1000)
                return [frame]
            place["ended"] = True
            is_over = all(each["ended"] for each in self._places.values())
            return [frame, None] if is_over else [frame]
        if "seq" not in frame:
            return []
        place = self._places.get(frame["id"])
        if place is None or place["ended"]:
            return []
        before, place["at"] = place["at"], {"streamId": self._stream, "seq": frame["seq"]}
        if kind == "snapshot":
            self.failures = 0
            gap = frame["gap"]
            return [*([] if gap is None else [{"type": "gap", "id": frame["id"], **gap}]), frame]
        expected = 1 if before is None else before["seq"] + 1 + frame.get("skipped", 0)
        lost = {"type": "gap", "id": frame["id"], "fromMs": None, "toMs": frame["sentAtMs"], "reason": "lost"}
        events = [lost] if frame["seq"] > expected else []
        return [*events, {"type": "gap", "id": frame["id"], **frame["data"]} if kind == "gap" else frame]


class _Tracker:
    name, closed_code = "tracker", "tracker_closed"

    def __init__(self) -> None:
        self.failures = 0
        self._stream: Optional[str] = None
        self._seq = -1
        self._ahead = -1
        self._is_resuming = False
        self._seen: "OrderedDict[str, None]" = OrderedDict()

    def opening(self) -> List[str]:
        self._is_resuming = self._stream is not None
        message = {"op": "resume", "streamId": self._stream, "seq": self._seq}
        return [json.dumps(message)] if self._is_resuming else []

    def due(self, now: float) -> List[str]:
        return []

    def take(self, frame: Event) -> Optional[List[Optional[Event]]]:
        kind = frame["type"]
        if "seq" not in frame or kind == "heartbeat":
            return None if self._is_resuming and kind in ("error", "heartbeat") else []
        if self._is_resuming:
            if kind != "snapshot" or frame.get("reason") != "resume":
                return []
            self._is_resuming = False
        if kind == "snapshot":
            self.failures = 0
            if frame["resumed"] and frame["streamId"] == self._stream:
                # The missed frames follow with their own numbers.
                self._ahead = frame["seq"]
            else:
                self._seq = frame["seq"]
            self._stream = frame["streamId"]
            gap = frame["gap"]
            return [frame, *([] if gap is None else [{"type": "gap", **gap}])]
        if frame["seq"] <= self._seq:
            return []
        expected = self._ahead + 1 if self._seq + 1 == self._ahead else self._seq + 1
        lost = {"type": "gap", "fromMs": None, "toMs": frame["sentAtMs"], "reason": "lost"}
        events: List[Optional[Event]] = [lost] if frame["seq"] > expected else []
        self._seq = frame["seq"]
        return events if kind == "trade" and not self._is_new(frame["eventId"]) else [*events, frame]

    def _is_new(self, event: str) -> bool:
        if event in self._seen:
            return False
        self._seen[event] = None
        if len(self._seen) > _SEEN:
            self._seen.popitem(last=False)
        return True


def _events(session: Callable[[], Dict[str, Any]], protocol: Any) -> Iterator[Event]:
    while True:
        pause = 0.0
        try:
            ticket = session()
            if ticket["wsUrl"] == "":
                raise FathomError("no_tracked_wallets", ticket.get("message") or "The account tracks no wallets.")
            connection = WebSocket(ticket["wsUrl"], SILENCE)
            try:
                for message in protocol.opening():
                    connection.send(message)
                while True:
                    events = protocol.take(json.loads(connection.receive()))
                    if events is None:
                        raise Closed(1006)
                    for event in events:
                        if event is None:
                            return
                        yield event
                    for message in protocol.due(time.monotonic()):
                        connection.send(message)
            finally:
                connection.close()
        except FathomError as failure:
            if failure.code != "connection_lost" and failure.status not in TRANSIENT:
                raise
            pause = failure.retry_after or 0.0
        except Closed as closed:
            if closed.code == 1000:
                return
            if closed.code in _STOP:
                message = f"The {protocol.name} closed the socket with code {closed.code}."
                raise FathomError(protocol.closed_code, message) from closed
            if closed.code in _AT_ONCE:
                continue
        except OSError:
            pass
        time.sleep(pause + random.random() * min(30.0, 0.5 * 2**protocol.failures))
        protocol.failures = min(protocol.failures + 1, 10)


def watch_market(client: Any, subscriptions: Sequence[Dict[str, Any]]) -> Iterator[Event]:
    """Live events of market subscriptions until the loop is left: for each a snapshot, then its frames in order.

    A subscription is a channel with its parameters, such as `{"channel": "trades", "mint": mint}`; `id` names it, by
    default its place in the list. A `gap` stands for events that could not be recovered. Frames are as on the wire.
    """
    return _events(lambda: client.market_realtime.session(), _Market(subscriptions))


def watch_tracker(client: Any, group: Optional[str] = None) -> Iterator[Event]:
    """Live events of the tracked wallets until the loop is left, each trade once. Frames are as on the wire."""
    return _events(lambda: client.tracker.session(group=group, control=True), _Tracker())
