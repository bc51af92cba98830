import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { quotient } from "../../../src/domain/decimal.ts"
import { Candles } from "../../../src/market/memory/Candles.ts"
import type { Bar } from "../../../src/market/memory/foldBars.ts"
import { TradeRecord, orderKey } from "../../../src/market/model/TradeRecord.ts"
import { bucketStart, type Resolution, widthOf } from "../../../src/market/model/resolutions.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { makeTape, MONDAY, record, shuffledWithin } from "../tape/tape.ts"

const resolutions = Object.keys(widthOf).filter((name): name is Resolution => name in widthOf)

const everything = (resolution: Resolution) => ({ resolution, from: null, to: null, limit: 100_000 })

const fill = (trades: ReadonlyArray<TapeTrade>) => {
  const candles = new Candles({ bars: 1_000_000 })
  const record = new TradeRecord()
  for (const trade of trades) {
    record.read(trade)
    record.token = 1
    candles.add(record)
  }
  return candles
}

const denoms = ["usd", "sol"] as const
type Denom = (typeof denoms)[number]

/** The lamports that a trade was worth and its price in SOL, from the amounts alone. */
const inSol = ({ amount, decimals, lamports, priceUsd, solUsdNanos, volumeUsdNanos }: TapeTrade) => {
  if (lamports !== null) {
    return {
      worth: lamports,
      price: decimals === null ? null : Number(lamports * 10n ** BigInt(decimals)) / Number(amount * 1_000_000_000n)
    }
  }
  return {
    worth: volumeUsdNanos === null || solUsdNanos === null ? null : (volumeUsdNanos * 1_000_000_000n) / solUsdNanos,
    price: priceUsd === null || solUsdNanos === null ? null : priceUsd / (Number(solUsdNanos) / 1e9)
  }
}

const inUsd = ({ priceUsd, volumeUsdNanos }: TapeTrade) => ({ worth: volumeUsdNanos, price: priceUsd })

const volumeOf = (trades: ReadonlyArray<TapeTrade>, of: typeof inSol): number =>
  quotient(
    trades.reduce((sum, trade) => sum + (of(trade).worth ?? 0n), 0n),
    1_000_000_000n
  )

const barOf = (second: number, trades: ReadonlyArray<TapeTrade>, resolution: Resolution, denom: Denom): Bar | null => {
  const of = denom === "sol" ? inSol : inUsd
  const inOrder = trades.toSorted((a, b) => orderKey(a.slot, a.index) - orderKey(b.slot, b.index))
  const prices = inOrder.map((trade) => of(trade).price).filter((price) => price !== null)
  const [open] = prices
  const close = prices.at(-1)
  if (open === undefined || close === undefined) {
    return null
  }
  const buys = trades.filter(({ side }) => side === "buy")
  const sells = trades.filter(({ side }) => side === "sell")
  return {
    second,
    open,
    high: Math.max(...prices),
    low: Math.min(...prices),
    close,
    volume: volumeOf(trades, of),
    buyVolume: volumeOf(buys, of),
    sellVolume: volumeOf(sells, of),
    trades: trades.length,
    buys: buys.length,
    traders: resolution === "1s" || resolution === "1m" ? new Set(trades.map(({ wallet }) => wallet)).size : null,
    revision: 0
  }
}

const recomputed = (trades: ReadonlyArray<TapeTrade>, resolution: Resolution, denom: Denom) => {
  const buckets = Map.groupBy(trades, ({ timeMs }) => bucketStart(resolution, Math.floor(timeMs / 1000)))
  const bars = Array.from(buckets, ([second, of]) => barOf(second, of, resolution, denom))
  return {
    bars: bars.filter((bar) => bar !== null).toSorted((a, b) => a.second - b.second),
    unpriced: bars.filter((bar) => bar === null).length
  }
}

/** Wallets of bars that got a trade long after their time are not counted. */
const withoutUncounted = (expected: ReadonlyArray<Bar>, found: ReadonlyArray<Bar>): ReadonlyArray<Bar> =>
  expected.map((bar, place) => (found[place]?.traders === null ? { ...bar, traders: null } : bar))

const agree = (candles: Candles, trades: ReadonlyArray<TapeTrade>, inOrder: boolean) => {
  for (const [resolution, denom] of resolutions.flatMap((each) => denoms.map((denom) => [each, denom] as const))) {
    const { bars, unpriced } = candles.read(1, { ...everything(resolution), denom })
    const expected = recomputed(trades, resolution, denom)
    const wanted = inOrder ? expected.bars : withoutUncounted(expected.bars, bars)
    assert.deepStrictEqual(bars, wanted, `${resolution} ${denom}`)
    assert.strictEqual(unpriced, expected.unpriced, `${resolution} ${denom}`)
  }
}

/** The recomputation takes long. These runs see each pace several times. */
const few = { timeout: 180_000, arbitrary: { runs: 20 } }

const Seed = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))

const revisionsOf = (candles: Candles, resolution: Resolution) =>
  candles.read(1, everything(resolution)).bars.map(({ revision, trades }) => [trades, revision])

const at = (second: number, slot: number) => record({ slot, timeMs: (MONDAY + second) * 1000 })

describe("Candles", () => {
  it.prop(
    "equal what the trades give, at every resolution in dollars and in SOL, to the digit",
    [Seed],
    ([seed]) => {
      const trades = makeTape({ seed, trades: 300, tokens: 1, wallets: 5, paceSeconds: [0.3, 20, 1500][seed % 3] ?? 1 })
      agree(fill(trades), trades, true)
    },
    few
  )

  it.prop(
    "are the same in whatever order trades arrive",
    [Seed],
    ([seed]) => {
      const trades = makeTape({ seed, trades: 200, tokens: 1, wallets: 5, paceSeconds: [0.3, 40][seed % 2] ?? 1 })
      agree(fill(shuffledWithin(trades, 30, seed)), trades, false)
    },
    few
  )

  it("begin weeks on Monday and months on the first, in UTC", () => {
    const day = 86_400
    const trades = [-1, 0, 7 * day - 1, 7 * day].map((second) => record({ timeMs: (MONDAY + second) * 1000 }))
    const candles = new Candles({ bars: 1000 })
    for (const each of trades) {
      candles.add(each)
    }
    const starts = (resolution: Resolution) => candles.read(1, everything(resolution)).bars.map(({ second }) => second)
    assert.deepStrictEqual(starts("1w"), [MONDAY - 7 * day, MONDAY, MONDAY + 7 * day])
    assert.deepStrictEqual(starts("1mn"), [Date.UTC(2026, 9) / 1000])
    assert.deepStrictEqual(
      [bucketStart("1mn", MONDAY - 5 * day), bucketStart("1mn", Date.UTC(2028, 1, 29) / 1000)],
      [Date.UTC(2026, 8) / 1000, Date.UTC(2028, 1) / 1000]
    )
  })

  it("leave out buckets without a trade, and count those without a price", () => {
    const candles = new Candles({ bars: 1000 })
    candles.add(record({ slot: 1 }))
    candles.add(record({ slot: 2, timeMs: (MONDAY + 120) * 1000, priceUsd: null, volumeUsdNanos: null }))
    candles.add(record({ slot: 3, timeMs: (MONDAY + 240) * 1000, priceUsd: 2 }))
    const { bars, unpriced } = candles.read(1, everything("1m"))
    assert.deepStrictEqual(
      bars.map(({ second, open }) => [second - MONDAY, open]),
      [
        [0, 1],
        [240, 2]
      ]
    )
    assert.strictEqual(unpriced, 1)
  })

  it("give the newest bars of a window and report that there are older ones", () => {
    const candles = fill(makeTape({ seed: 7, trades: 500, tokens: 1, wallets: 2, paceSeconds: 5 }))
    const { bars } = candles.read(1, everything("15s"))
    const page = candles.read(1, { resolution: "15s", from: null, to: null, limit: 20 })
    assert.deepStrictEqual(page.bars, bars.slice(-20))
    assert.isTrue(page.truncated)
    const older = candles.read(1, { resolution: "15s", from: null, to: page.bars[0]?.second ?? 0, limit: 20 })
    assert.deepStrictEqual(older.bars, bars.slice(-40, -20))
    const first = bars[0]?.second ?? 0
    const rest = candles.read(1, { resolution: "15s", from: first + 3, to: first + 16, limit: 20 })
    assert.deepStrictEqual(
      rest.bars,
      bars.filter(({ second }) => second < first + 30)
    )
    assert.isFalse(rest.truncated)
  })

  it("have no bars for a token that was cleared", () => {
    const candles = fill(makeTape({ seed: 7, trades: 50, tokens: 1, wallets: 2, paceSeconds: 5 }))
    candles.clear(1)
    assert.deepStrictEqual(candles.read(1, everything("1s")).bars, [])
    candles.add(record())
    assert.strictEqual(candles.read(1, everything("1s")).bars.length, 1)
  })

  it("change after they are closed only with a revision; open bars have none", () => {
    const candles = new Candles({ bars: 1000 })
    candles.add(at(10, 1), MONDAY + 10)
    candles.add(at(59, 2), MONDAY + 59)
    candles.add(at(20, 3), MONDAY + 59)
    assert.deepStrictEqual(revisionsOf(candles, "1m"), [[3, 0]])
    assert.deepStrictEqual(revisionsOf(candles, "1s"), [
      [1, 0],
      [1, 1],
      [1, 0]
    ])
    // The newest bar of a token is closed once the chain was read past its end, even without another trade.
    candles.add(at(30, 4), MONDAY + 60)
    candles.add(at(130, 5), MONDAY + 130)
    candles.add(at(40, 6), MONDAY + 130)
    assert.deepStrictEqual(revisionsOf(candles, "1m"), [
      [5, 2],
      [1, 0]
    ])
    assert.deepStrictEqual(revisionsOf(candles, "1h"), [[6, 0]])
    for (const second of [0, 60, 120]) {
      candles.revise(1, { width: 60, second: MONDAY + second, revision: 7 })
    }
    assert.deepStrictEqual(revisionsOf(candles, "1m"), [
      [5, 7],
      [1, 7]
    ])
  })

  it("stay within their limits and report it, dropping the oldest first", () => {
    const candles = new Candles({ bars: 120 })
    for (let second = 0; second < 5000; second++) {
      const each = record({ slot: second, timeMs: (MONDAY + second) * 1000 })
      for (const token of [1, 2, 3]) {
        each.token = token
        candles.add(each)
      }
    }
    for (const token of [1, 2, 3]) {
      const page = candles.read(token, everything("1s"))
      assert.isTrue(page.trimmed)
      assert.isAtLeast(page.bars.length, 30)
      assert.strictEqual(page.bars.at(-1)?.second, MONDAY + 4999)
    }
    assert.isBelow(candles.usedBytes, 6 * 130 * 210 + 3 * 125 * 8)
  })

  it("keep seconds for seven days", () => {
    const candles = new Candles({ bars: 1000 })
    for (let day = 0; day < 30; day++) {
      candles.add(record({ slot: day, timeMs: (MONDAY + day * 86_400) * 1000 }))
    }
    const seconds = candles.read(1, everything("1s"))
    assert.isTrue(seconds.trimmed)
    assert.isAtMost(seconds.bars.length, 12)
    assert.strictEqual(candles.read(1, everything("1d")).bars.length, 30)
  })
})
