import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SOL, USDC } from "../../../src/domain/Address.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { mintOf, MONDAY, trade } from "../../market/tape/tape.ts"
import { type Answer, call, keyOf } from "../../support/http.ts"
import { block, makeBooks, minted, reading, setSecond } from "../../support/reads.ts"

const TOKEN = mintOf(1)
/** A token that traded and never at a known price in dollars. */
const UNPRICED = mintOf(2)
/** A token that traded against dollars. */
const DOLLARED = mintOf(3)

const HOUR = 3600
const DOLLAR = 1_000_000_000n

const chart = (token: string, query: Record<string, string> = {}) =>
  call(`/api/v1/market/chart/${token}?${new URLSearchParams(query)}`, { key: "a" })

const bars = (answer: Answer): ReadonlyArray<unknown> => [answer.json("data.bars")].flat()

/** A trade so many seconds after `MONDAY`. */
const at = (second: number, given: Partial<TapeTrade> = {}) =>
  trade({ mint: TOKEN, timeMs: (MONDAY + second) * 1000, slot: 1000 + second, ...given })

/** A sale of SOL for dollars. */
const ofSol = { mint: SOL, side: "sell", lamports: null, decimals: 9 } as const

/** A swap against dollars while SOL was worth 200 of them. */
const forDollars = { mint: DOLLARED, lamports: null, solUsdNanos: 200n * DOLLAR, priceUsd: 3 } as const

/** A bar in which one wallet bought so many times, and nothing changed after it closed. */
const bought = (volume: number, trades: number) => ({
  v: volume,
  n: trades,
  buys: trades,
  sells: 0,
  buyVolume: volume,
  sellVolume: 0,
  traders: 1,
  outliers: 0,
  isWhole: true,
  revision: 0
})

const trades = [
  at(10, { priceUsd: 1, volumeUsdNanos: 3n * DOLLAR }),
  at(20, { priceUsd: 4 }),
  at(30, { ...forDollars, side: "sell", volumeUsdNanos: 7n }),
  at(31, { ...forDollars, priceUsd: 4, solUsdNanos: 400n * DOLLAR, volumeUsdNanos: 6n * DOLLAR }),
  at(32, { ...forDollars, priceUsd: 5, solUsdNanos: null }),
  at(40, { mint: UNPRICED, priceUsd: null, volumeUsdNanos: null }),
  at(200, { ...ofSol, priceUsd: 3, amount: 10n * DOLLAR, volumeUsdNanos: 30n * DOLLAR }),
  at(HOUR - 1, { priceUsd: 6, volumeUsdNanos: 7n * DOLLAR }),
  at(HOUR - 1, { ...ofSol, priceUsd: 150, index: 1 })
]

const books = makeBooks()
for (const mint of [TOKEN, UNPRICED, DOLLARED, SOL, USDC]) {
  books.tokens.set(mint, minted(2_000_000_000_000n, 6))
}

const read = Effect.gen(function* () {
  const tape = yield* Tape
  yield* setSecond(HOUR)
  yield* tape.apply(block(0))
  yield* tape.apply(block(HOUR, { trades }))
})

layer(reading({ books, world: { keys: [keyOf("a")] } }))("a chart in SOL", (it) => {
  it.effect("shows the SOL that was paid, without a price of SOL in dollars", () =>
    Effect.gen(function* () {
      yield* read
      const answer = yield* chart(TOKEN, { denom: "sol" })
      assert.deepStrictEqual(bars(answer), [
        { ...bought(0.02, 2), t: MONDAY * 1000, isWhole: false, o: 0.01, h: 0.01, l: 0.01, c: 0.01 },
        { ...bought(0.01, 1), t: (MONDAY + HOUR - 60) * 1000, o: 0.01, h: 0.01, l: 0.01, c: 0.01 }
      ])
      assert.strictEqual(answer.json("meta.coverage.missingBars"), 0)
      const itself = yield* chart(SOL, { denom: "sol", limit: "1" })
      assert.strictEqual(itself.json("data.bars.0.o"), 1)
      assert.strictEqual(itself.json("data.bars.0.c"), 1)
      const beside = yield* chart(UNPRICED, { denom: "sol" })
      assert.strictEqual(beside.json("data.bars.0.c"), 0.01)
    })
  )

  it.effect("draws USDC as the other side of SOL: one in dollars, the inverse in SOL", () =>
    Effect.gen(function* () {
      const [usd, sol] = [yield* chart(USDC), yield* chart(USDC, { denom: "sol" })]
      assert.strictEqual(usd.status, 200, usd.text)
      const [first, last] = [MONDAY * 1000 + 180_000, (MONDAY + HOUR - 60) * 1000]
      const sides = { buys: 1, sells: 0, sellVolume: 0 }
      assert.deepInclude(bars(usd)[0], { t: first, o: 1, h: 1, l: 1, c: 1, v: 30, n: 1, buyVolume: 30, ...sides })
      assert.deepInclude(bars(usd)[1], { t: last, o: 1, h: 1, l: 1, c: 1, n: 1 })
      assert.deepInclude(bars(sol)[0], { t: first, o: 1 / 3, h: 1 / 3, l: 1 / 3, c: 1 / 3, v: 10, n: 1, ...sides })
      assert.deepInclude(bars(sol)[1], { t: last, o: 1 / 150, h: 1 / 150, l: 1 / 150, c: 1 / 150 })
    })
  )

  it.effect("counts swaps against dollars at the SOL price of their own block, to the lamport", () =>
    Effect.gen(function* () {
      const answer = yield* chart(DOLLARED, { denom: "sol" })
      assert.deepStrictEqual(bars(answer), [
        {
          t: MONDAY * 1000,
          isWhole: false,
          o: 0.015,
          h: 0.015,
          l: 0.01,
          c: 0.01,
          n: 3,
          buys: 2,
          sells: 1,
          traders: 1,
          outliers: 0,
          revision: 0,
          // Seven nano-dollars are less than a lamport.
          v: 0.015,
          buyVolume: 0.015,
          sellVolume: 0
        }
      ])
    })
  )
})
