/**
 * Compares trades and statistics of tokens with a count from raw blocks that shares no code with them, on a simulated
 * chain.
 */
import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { blocksOf, call, slotsBetween } from "../../scripts/recompute/chain.ts"
import { legsOf, type RawLeg, readTransaction, SOL } from "../../scripts/recompute/legs.ts"
import { sided } from "../../scripts/recompute/record.ts"
import type { Mint } from "../../src/domain/Address.ts"
import type { LargestTrade } from "../../src/api/schemas/TokenStats.ts"
import type { TokenTrade } from "../../src/api/schemas/TokenTrade.ts"
import { Market } from "../../src/market/tape/Market.ts"
import { MarketReader } from "../../src/market/reads/MarketReader.ts"
import { largestTrades } from "../../src/market/reads/largestTrades.ts"
import { largestWindows, rangeRequest, tokenStats } from "../../src/market/reads/tokenStats.ts"
import { TradesReader } from "../../src/market/reads/TradesReader.ts"
import { TokenBook } from "../../src/tokens/TokenBook.ts"
import { layerWithTrades, Simulator } from "../../src/testing/SimulatedMarket.ts"

/** Two minutes of the chain, less than half of the shortest window. */
const SLOTS = 600
/** How many tokens are compared, most traded first. */
const MOST = 12
const PAGE = 37

interface RawTrade extends Pick<RawLeg, "pool">, ReturnType<typeof sided> {
  readonly signature: string
  readonly slot: number
  readonly blockTime: number
}

const readAll = (rpcUrl: string) =>
  Effect.promise(async (): Promise<ReadonlyArray<RawTrade>> => {
    const newest = Number(await call(rpcUrl, "getSlot", []))
    const trades: Array<RawTrade> = []
    for await (const { blockTime, slot, transactions } of blocksOf(
      rpcUrl,
      await slotsBetween(rpcUrl, newest - SLOTS + 1, newest)
    )) {
      for (const transaction of transactions) {
        const [signature = ""] = transaction.transaction.signatures
        const legs = legsOf(readTransaction(transaction))
        trades.push(
          ...legs.map(({ input, output, pool }) => ({ ...sided(input, output), pool, signature, slot, blockTime }))
        )
      }
    }
    return trades
  })

/** The fields of a trade that both sides have, as text. */
const ofRaw = ({ isBuy, pool, quote, signature, slot, token }: RawTrade) =>
  [slot, signature, isBuy ? "buy" : "sell", pool, token.amount, quote.mint === SOL ? quote.amount : null].join(" ")

const ofRead = ({ legs: { quote, token }, pool, side, signature, slot }: TokenTrade) =>
  [slot, signature, side, pool, token.amount, quote?.amount ?? null].join(" ")

/** All pages of a mint, joined. */
const allTrades = Effect.fnUntraced(function* (mint: Mint) {
  const reader = yield* TradesReader
  const filter = { side: null, wallet: null, pool: null, minUsdNanos: null, fromMs: null, toMs: null }
  const first = yield* reader.ofToken(mint, { filter, before: null, limit: PAGE })
  const trades = [...first.trades]
  let { next } = first
  while (next !== null) {
    const page = yield* reader.ofToken(mint, { filter, before: next, limit: PAGE })
    trades.push(...page.trades)
    next = page.next
  }
  return trades
})

// Blocks of the future are not accepted, so the chain begins ten minutes ago.
const startUnixMs = Date.now() - 600_000

const market = TradesReader.layer.pipe(
  Layer.provideMerge(layerWithTrades({ seed: "recompute trades", speed: 0, swapsPerSecond: 20, startUnixMs })),
  Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ MIN_COVERAGE: "0.01" })))
)

layer(market, { timeout: "2 minutes", excludeTestServices: true })("a count from raw blocks", (it) => {
  it.effect("finds each trade of a token once, and the sums of its window", () =>
    Effect.gen(function* () {
      const [simulator, tape, reader] = [yield* Simulator, yield* Market, yield* MarketReader]
      const tokens = yield* TokenBook
      yield* simulator.advance(SLOTS)
      const raw = yield* readAll(simulator.rpcUrl)
      yield* Effect.sleep("50 millis").pipe(
        Effect.repeat({ until: () => tape.newestSlot() >= newestOf(raw), times: 2000 })
      )
      // The statistics of the newest block, whatever the time is.
      const nowMs = tape.state.now * 1000
      const now = { nowMs, life: { observedAtMs: nowMs, expiresAtMs: null } }
      const firstSlot = newestOf(raw) - SLOTS + 1
      const byMint = Array.from(Map.groupBy(raw, ({ token }) => token.mint))
        .toSorted(([, a], [, b]) => b.length - a.length)
        .slice(0, MOST)
      let compared = 0
      for (const [mint, expected] of byMint) {
        const found = (yield* allTrades(mint as Mint)).filter(({ slot }) => slot >= firstSlot)
        assert.deepStrictEqual(found.map(ofRead).toSorted(), expected.map(ofRaw).toSorted(), mint)
        assert.strictEqual(new Set(found.map(({ id }) => id)).size, found.length)
        compared += found.length
        const chart = yield* reader.chart(mint as Mint, rangeRequest(null, now.nowMs))
        const stats = tokenStats({ tape, tokens }, mint as Mint, chart, now)
        const [window] = stats.windows
        const windows = largestWindows(tape, mint as Mint, stats)
        // The window begins before the recording, so a larger trade may be missing. The minute does not.
        const minute = { fromMs: nowMs - 60_000, trades: 1, unpriced: 0 }
        const [unknown, largest] = yield* largestTrades(tape, mint as Mint, [...windows.slice(0, 1), minute], nowMs)
        const within = expected.filter(({ blockTime }) => blockTime * 1000 >= (window?.fromMs ?? 0))
        const bought = found.filter(({ side, timeMs }) => side === "buy" && timeMs >= (window?.fromMs ?? 0))
        assert.deepStrictEqual(
          [window?.trades.value, window?.buys.value, window?.sells.value],
          [within.length, within.filter(({ isBuy }) => isBuy).length, within.filter(({ isBuy }) => !isBuy).length].map(
            String
          ),
          `${mint} ${JSON.stringify(window?.trades)}`
        )
        assert.strictEqual(window?.buyVolumeUsd.value, dollars(bought), mint)
        assert.deepStrictEqual([unknown?.trade, unknown?.coverage.reason], [null, "not_captured"])
        assert.deepStrictEqual(largestIds(largest?.trade ?? null), largestAmong(found, minute.fromMs), mint)
      }
      assert.isAbove(compared, 500)
    })
  )
})

const newestOf = (trades: ReadonlyArray<RawTrade>): number => trades.at(-1)?.slot ?? 0

/** The exact sum of dollar values. */
const dollars = (trades: ReadonlyArray<TokenTrade>): string => {
  const nanos = trades.reduce((sum, { volumeUsd }) => sum + nanosOf(volumeUsd), 0n)
  const digits = nanos.toString().padStart(10, "0")
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/u, "")
}

/**
 * Signature, side and value of the largest of these trades since a time, for an exact comparison. Nothing without a
 * trade.
 */
const largestAmong = (trades: ReadonlyArray<TokenTrade>, fromMs: number) => {
  const [largest] = trades
    .filter(({ timeMs, volumeUsd }) => timeMs >= fromMs && volumeUsd !== null)
    .toSorted((a, b) => Number(nanosOf(b.volumeUsd) - nanosOf(a.volumeUsd)))
  return largest === undefined ? null : [largest.signature, largest.side, largest.volumeUsd]
}

const largestIds = (trade: LargestTrade["trade"]) => trade && [trade.signature, trade.side, trade.valueUsd]

const nanosOf = (text: string | null): bigint => {
  const [whole = "0", fraction = ""] = (text ?? "0").split(".")
  return BigInt(whole + fraction.padEnd(9, "0"))
}
