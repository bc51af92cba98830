import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { LiquidityChange } from "../../../src/api/schemas/LiquidityEvent.ts"
import { TradeStoreUnavailable } from "../../../src/api/schemas/Trade.ts"
import { LiquidityEventsAnswer } from "../../../src/api/Trades.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { makeMemoryStores } from "../../../src/testing/MemoryStores.ts"
import { address, mintOf, MONDAY, walletOf } from "../../market/tape/tape.ts"
import { type Answer, call, keyOf } from "../../support/http.ts"
import { replaced } from "../../support/marketStores.ts"
import { block, makeBooks, minted, reading, setSecond } from "../../support/reads.ts"
import { at } from "../../support/views.ts"

const TOKEN = mintOf(1)
const UNKNOWN = mintOf(2)
const [POOL, OTHER] = [address(5, 1), address(5, 2)]
const NOW = 100

const books = makeBooks()
books.tokens.set(TOKEN, minted(1_000_000n, 6))
books.tokens.set(UNKNOWN, { _tag: "NoToken", observation: { slot: 1, observedAtMs: 1000 } })

const memory = makeMemoryStores()
const store = { isUnavailable: false }
const stored = replaced(memory, {
  trades: {
    liquidityOf: (request) =>
      Effect.suspend(() =>
        store.isUnavailable
          ? Effect.fail(new TradeStoreUnavailable({ cause: new Error("unavailable") }))
          : memory.trades.liquidityOf(request)
      )
  }
})

const change = (given: Partial<LiquidityChange> = {}): LiquidityChange => ({
  signature: "s",
  index: 1024,
  kind: "added",
  pool: POOL,
  dex: "raydium-cpmm",
  provider: walletOf(3),
  sides: [
    { mint: TOKEN, amount: 2n ** 64n - 1n, decimals: 6 },
    { mint: SOL, amount: 5n, decimals: 9 }
  ],
  opens: false,
  includesFees: false,
  ...given
})

const withLiquidity = (second: number, liquidity: ReadonlyArray<LiquidityChange>) =>
  block(second, { trades: [at(second, { signature: `t${second}`, pool: POOL })], liquidity })

type Query = Record<string, string>
const events = (query: Query = {}, mint = TOKEN) =>
  call(`/api/v1/tokens/solana/${mint}/liquidity-events?${new URLSearchParams(query)}`)
const ofPool = (pool: string, query: Query = {}) =>
  call(`/api/v1/pools/${pool}/liquidity-events?${new URLSearchParams(query)}`)
const read = (answer: Answer) => Schema.decodeUnknownSync(Schema.fromJsonString(LiquidityEventsAnswer))(answer.text)
const code = (answer: Answer) => `${answer.status} ${String(answer.json("error.code"))}`
const seconds = (answer: Answer) => read(answer).data.map(({ slot }) => slot - 1000)

layer(reading({ books, stored, world: { keys: [keyOf("a")] } }))("Liquidity events", (it) => {
  it.effect("are unavailable before the first block", () =>
    Effect.gen(function* () {
      assert.strictEqual(code(yield* events()), "503 data_unavailable")
    })
  )

  it.effect("have every field, newest first, with nothing missing or twice between the store and new blocks", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(NOW)
      yield* memory.blocks.open({ genesis: "one", isSandbox: false })
      for (let second = 0; second <= NOW; second++) {
        const opening = second === 0 ? [change({ index: 0, opens: true, provider: null })] : []
        const taken = second === 20 ? [change({ kind: "removed", pool: OTHER, includesFees: true })] : []
        const added = second === 90 ? [change()] : []
        const each = withLiquidity(second, [...opening, ...taken, ...added])
        yield* tape.apply(each)
        yield* memory.blocks.append([each])
      }
      const answer = yield* events()
      assert.strictEqual(answer.status, 200, answer.text)
      const { data, meta } = read(answer)
      assert.deepStrictEqual(seconds(answer), [90, 20, 0])
      assert.deepStrictEqual(data[1], {
        signature: "s",
        slot: 1020,
        timeMs: (MONDAY + 20) * 1000,
        kind: "removed",
        pool: OTHER,
        dex: "raydium-cpmm",
        provider: walletOf(3),
        amounts: [
          { mint: TOKEN, amount: 2n ** 64n - 1n, decimals: 6 },
          { mint: SOL, amount: 5n, decimals: 9 }
        ],
        opensPool: false,
        includesFees: true
      })
      assert.deepStrictEqual([data[2]?.opensPool, data[2]?.provider], [true, null])
      assert.deepStrictEqual([meta.address, meta.methodVersion], [TOKEN, "public-liquidity-events-v1"])
    })
  )

  it.effect("are complete within the record, and not captured before it", () =>
    Effect.gen(function* () {
      const inside = read(yield* events({ from: String(MONDAY + 10) })).meta
      assert.deepStrictEqual([inside.status, inside.coverage.complete], ["known", true])
      const before = read(yield* events({ from: String(MONDAY - 1000) })).meta
      assert.strictEqual(before.coverage.complete, false)
    })
  )

  it.effect("are found by kind, pool and time, and read in pages", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(seconds(yield* events({ kind: "added" })), [90, 0])
      assert.deepStrictEqual(seconds(yield* events({ pool: OTHER })), [20])
      assert.deepStrictEqual(seconds(yield* events({ from: String(MONDAY + 10), to: String(MONDAY + 50) })), [20])
      assert.deepStrictEqual(seconds(yield* ofPool(POOL)), [90, 0])
      const first = yield* events({ limit: "2" })
      assert.deepStrictEqual(seconds(first), [90, 20])
      const cursor = String(first.json("nextCursor"))
      const last = yield* events({ limit: "2", cursor })
      assert.deepStrictEqual([seconds(last), last.json("nextCursor")], [[0], null])
      assert.strictEqual(code(yield* events({ limit: "2", kind: "added", cursor })), "400 invalid_cursor")
    })
  )

  it.effect("refuse bad input by its field, and a pool or token that is not known", () =>
    Effect.gen(function* () {
      const bad = yield* events({ kind: "moved" })
      assert.deepStrictEqual([bad.status, bad.json("error.details.0.field")], [400, "kind"])
      assert.strictEqual(code(yield* ofPool(address(5, 9))), "404 pool_not_found")
      assert.strictEqual(code(yield* events({}, UNKNOWN)), "404 token_not_found")
    })
  )

  it.effect("are unavailable while the store does not answer", () =>
    Effect.gen(function* () {
      store.isUnavailable = true
      assert.strictEqual(code(yield* events()), "503 data_unavailable")
      store.isUnavailable = false
    })
  )
})
