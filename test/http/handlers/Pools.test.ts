import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { PoolAnswer } from "../../../src/api/Pools.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { address, mintOf } from "../../market/tape/tape.ts"
import { poolOf } from "../../market/tape/decoded.ts"
import { call, running } from "../../support/http.ts"
import { block, makeBooks, reading, setSecond } from "../../support/reads.ts"
import { eventually, makeTokenWorld, pools, TOKEN, tokensOver } from "../../support/tokens.ts"
import { at, poolWith } from "../../support/views.ts"
import { answered, assertInvalid, assertRefused, keys, liquidity } from "./tokenCalls.ts"

const pool = (of: string) => call(`/api/v1/pools/${of}`)

layer(running({ keys, tokens: tokensOver(makeTokenWorld()) }))("GET /api/v1/pools/{address}", (it) => {
  it.effect("gives the same figures as the liquidity of its token, with both tokens", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1000)
      const all = yield* eventually(liquidity(TOKEN, "", "b"), answered)
      const answer = yield* pool(pools.SOL_POOL)
      assert.strictEqual(answer.status, 200, answer.text)
      const { data, meta } = yield* Schema.decodeUnknownEffect(Schema.fromJsonString(PoolAnswer))(answer.text)
      assert.deepStrictEqual(answer.json("data.pool"), all.json("data.pools.0"))
      assert.deepStrictEqual([data.baseToken.address, data.baseToken.symbol], [TOKEN, "FERN"])
      assert.deepStrictEqual([data.quoteToken.address, data.quoteToken.decimals], [SOL, 9])
      assert.deepStrictEqual([meta.methodVersion, meta.status], ["public-pool-v1", "known"])
    })
  )

  it.effect("answers 404 for a pool that is not in memory, and 400 for a malformed address", () =>
    Effect.gen(function* () {
      assertRefused(yield* pool(mintOf(99)), 404, "pool_not_found")
      assertInvalid(yield* pool("nowhere"), "path", "address", "format")
    })
  )
})

const [TRADED, OTHER] = [mintOf(1), mintOf(2)]
const books = makeBooks()
const PAIR = address(5, 7)
books.pools.set(TRADED, [
  poolWith(TRADED, "raydium-cpmm", [1n, 1n]),
  { ...poolWith(TRADED, "raydium-cpmm", [1n, 1n]), address: PAIR, mintB: OTHER }
])

const trades = (of: string, query: Record<string, string> = {}) =>
  call(`/api/v1/pools/${of}/trades?${new URLSearchParams(query)}`, { key: "a" })

layer(reading({ books, world: { keys } }))("GET /api/v1/pools/{address}/trades", (it) => {
  it.effect("gives only the trades of the pool, between two tokens from either side, page by page", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(10)
      yield* tape.apply(block(0))
      yield* tape.apply(
        block(10, {
          trades: [
            at(10, { mint: TRADED, pool: poolOf(1), index: 0 }),
            at(10, { mint: TRADED, pool: PAIR, index: 1 }),
            at(10, { mint: OTHER, pool: PAIR, index: 2 }),
            at(10, { mint: TRADED, pool: null, role: "wallet", index: 200 })
          ]
        })
      )
      const one = yield* trades(poolOf(1))
      assert.strictEqual(one.status, 200, one.text)
      assert.deepStrictEqual([one.json("data.length"), one.json("data.0.index")], [1, 0])
      assert.strictEqual(one.json("meta.pool"), poolOf(1))
      const first = yield* trades(PAIR, { limit: "1" })
      assert.deepStrictEqual([first.json("data.0.index"), first.json("data.0.legs.token.mint")], [2, OTHER])
      const second = yield* trades(PAIR, { limit: "1", cursor: String(first.json("nextCursor")) })
      assert.deepStrictEqual([second.json("data.0.index"), second.json("nextCursor")], [1, null])
    })
  )

  it.effect("answers 404 for a pool that is not in memory, and 400 for a cursor of another pool", () =>
    Effect.gen(function* () {
      assertRefused(yield* trades(mintOf(99)), 404, "pool_not_found")
      const { json } = yield* trades(PAIR, { limit: "1" })
      assertRefused(yield* trades(poolOf(1), { limit: "1", cursor: String(json("nextCursor")) }), 400, "invalid_cursor")
      assertInvalid(yield* trades(PAIR, { pool: PAIR }), "query", "pool", "unknown")
    })
  )
})
