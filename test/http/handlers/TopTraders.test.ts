import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TopTradersAnswer } from "../../../src/api/TopTraders.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { mintOf, MONDAY, walletOf } from "../../market/tape/tape.ts"
import { type Answer, call, keyOf } from "../../support/http.ts"
import { block, makeBooks, reading, setSecond } from "../../support/reads.ts"
import { at, DOLLAR } from "../../support/views.ts"

const TOKEN = mintOf(1)
const LAMPORTS = 1_000_000_000n
const now = 4000

type Query = Record<string, string>
const traders = (query: Query = {}, key = "a", token: string = TOKEN, chain = "solana") =>
  call(`/api/v1/tokens/${chain}/${token}/top-traders?${new URLSearchParams(query)}`, { key })
const code = (answer: Answer) => `${answer.status} ${String(answer.json("error.code"))}`
const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(TopTradersAnswer))

/** Wallet `n` buys or sells so many tokens for so many dollars, a SOL being worth a hundred. */
const swap = (second: number, n: number, side: "buy" | "sell", tokens: bigint, dollars: bigint): TapeTrade =>
  at(second, {
    wallet: walletOf(n),
    side,
    index: n,
    amount: tokens * 1_000_000n,
    lamports: (dollars * LAMPORTS) / 100n,
    volumeUsdNanos: dollars * DOLLAR
  })

const keys = "abcd".split("").map((letter) => keyOf(letter))

layer(reading({ books: makeBooks(), world: { keys } }))("GET /api/v1/tokens/{chain}/{address}/top-traders", (it) => {
  it.effect("is unavailable before the first block", () =>
    Effect.gen(function* () {
      assert.strictEqual(code(yield* traders()), "503 data_unavailable")
    })
  )

  it.effect("ranks wallets by what they were seen to trade, exactly", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(now)
      yield* tape.apply(block(0))
      yield* tape.apply(
        block(now, {
          trades: [
            swap(200, 1, "buy", 300n, 100n),
            swap(now - 600, 1, "sell", 100n, 50n),
            swap(now - 500, 2, "buy", 10n, 1000n),
            swap(now - 400, 3, "sell", 7n, 20n),
            { ...swap(now - 300, 4, "buy", 1n, 5n), volumeUsdNanos: null }
          ]
        })
      )
      const answer = yield* traders({ window: "all" })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      const { data, meta, pagination } = yield* decode(answer.text)
      const pnl = {
        status: "partial" as const,
        reason: "observed_swaps_only_not_transfer_aware",
        observedAtMs: (MONDAY + now) * 1000
      }
      assert.deepStrictEqual(data.slice(0, 3), [
        {
          wallet: walletOf(2),
          rank: 1,
          boughtTokens: "10",
          soldTokens: "0",
          boughtUsd: "1000",
          soldUsd: "0",
          buys: 1,
          sells: 0,
          lastTradeAtMs: (MONDAY + now - 500) * 1000,
          realizedPnl: { ...pnl, value: { usd: "0", native: "0", roiPct: null } }
        },
        {
          wallet: walletOf(1),
          rank: 2,
          boughtTokens: "300",
          soldTokens: "100",
          boughtUsd: "100",
          soldUsd: "50",
          buys: 1,
          sells: 1,
          lastTradeAtMs: (MONDAY + now - 600) * 1000,
          // A third of a hundred dollars was paid for what was sold, to the nano-dollar and the lamport.
          realizedPnl: { ...pnl, value: { usd: "16.666666667", native: "0.166666667", roiPct: "50.0000000015" } }
        },
        {
          wallet: walletOf(3),
          rank: 3,
          boughtTokens: "0",
          soldTokens: "7",
          boughtUsd: "0",
          soldUsd: "20",
          buys: 0,
          sells: 1,
          lastTradeAtMs: (MONDAY + now - 400) * 1000,
          realizedPnl: { ...pnl, status: "unavailable", value: { usd: null, native: null, roiPct: null } }
        }
      ])
      assert.strictEqual(data[3]?.boughtUsd, null, "a purchase of unknown worth")
      assert.deepStrictEqual(pagination, { total: 4, hasMore: false, nextCursor: null })
      const { requestId, ...rest } = meta
      assert.strictEqual(requestId, answer.headers.get("x-request-id"))
      assert.deepStrictEqual(rest, {
        methodVersion: "public-research-v1",
        chain: "solana",
        slot: 1000 + now,
        tradeBasis: "net_trades",
        observedAtMs: (MONDAY + now) * 1000,
        address: TOKEN,
        window: "all",
        ranking: "observed_volume_desc",
        source: "native_execution_view",
        status: "partial",
        coverage: {
          basis: "observed_swaps_only",
          transferAware: false,
          windowFromMs: null,
          windowToMs: (MONDAY + now) * 1000,
          coveredFromMs: (MONDAY + 1) * 1000,
          historyComplete: false
        }
      })
    })
  )

  it.effect("keeps to a window, and reports its coverage", () =>
    Effect.gen(function* () {
      const hour = yield* traders({ window: "1h" })
      assert.strictEqual(hour.json("data.1.boughtTokens"), "0")
      assert.strictEqual(hour.json("data.1.soldTokens"), "100")
      assert.deepInclude(hour.json("meta.coverage"), {
        windowFromMs: (MONDAY + 420) * 1000,
        coveredFromMs: (MONDAY + 420) * 1000,
        historyComplete: true
      })
      const day = yield* traders()
      assert.strictEqual(day.json("meta.window"), "24h")
      assert.strictEqual(day.json("meta.coverage.coveredFromMs"), (MONDAY + 1) * 1000)
      assert.strictEqual(day.json("meta.coverage.historyComplete"), false)
    })
  )

  it.effect("turns pages of one moment, for 30 seconds", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(now + 5)
      const first = yield* traders({ limit: "2" }, "b")
      const cursor = String(first.json("pagination.nextCursor"))
      assert.deepStrictEqual(first.json("pagination"), { total: 4, hasMore: true, nextCursor: cursor })
      yield* tape.apply(
        block(now + 5, { trades: [swap(now + 5, 3, "sell", 1n, 9000n), swap(now + 5, 9, "buy", 1n, 1n)] })
      )
      yield* setSecond(now + 7)
      yield* tape.apply(block(now + 7, { afterGap: true }))
      const second = yield* traders({ limit: "2", cursor }, "b")
      const { requestId: _first, ...meta } = (yield* decode(first.text)).meta
      const { requestId: _second, ...later } = (yield* decode(second.text)).meta
      assert.deepStrictEqual(later, meta, "the record behind the view does not change with the pages")
      assert.strictEqual(second.json("data.0.wallet"), walletOf(3))
      assert.strictEqual(second.json("data.0.rank"), 3)
      assert.strictEqual(second.json("data.0.soldUsd"), "20")
      assert.deepStrictEqual(second.json("pagination"), { total: 4, hasMore: false, nextCursor: null })

      for (const other of [{ limit: "3" }, { window: "1h" }]) {
        assert.strictEqual(code(yield* traders({ limit: "2", cursor, ...other }, "b")), "400 invalid_cursor")
      }
      assert.strictEqual(code(yield* traders({ limit: "2", cursor }, "b", mintOf(2))), "400 invalid_cursor")
      for (const wrong of ["", "x", "a b", "a".repeat(513)]) {
        assert.strictEqual(code(yield* traders({ limit: "2", cursor: wrong }, "b")), "400 invalid_cursor")
      }
      yield* setSecond(now + 36)
      assert.strictEqual(code(yield* traders({ limit: "2", cursor }, "b")), "409 cursor_expired")
    })
  )

  it.effect("shows how old it is once the chain is silent", () =>
    Effect.gen(function* () {
      yield* setSecond(now + 600)
      const answer = yield* traders({}, "c")
      assert.strictEqual(answer.json("meta.status"), "stale")
      assert.strictEqual(answer.json("meta.observedAtMs"), (MONDAY + now + 7) * 1000)
      assert.strictEqual(answer.json("meta.coverage.historyComplete"), false)
      assert.strictEqual(answer.json("data.0.soldUsd"), "9020")
    })
  )

  it.effect("knows all of a token whose launch it saw, and nothing of one that never traded", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(now + 600)
      const fresh = mintOf(2)
      const launch = { event: "created", mint: fresh, launchpad: "pump-fun", pool: null } as const
      yield* tape.apply(
        block(now + 600, { launches: [launch], trades: [at(now + 600, { mint: fresh, decimals: null })] })
      )
      const answer = yield* traders({ window: "all" }, "c", fresh)
      assert.strictEqual(answer.json("meta.coverage.historyComplete"), true)
      assert.strictEqual(answer.json("data.0.boughtTokens"), null, "unknown decimals")
      assert.strictEqual(answer.json("data.0.boughtUsd"), "1")
      const never = yield* traders({ window: "1h" }, "c", mintOf(3))
      assert.strictEqual(never.json("meta.coverage.historyComplete"), false)
      assert.strictEqual(never.status, 200)
      assert.deepStrictEqual(never.json("data"), [])
      assert.strictEqual(never.json("meta.status"), "unavailable")
    })
  )

  it.effect("refuses what it does not know", () =>
    Effect.gen(function* () {
      const queries: ReadonlyArray<Query> = [
        { window: "6h" },
        { limit: "0" },
        { limit: "101" },
        { limit: "1.0" },
        { sort: "asc" },
        { wallet: walletOf(1) }
      ]
      for (const query of queries) {
        assert.strictEqual(code(yield* traders(query, "d")), "400 invalid_request", JSON.stringify(query))
      }
      const repeated = yield* call(`/api/v1/tokens/solana/${TOKEN}/top-traders?limit=1&limit=2`, { key: "d" })
      assert.strictEqual(code(repeated), "400 invalid_request")
      assert.strictEqual(code(yield* traders({}, "d", "abc")), "400 invalid_request")
      assert.strictEqual(code(yield* traders({}, "d", TOKEN, "base")), "400 unsupported_chain")
      assert.strictEqual(code(yield* traders({}, "d", "abc", "base")), "400 unsupported_chain")
    })
  )
})
