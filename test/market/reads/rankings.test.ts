import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { MarketState } from "../../../src/market/memory/MarketState.ts"
import { type RankName, TokenRanking } from "../../../src/market/memory/TokenRanking.ts"
import { tokenWindow } from "../tape/naive.ts"
import { makeTape, mintOf, MONDAY, trade } from "../tape/tape.ts"

const FAR_MS = 4_000_000_000_000
const Seed = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))
const ranks: ReadonlyArray<RankName> = ["gainers", "losers", "volume", "trades", "traders"]
const TOKENS = 20

const tapeOf = (trades: Parameters<MarketState["apply"]>[0]) => {
  const tape = new MarketState({ tokens: 100, bars: 10_000, trades: 10_000, traders: 1000 }, "here")
  tape.apply(trades, FAR_MS)
  return tape
}

/** Tokens whose launch was seen in the window. */
const young: ReadonlySet<string> = new Set(Array.from({ length: TOKENS / 2 }, (_, n) => mintOf(2 * n)))
const nobody = () => false

const change = (from: number | null, to: number | null) => (from === null || to === null ? null : (to / from - 1) * 100)

describe("TokenRanking", () => {
  it.prop(
    "equals a sort of what the trades give, and leaves out unknown values",
    [Seed],
    ([seed]) => {
      const trades = makeTape({ seed, trades: 300, tokens: TOKENS, wallets: 20, paceSeconds: 20 })
      const tape = tapeOf(trades)
      const ranking = new TokenRanking(tape, "1h", (mint) => young.has(mint))
      const tokens = Array.from({ length: TOKENS }, (_, n) => mintOf(n)).flatMap((mint) => {
        const window = tokenWindow(
          trades.filter((each) => each.mint === mint),
          tape.now,
          "1h"
        )
        const begin = window.startPrice ?? (young.has(mint) ? window.firstPrice : null)
        const changePct = change(begin, window.lastPrice)
        return window.trades === 0 ? [] : [{ mint, ...window, changePct }]
      })
      const values = {
        gainers: ({ changePct }: (typeof tokens)[number]) => changePct,
        losers: ({ changePct }: (typeof tokens)[number]) => (changePct === null ? null : -changePct),
        volume: (token: (typeof tokens)[number]) =>
          token.unpriced === token.trades ? null : Number(token.volumeUsdNanos),
        trades: (token: (typeof tokens)[number]) => token.trades,
        traders: (token: (typeof tokens)[number]) => token.traders
      }
      for (const rank of ranks) {
        const sorted = tokens
          .filter((token) => values[rank](token) !== null)
          .toSorted((a, b) => (values[rank](b) ?? 0) - (values[rank](a) ?? 0) || (a.mint < b.mint ? -1 : 1))
        const found = Array.from({ length: TOKENS + 1 }, (_, place) => ranking.at(rank, place)?.mint)
        assert.deepStrictEqual(
          found.filter((mint) => mint !== undefined),
          sorted.map(({ mint }) => mint),
          rank
        )
        assert.deepStrictEqual(ranking.counts(rank), { ranked: sorted.length, unknown: tokens.length - sorted.length })
      }
      // Breadth counts tokens with a price at both ends of the window.
      const up = tokens.filter(({ changePct, startPrice }) => startPrice !== null && (changePct ?? 0) > 0).length
      assert.strictEqual(ranking.breadth.advancing, up)
    },
    { arbitrary: { runs: 12 } }
  )

  it("stays as it was taken while trades go on", () => {
    const tape = tapeOf([trade({ mint: mintOf(1), priceUsd: 2 })])
    const ranking = new TokenRanking(tape, "5m", nobody)
    tape.apply([trade({ mint: mintOf(1), slot: 2, priceUsd: 3 }), trade({ mint: mintOf(2), slot: 3 })], FAR_MS)
    assert.strictEqual(ranking.at("volume", 0)?.lastPrice, 2)
    assert.isUndefined(ranking.at("volume", 1))
    assert.strictEqual(ranking.at("trades", 0)?.trades, 1)
  })

  it("knows the change of a token that was first traded inside the window only if it was launched in it", () => {
    const tape = tapeOf([trade(), trade({ slot: 2, timeMs: (MONDAY + 200) * 1000, priceUsd: 2 })])
    assert.deepStrictEqual(new TokenRanking(tape, "5m", nobody).counts("gainers"), { ranked: 0, unknown: 1 })
    const launched = new TokenRanking(tape, "5m", () => true)
    assert.strictEqual(launched.at("gainers", 0)?.changePct, 100)
    assert.deepStrictEqual(launched.breadth, { advancing: 0, declining: 0, unchanged: 0 })
    tape.advance((MONDAY + 300) * 1000)
    const ranking = new TokenRanking(tape, "5m", nobody)
    assert.strictEqual(ranking.at("gainers", 0)?.changePct, 100)
    assert.deepStrictEqual(ranking.breadth, { advancing: 1, declining: 0, unchanged: 0 })
  })
})
