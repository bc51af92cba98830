"""Uses the Python client against a running service. Prints what it saw as JSON."""

import json
import os
import sys
from decimal import Decimal

from fathom_client import Client, FathomError, Retry, watch_market, watch_tracker
from fathom_client import _watch

url, sol, mint = os.environ["URL"], os.environ["SOL"], os.environ["MINT"]
client = Client(url, os.environ["KEY"])


def code_of(call):
    try:
        call()
    except FathomError as failure:
        return [failure.code, failure.status, [detail["field"] for detail in failure.details]]
    return "no error"


quote = client.spot.quote(input_mint=sol, output_mint=mint, amount=1_000_000_000)
exits = client.spot.exit_check(body={"mint": mint, "amount": 1_000_000, "decimals": 6})
stream = [event for event, _ in client.spot.stream(input_mint=sol, output_mint=mint, amount=10**9, duration_seconds=1)]

lost = Client("http://127.0.0.1:49151", "k", retry=Retry(tries=1))
try:
    lost.account.key()
    lost_cause = None
except FathomError as failure:
    lost_cause = [failure.code, type(failure.__cause__).__name__]

# The connection is cut after the snapshot: the loop goes on with the frame after it.
opened = []


class Cut(_watch.WebSocket):
    def __init__(self, *args):
        super().__init__(*args)
        self.count = 0
        opened.append(self)

    def receive(self):
        self.count += 1
        # `open`, the snapshot, and one trade.
        if len(opened) == 1 and self.count > 3:
            self._socket.close()
        return super().receive()


tracker = []
for event in watch_tracker(client):
    tracker.append(event["type"])
    if "trade" in tracker:
        break

_watch.WebSocket = Cut
trades = []
for event in watch_market(client, [{"channel": "price", "mint": mint, "id": "p"}, {"channel": "freshness"}]):
    trades.append([event["id"], event["type"], event.get("seq")])
    if len(opened) > 1 and len(trades) > 6:
        break

json.dump(
    {
        "outAmount": str(quote["outAmount"]),
        "types": [type(quote["outAmount"]).__name__, type(quote["route"][0]["amountIn"]).__name__],
        "exit": type(exits["amount"]).__name__,
        "stream": [stream[0], stream[-1]],
        "refusals": [
            code_of(lambda: Client(url, "wrong").spot.quote(input_mint=sol, output_mint=mint, amount=1)),
            code_of(lambda: client.spot.quote(input_mint=sol, output_mint=mint, amount=-1)),
            code_of(lambda: client.tokens.facts(chain="a/b", address=mint)),
        ],
        "lost": lost_cause,
        "tracker": [tracker[0], tracker[-1]],
        "market": trades,
        "connections": len(opened),
    },
    sys.stdout,
    default=lambda value: str(value) if isinstance(value, Decimal) else None,
)
