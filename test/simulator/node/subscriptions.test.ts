import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { readAddress } from "../../../src/programs/layout/bytes.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { Simulator } from "../../../src/simulator/Simulator.ts"
import { at, call, connect } from "./client.ts"

const CLOCK = "SysvarC1ock11111111111111111111111111111111"
const AMM_V4 = "675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8"

const bytesOf = (account: unknown): Uint8Array => Buffer.from(String(at(account, "data", 0)), "base64")

/** Frames up to the frame that announces a slot. */
const untilSlot = (next: Effect.Effect<unknown>) =>
  Effect.gen(function* () {
    const frames: Array<unknown> = []
    while (at(frames.at(-1), "method") !== "slotNotification") {
      frames.push(yield* next)
    }
    return frames
  })

const slotOf = (frame: unknown) => at(frame, "params", "result", "context", "slot")

layer(Simulator.layer({ seed: "sockets", speed: 0, startUnixMs: 1_790_000_000_000 }))("subscriptions", (it) => {
  it.effect("send an account once for each slot that writes it, before the next slot is announced", () =>
    Effect.gen(function* () {
      const { wsUrl, rpcUrl, advance } = yield* Simulator
      const { ask, next } = yield* connect(wsUrl)
      const subscribed = yield* ask("accountSubscribe", CLOCK, { encoding: "base64" })
      // Nothing ever writes this mint again, so it causes no frame.
      yield* ask("accountSubscribe", SOL, { encoding: "base64" })
      yield* ask("slotSubscribe")
      yield* advance(2)
      const slot = Number(at(yield* call(rpcUrl, "getSlot"), "result"))
      const [first, announced] = yield* untilSlot(next)
      assert.strictEqual(at(first, "method"), "accountNotification")
      assert.strictEqual(at(first, "params", "subscription"), at(subscribed, "result"))
      assert.strictEqual(slotOf(first), slot - 1)
      assert.strictEqual(
        Number(Buffer.from(bytesOf(at(first, "params", "result", "value"))).readBigUInt64LE()),
        slot - 1
      )
      assert.deepStrictEqual(at(announced, "params", "result"), { parent: slot - 1, root: slot - 1, slot })
      const [second, ...rest] = yield* untilSlot(next)
      assert.strictEqual(slotOf(second), slot)
      assert.strictEqual(rest.length, 1)
    })
  )

  it.effect("send only the program's accounts that match", () =>
    Effect.gen(function* () {
      const { wsUrl, advance, pools } = yield* Simulator
      const { ask, next } = yield* connect(wsUrl)
      const coin = pools().find(({ dex, open }) => dex === "raydium-amm-v4" && open())?.mintA
      yield* ask("programSubscribe", AMM_V4, {
        encoding: "base64",
        filters: [{ dataSize: 752 }, { memcmp: { offset: 400, bytes: coin } }]
      })
      yield* ask("slotSubscribe")
      yield* advance(40)
      let seen = 0
      for (let i = 0; i < 40; i++) {
        for (const frame of (yield* untilSlot(next)).slice(0, -1)) {
          const value = at(frame, "params", "result", "value")
          assert.strictEqual(at(frame, "method"), "programNotification")
          assert.isString(at(value, "pubkey"))
          assert.strictEqual(readAddress(bytesOf(at(value, "account")), 400), coin)
          seen++
        }
      }
      assert.isAbove(seen, 0)
    })
  )

  it.effect("stop when unsubscribed, and refuse to stop twice", () =>
    Effect.gen(function* () {
      const { wsUrl, advance } = yield* Simulator
      const { ask, next } = yield* connect(wsUrl)
      const id = at(yield* ask("accountSubscribe", CLOCK, { encoding: "base64" }), "result")
      yield* ask("slotSubscribe")
      assert.isTrue(at(yield* ask("accountUnsubscribe", id), "result"))
      assert.strictEqual(at(yield* ask("accountUnsubscribe", id), "error", "code"), -32602)
      yield* advance(1)
      assert.strictEqual((yield* untilSlot(next)).length, 1)
    })
  )

  it.effect("answer bad subscriptions and plain reads with errors, and stay open", () =>
    Effect.gen(function* () {
      const { wsUrl } = yield* Simulator
      const { ask } = yield* connect(wsUrl)
      assert.strictEqual(at(yield* ask("accountSubscribe", "nonsense"), "error", "code"), -32602)
      assert.strictEqual(at(yield* ask("getSlot"), "error", "code"), -32601)
      assert.isNumber(at(yield* ask("logsSubscribe", "all"), "result"))
      assert.strictEqual(at(yield* ask("logsSubscribe", { mentions: [] }), "error", "code"), -32602)
    })
  )
})
