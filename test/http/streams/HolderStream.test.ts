/** Holders of a token on the market socket. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { MarketControlFrame, MarketDataFrame } from "../../../src/api/schemas/MarketFrame.ts"
import { COMPLETE, type CoverageReason } from "../../../src/domain/Scalar.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { HolderReader, type KnownHoldings, unknownFigures } from "../../../src/tokens/HolderReader.ts"
import { mintOf } from "../../market/tape/tape.ts"
import { call, keyOf } from "../../support/http.ts"
import { connectTo, type LiveClient } from "../../support/live.ts"
import { block, makeBooks, minted, reading, setSecond } from "../../support/reads.ts"
import { until } from "../../support/sse.ts"

const [TOKEN, NOWHERE, COLD] = [mintOf(1), mintOf(2), mintOf(3)]
const books = makeBooks()
books.tokens.set(TOKEN, minted(1_000_000n, 6))
books.tokens.set(NOWHERE, { _tag: "NoToken", observation: { slot: 1, observedAtMs: 1000 } })

/** What is kept of the token, and why nothing is. */
const kept = { lacking: "backfill_running" as CoverageReason | null, holders: 0, largest: 0n, suggestions: 0, slot: 1 }

const knownAt = (nowMs: number): KnownHoldings => ({
  total: 400n,
  holders: kept.holders,
  amountOf: () => 0n,
  largest: (count) => (count === 10 ? kept.largest : 2n * kept.largest),
  poolCoverage: COMPLETE,
  life: { observedAtMs: nowMs, expiresAtMs: nowMs + 60_000 },
  slot: kept.slot,
  lacking: null
})

const holders = Layer.succeed(HolderReader, {
  historyOf: () => Effect.die("not asked"),
  holdersOf: () => unknownFigures("not_captured"),
  knownOf: (_, nowMs) => (kept.lacking === null ? knownAt(nowMs) : null),
  countOf: () => unknownFigures("not_captured").holders,
  suggest: () => {
    kept.suggestions++
    return kept.lacking
  }
})

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Union([MarketDataFrame, MarketControlFrame])))
const of = (client: LiveClient, id: string) => client.frames().filter((frame) => frame["id"] === id)
const subscribe = (client: LiveClient, id: string, mint: string) =>
  client.ws.send(JSON.stringify({ op: "subscribe", id, channel: "holders", mint }))
const heard = (client: LiveClient, id: string, count: number) =>
  until(`${count} frames of ${id}, got ${client.texts.join("\n")}`, () => of(client, id).length >= count)
const soon = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 20)))

/** Lets seconds pass, one by one, with time for the service in between. */
const pass = (seconds: number) =>
  Effect.repeat(Effect.andThen(TestClock.adjust("1 second"), soon), { times: seconds - 1 })

layer(reading({ books, world: { keys: [keyOf("a")] } }).pipe(Layer.provide(holders)))("holders of a token", (it) => {
  it.effect("come as frames when their number or concentration changes, at most every five seconds", () =>
    Effect.gen(function* () {
      yield* setSecond(1)
      yield* Tape.use((tape) => tape.apply(block(1)))
      const session = yield* call("/api/v1/market/realtime/session", { key: "a" })
      const client = yield* connectTo(String(session.json("wsUrl")))
      yield* until("the first frame", () => client.texts.length > 0)
      subscribe(client, "h", TOKEN)
      subscribe(client, "none", NOWHERE)
      subscribe(client, "cold", COLD)
      yield* Effect.forEach(["h", "none", "cold"], (id) => heard(client, id, 1))
      assert.deepInclude(of(client, "none")[0], { type: "ended", code: "not_found" })
      assert.deepInclude(of(client, "cold")[0], { type: "ended", code: "data_unavailable" })
      assert.include(books.warmed, COLD)
      assert.deepInclude(of(client, "h")[0]?.["data"], { mint: TOKEN, state: "backfill_running", heldAmount: null })
      assert.isAbove(kept.suggestions, 0)

      Object.assign(kept, { lacking: null, holders: 3, largest: 100n })
      yield* pass(6)
      yield* heard(client, "h", 2)
      const data = Object(of(client, "h")[1]?.["data"])
      assert.deepInclude(data, { state: "followed", slot: 1, heldAmount: "400" })
      assert.deepStrictEqual([data.holders.value, data.top10Pct.value, data.top50Pct.value], ["3", "25", "50"])

      // A new block alone is no change.
      kept.slot = 2
      yield* pass(6)
      assert.lengthOf(of(client, "h"), 2)
      kept.largest = 200n
      yield* pass(6)
      yield* heard(client, "h", 3)
      assert.deepInclude(Object(of(client, "h")[2]?.["data"]).top10Pct, { value: "50", status: "known" })
      client.texts.forEach((text) => decode(text))
    })
  )
})
