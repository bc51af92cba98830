import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { MovementAnswer } from "../../../src/api/Market.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { mintOf, MONDAY } from "../../market/tape/tape.ts"
import { type Answer, call, keyOf } from "../../support/http.ts"
import { block, makeBooks, minted, reading, setSecond } from "../../support/reads.ts"
import { at, gainers, poolWith, priceAll } from "../../support/views.ts"

const COUNT = 9
const mints = Array.from({ length: COUNT }, (_, i) => mintOf(i + 1))
/** Its pools are not loaded. */
const UNLOADED = mintOf(COUNT + 1)

const books = makeBooks()
priceAll(books, mints)
for (const [i, mint] of mints.entries()) {
  books.tokens.set(mint, minted(2_000_000_000n, 6))
  // A million units a side for each number of the token: two dollars for each.
  books.pools.set(mint, [poolWith(mint, "raydium-cpmm", [BigInt(i + 1) * 1_000_000n, BigInt(i + 1) * 1_000_000n])])
}

const keys = "abcd".split("").map((letter) => keyOf(letter))
type Query = Record<string, string>
const movement = (query: Query = {}, key = "a") =>
  call(`/api/v1/market/movement?${new URLSearchParams({ minLiquidityUsd: "0", ...query })}`, { key })
const code = (answer: Answer) => `${answer.status} ${String(answer.json("error.code"))}`
const Addresses = Schema.fromJsonString(
  Schema.Struct({ data: Schema.Array(Schema.Struct({ token: Schema.Struct({ address: Schema.String }) })) })
)

/** The numbers of the tokens, in the order of the page. */
const order = ({ text }: Answer): ReadonlyArray<number> =>
  Schema.decodeUnknownSync(Addresses)(text).data.map(
    ({ token }) => mints.findIndex((mint) => mint === token.address) + 1
  )

/** The address, the change and its beginning of each row. */
const changes = (query: Query) =>
  Effect.map(movement(query, "a"), ({ text }) =>
    Schema.decodeUnknownSync(Schema.fromJsonString(MovementAnswer))(text).data.map(
      ({ changePct, changeSince, token }) => [token.address, changePct.value, changePct.status, changeSince]
    )
  )

const now = 4000

layer(reading({ books, world: { keys } }))("GET /api/v1/market/movement", (it) => {
  it.effect("is unavailable before the first block", () =>
    Effect.gen(function* () {
      assert.strictEqual(code(yield* movement()), "503 data_unavailable")
    })
  )

  it.effect("ranks gainers by an exact change, with everything that is known of them", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(now)
      yield* tape.apply(block(0))
      yield* tape.apply(
        block(now, {
          trades: [...gainers(COUNT, 100, now - 60), at(now - 50, { mint: UNLOADED, volumeUsdNanos: null })]
        })
      )
      const answer = yield* movement({ limit: "2" })
      assert.strictEqual(answer.status, 200, answer.text)
      const { data, meta, nextCursor } = yield* Schema.decodeUnknownEffect(Schema.fromJsonString(MovementAnswer))(
        answer.text
      )
      assert.deepStrictEqual(order(answer), [9, 8])
      const [first] = data
      assert.strictEqual(first?.rank, 1)
      assert.deepStrictEqual(first?.token, {
        chain: "solana",
        address: mintOf(9),
        symbol: "XMPL",
        name: "Example",
        decimals: 6,
        imageUrl: null
      })
      assert.deepStrictEqual(first?.changePct, {
        value: "90",
        unit: "percent",
        status: "known",
        observedAtMs: (MONDAY + now) * 1000,
        expiresAtMs: (MONDAY + now + 60) * 1000,
        coverage: { complete: true, reason: null }
      })
      assert.strictEqual(first?.priceUsd.value, "1.9")
      assert.strictEqual(first?.marketCapUsd.value, "3800")
      assert.strictEqual(first?.liquidityUsd.value, "18")
      assert.strictEqual(first?.volumeUsd.value, "81")
      assert.strictEqual(first?.trades.value, "9")
      assert.strictEqual(first?.traders.value, "9")
      assert.deepStrictEqual(first?.trades.coverage, { complete: true, reason: null })
      assert.isString(nextCursor)
      assert.deepStrictEqual(meta.ranking, { rank: "gainers", window: "1h", direction: "desc" })
      assert.deepStrictEqual(meta.excluded, { unknownRank: 1, unknownFilter: 0 })
      assert.strictEqual(meta.status, "known")
    })
  )

  it.effect("turns pages of one snapshot while the market moves on, and neither misses nor repeats a row", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      const first = yield* movement({ limit: "4", rank: "volume" })
      yield* tape.apply(
        block(now, { trades: [at(now, { mint: mintOf(1), index: 7000, volumeUsdNanos: 10n ** 15n, priceUsd: 50 })] })
      )
      const second = yield* movement({ limit: "4", rank: "volume", cursor: String(first.json("nextCursor")) })
      const third = yield* movement({ limit: "4", rank: "volume", cursor: String(second.json("nextCursor")) })
      assert.deepStrictEqual([order(first), order(second), order(third)], [[9, 8, 7, 6], [5, 4, 3, 2], [1]])
      assert.strictEqual(third.json("data.0.rank"), 9)
      assert.strictEqual(third.json("data.0.volumeUsd.value"), "1")
      assert.strictEqual(third.json("nextCursor"), null)
      yield* setSecond(now + 2)
      yield* tape.apply(block(now + 2))
      assert.deepStrictEqual(order(yield* movement({ limit: "1", rank: "volume" })), [1])
    })
  )

  it.effect("ranks by the requested value, and leaves out tokens below the minimum", () =>
    Effect.gen(function* () {
      const ranks = { trades: [9, 8], traders: [9, 8], volume: [1, 9] }
      for (const [rank, expected] of Object.entries(ranks)) {
        assert.deepStrictEqual(order(yield* movement({ rank, limit: "2" }, "b")), expected, rank)
      }
      assert.deepStrictEqual(order(yield* movement({ rank: "losers" }, "b")), [])
      const deep = yield* movement({ rank: "trades", minLiquidityUsd: "16" }, "b")
      assert.deepStrictEqual(order(deep), [9, 8])
      assert.deepStrictEqual(deep.json("meta.excluded"), { unknownRank: 0, unknownFilter: 1 })
      assert.include(books.warmed, UNLOADED)
      const traded = yield* movement({ rank: "trades", minVolumeUsd: "64.5" }, "b")
      assert.deepStrictEqual(order(traded), [9, 1])
      assert.deepStrictEqual(order(yield* call("/api/v1/market/movement", { key: "b" })), [])
    })
  )

  it.effect("never ranks a window that was not observed in full", () =>
    Effect.gen(function* () {
      const { json } = yield* movement({ window: "24h", rank: "trades" }, "b")
      assert.deepStrictEqual(json("data"), [])
      assert.strictEqual(json("meta.excluded.unknownRank"), COUNT + 1)
      assert.strictEqual(json("meta.coverage.reason"), "not_captured")
    })
  )

  it.effect("ends a cursor after a minute, or when it is another's", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      const first = yield* movement({ limit: "1", rank: "trades" }, "c")
      const cursor = String(first.json("nextCursor"))
      assert.strictEqual(code(yield* movement({ limit: "2", rank: "trades", cursor }, "c")), "400 invalid_cursor")
      assert.strictEqual(code(yield* movement({ limit: "1", rank: "traders", cursor }, "c")), "400 invalid_cursor")
      assert.strictEqual(
        code(yield* movement({ limit: "1", rank: "trades", window: "5m", cursor }, "c")),
        "400 invalid_cursor"
      )
      assert.strictEqual(
        code(yield* movement({ limit: "1", rank: "trades", minVolumeUsd: "1", cursor }, "c")),
        "400 invalid_cursor"
      )
      yield* setSecond(now + 62)
      yield* tape.apply(block(now + 62))
      const late = yield* movement({ limit: "1", rank: "trades", cursor }, "c")
      assert.strictEqual(late.status, 200)
      assert.strictEqual(late.json("data.0.trades.status"), "known")
      yield* setSecond(now + 63)
      assert.strictEqual(code(yield* movement({ limit: "1", rank: "trades", cursor }, "c")), "409 cursor_expired")
      for (const wrong of ["", "abc", "!", "a".repeat(513), `${cursor}A`]) {
        assert.strictEqual(
          code(yield* movement({ limit: "1", rank: "trades", cursor: wrong }, "c")),
          "400 invalid_cursor",
          wrong
        )
      }
    })
  )

  it.effect("answers null for a value once it has expired", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      // A block that is half a minute old when it is read: its numbers expire half a minute before the page does.
      yield* setSecond(now + 150)
      yield* tape.apply(block(now + 120))
      const first = yield* movement({ limit: "1", rank: "trades" }, "d")
      const cursor = String(first.json("nextCursor"))
      assert.strictEqual(first.json("meta.observedAtMs"), (MONDAY + now + 120) * 1000)
      yield* setSecond(now + 181)
      yield* tape.apply(block(now + 181))
      const second = yield* movement({ limit: "1", rank: "trades", cursor }, "d")
      assert.strictEqual(second.status, 200, second.text)
      assert.strictEqual(second.json("data.0.trades.value"), null)
      assert.strictEqual(second.json("data.0.trades.status"), "stale")
      assert.strictEqual(second.json("meta.status"), "stale")
      assert.deepStrictEqual(second.json("meta.coverage"), { complete: false, reason: "source_stale" })
    })
  )

  it.effect("ranks by the numbers that it shows, though trades have come since the second began", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      const late = now + 300
      const traded = (mint: number, index: number, dollars: bigint) =>
        at(late, { mint: mintOf(mint), index, volumeUsdNanos: dollars * 10n ** 9n })
      yield* setSecond(late)
      yield* tape.apply(block(late, { trades: [traded(1, 1, 9n), traded(2, 2, 5n)] }))
      const query = { window: "5m", rank: "volume" }
      assert.deepStrictEqual(order(yield* movement(query, "d")), [1, 2])
      yield* tape.apply(block(late, { trades: [traded(2, 3, 7n)] }))
      // Another minimum is another view, of the same second.
      const answer = yield* movement({ ...query, minVolumeUsd: "1" }, "d")
      assert.deepStrictEqual(order(answer), [2, 1])
      assert.strictEqual(answer.json("data.0.rank"), 1)
      assert.strictEqual(answer.json("data.0.volumeUsd.value"), "12")
    })
  )

  it.effect("ranks tokens that are younger than the window by their change since the launch", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      const born = now + 400
      const launched = mintOf(COUNT + 2)
      const unseen = mintOf(COUNT + 3)
      yield* setSecond(born + 20)
      yield* tape.apply(
        block(born, {
          trades: [at(born, { mint: launched, index: 1, priceUsd: 2 }), at(born, { mint: unseen, index: 2 })],
          launches: [{ event: "created", mint: launched, launchpad: "pump-fun", pool: null }]
        })
      )
      // Read late, and earlier in the chain than the trade above.
      yield* tape.apply(block(born, { slot: 999 + born, trades: [at(born, { mint: launched, slot: 999 + born })] }))
      yield* tape.apply(block(born + 20, { trades: [at(born + 20, { mint: launched, priceUsd: 5 })] }))
      // The launch was seen, so its change is known in windows of which the record has only a part.
      assert.deepStrictEqual((yield* changes({ window: "24h" }))[0], [launched, "400", "known", "launch"])
      assert.deepStrictEqual((yield* changes({ window: "5m" }))[0], [launched, "400", "known", "launch"])
      const all = yield* changes({ window: "5m", rank: "trades" })
      assert.deepInclude(all, [unseen, null, "unavailable", "window"])
      yield* setSecond(born + 326)
      yield* tape.apply(block(born + 325, { trades: [at(born + 325, { mint: launched, priceUsd: 10 })] }))
      assert.deepStrictEqual((yield* changes({ window: "5m" }))[0], [launched, "100", "known", "window"])
      assert.deepStrictEqual((yield* changes({ window: "1h" }))[0], [launched, "900", "known", "launch"])
    })
  )

  const refusals: ReadonlyArray<Query> = [
    { window: "2h" },
    { rank: "safety" },
    { limit: "0" },
    { limit: "101" },
    { minLiquidityUsd: "-1" },
    { minLiquidityUsd: "1e3" },
    { minVolumeUsd: "" },
    { minVolumeUsd: "0".repeat(65) },
    { chain: "solana" }
  ]
  for (const query of refusals) {
    it.effect(`refuses ${JSON.stringify(query).slice(0, 60)}`, () =>
      Effect.gen(function* () {
        assert.strictEqual(code(yield* movement(query, "d")), "400 invalid_request")
      })
    )
  }
})
