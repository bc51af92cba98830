import { assert, describe, it } from "@effect/vitest"
import { wholeOf } from "../../../src/market/memory/MarketState.ts"
import { KEPT_MS } from "../../../src/live/ReplayBuffer.ts"
import { MOST_MESSAGES } from "../../../src/live/market/MarketHub.ts"
import { A, codes, Scene, trades } from "./marketScene.ts"

/** Malformed messages. A number decides how a well-formed message is damaged. */
const malformed = (n: number): string => {
  const variants: ReadonlyArray<unknown> = [
    `{"op":"subscribe","id":"x${n}"`,
    n,
    null,
    [n],
    { op: n },
    { op: `op${n}` },
    { op: "subscribe", id: `s${n}`, channel: `c${n}` },
    { op: "subscribe", id: `s${n}`, channel: "__proto__" },
    { op: "subscribe", id: `s ${n}`, channel: "price", mint: A },
    { op: "subscribe", id: n, channel: "price", mint: A },
    { op: "subscribe", channel: "price", mint: A },
    { op: "subscribe", id: "\u2028".repeat(n % 70), channel: "price", mint: A },
    trades(`s${n}`, { mint: "0".repeat(n % 60) }),
    trades(`s${n}`, { mint: undefined }),
    trades(`s${n}`, { pool: A }),
    trades(`s${n}`, { minUsd: `-${n}` }),
    trades(`s${n}`, { minUsd: "0.0" }),
    trades(`s${n}`, { more: n }),
    trades(`s${n}`, { resume: { streamId: "str", seq: -n - 1 } }),
    trades(`s${n}`, { resume: n }),
    { op: "subscribe", id: `s${n}`, channel: "candles", mint: A },
    { op: "subscribe", id: `s${n}`, channel: "candles", mint: A, pool: A, resolution: "1m" },
    { op: "subscribe", id: `s${n}`, channel: "candles", mint: A, resolution: `${n}m0` },
    { op: "subscribe", id: `s${n}`, channel: "movers", window: n },
    { op: "subscribe", id: `s${n}`, channel: "launches", mint: A },
    { op: "unsubscribe" },
    { op: "unsubscribe", id: `none${n}` },
    { op: "ping", id: { n } },
    "\0".repeat(1 + (n % 40))
  ]
  const chosen = variants[n % variants.length]
  return typeof chosen === "string" ? chosen : JSON.stringify(chosen)
}

describe("malformed messages", () => {
  it("get the documented answers, five thousand of them, and leave nothing behind", () => {
    const scene = new Scene()
    const documented = new Set(["invalid_message", "unknown_subscription"])
    for (let n = 0, reader = scene.connect(); n < 5000; n++) {
      const before = reader.wire.controls.length
      reader.say(malformed(n))
      const answer = reader.wire.controls.at(-1)
      assert.strictEqual(reader.wire.controls.length, before + 1, malformed(n))
      assert.strictEqual(answer?.["type"], "error", malformed(n))
      assert.isTrue(documented.has(String(answer?.["code"])), JSON.stringify(answer))
      assert.isString(answer?.["message"])
      // Ten within a minute end the connection.
      assert.strictEqual(reader.wire.closedWith, (n + 1) % 10 === 0 ? 1008 : null)
      if (reader.wire.closedWith !== null) {
        scene.hub.closed(reader.connection, scene.nowMs)
        reader = scene.connect()
      }
    }
    assert.lengthOf(Array.from(scene.hub.topics), 0)
    scene.hub.closeAll(1001, "over", scene.nowMs)
    wholeOf(scene.hub.tickInSteps(scene.nowMs + KEPT_MS + 1))
    assert.lengthOf(Array.from(scene.hub.streams), 0)
    assert.strictEqual(scene.hub.size, 0)
    assert.strictEqual(scene.hub.replayBytes, 0)
  })

  it("name the field and the subscription", () => {
    const scene = new Scene()
    const { say, wire } = scene.connect()
    say(trades("a", { mint: "x" }))
    say({ op: "subscribe", id: "b", channel: "candles", mint: A, resolution: "7m" })
    say(trades("c", { more: 1 }))
    assert.deepStrictEqual(
      wire.controls.slice(1).map(({ code, field, id }) => [code, id, field]),
      [
        ["invalid_message", "a", "mint"],
        ["invalid_message", "b", "resolution"],
        ["invalid_message", "c", "more"]
      ]
    )
  })

  it("are counted: beyond three hundred messages a minute, each is an error", () => {
    const scene = new Scene()
    const { say, wire } = scene.connect()
    say(trades("one"))
    for (let n = 1; n + 2 <= MOST_MESSAGES; n += 2) {
      say({ op: "unsubscribe", id: "one" })
      say(trades("one"))
    }
    assert.notInclude(codes(wire), "rate_limited")
    say({ op: "unsubscribe", id: "one" })
    say(trades("one"))
    assert.include(codes(wire), "rate_limited")
  })
})
