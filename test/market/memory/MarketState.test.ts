import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { MarketState, type MarketLimits } from "../../../src/market/memory/MarketState.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import type { TraderPage } from "../../../src/market/memory/TraderViews.ts"
import type { TraderWindow } from "../../../src/market/memory/Traders.ts"
import { windowNames } from "../../../src/market/model/windows.ts"
import { marketSums, secondOf, tokenWindow, topTraders, within } from "../tape/naive.ts"
import { makeTape, mintOf, MONDAY, shuffledWithin, trade, walletOf } from "../tape/tape.ts"

const roomy: MarketLimits = { tokens: 100, bars: 10_000, trades: 40_000, traders: 1000 }
const FAR_MS = 4_000_000_000_000
const Seed = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))
const rankings: ReadonlyArray<TraderWindow> = ["1h", "24h", "all"]

/** The recomputation takes long. These runs see each pace several times. */
const few = { arbitrary: { runs: 12 } }

const shapeOf = (seed: number) => ({
  seed,
  trades: 120,
  tokens: 3,
  wallets: 5,
  paceSeconds: [1, 40, 900][seed % 3] ?? 1
})

const fill = (trades: ReadonlyArray<TapeTrade>, limits = roomy) => {
  const tape = new MarketState(limits, "here")
  assert.strictEqual(tape.apply(trades, FAR_MS).applied, trades.length)
  return tape
}

/** Later at every call, so that no view is shared. */
const clock = { ms: 0 }

const pageOf = (tape: MarketState, token: number, window: TraderWindow): TraderPage => {
  clock.ms += 10_000
  const page = tape.topTraders({ mint: mintOf(token), window, limit: 100, pin: null, nowMs: clock.ms })
  return page ?? assert.fail("the view has ended")
}

const at = (token: number, timeMs: number, slot: number) => trade({ mint: mintOf(token), timeMs, slot })

const ofToken = (trades: ReadonlyArray<TapeTrade>, token: number) => trades.filter(({ mint }) => mint === mintOf(token))

const agree = (tape: MarketState, trades: ReadonlyArray<TapeTrade>, ranks = true) => {
  for (let token = 0; token < 3; token++) {
    const own = ofToken(trades, token)
    for (const window of windowNames) {
      const expected = own.length === 0 ? null : tokenWindow(own, tape.now, window)
      assert.deepStrictEqual(tape.window(mintOf(token), window), expected, `${token} ${window}`)
    }
    for (const window of ranks ? rankings : []) {
      assert.deepStrictEqual(pageOf(tape, token, window).rows, topTraders(own, tape.now, window), window)
    }
  }
}

const agreeOnMarkets = (tape: MarketState, trades: ReadonlyArray<TapeTrade>) => {
  for (const { kind, name, activity } of tape.markets.rows()) {
    const own = trades.filter((each) => kind === "all" || each[kind] === name)
    for (const [index, window] of windowNames.entries()) {
      const read = activity.read(index)
      for (const which of ["now", "after", "before"] as const) {
        const { traders: _, ...sums } = read[which]
        assert.deepStrictEqual(sums, marketSums(own, tape.now, window, which), `${name} ${window} ${which}`)
      }
      assert.strictEqual(read.now.traders, new Set(within(own, tape.now, window).map(({ wallet }) => wallet)).size)
    }
  }
}

describe("MarketState", () => {
  it.prop(
    "windows and rankings equal a recomputation after any number of trades",
    [Seed],
    ([seed]) => {
      const trades = makeTape(shapeOf(seed))
      const tape = new MarketState(roomy, "here")
      const stops = [1, 50, trades.length]
      for (const [at, stop] of stops.entries()) {
        tape.apply(trades.slice(stops[at - 1] ?? 0, stop), FAR_MS)
        agree(tape, trades.slice(0, stop))
        agreeOnMarkets(tape, trades.slice(0, stop))
      }
    },
    few
  )

  it.prop(
    "windows empty by themselves as time passes",
    [Seed],
    ([seed]) => {
      const trades = makeTape(shapeOf(seed))
      const tape = fill(trades)
      for (const seconds of [7, 250, 3000, 20_000, 90_000, 200_000]) {
        tape.advance((tape.now + seconds) * 1000)
        agree(tape, trades)
        agreeOnMarkets(tape, trades)
      }
    },
    few
  )

  it.prop(
    "windows do not depend on the order in which trades arrive",
    [Seed],
    ([seed]) => {
      const trades = makeTape({ ...shapeOf(seed), paceSeconds: [0.5, 2][seed % 2] ?? 1 })
      const tape = fill(shuffledWithin(trades, 20, seed))
      agree(tape, trades, false)
      tape.advance((tape.now + 400) * 1000)
      agree(tape, trades, false)
      agreeOnMarkets(tape, trades)
    },
    { arbitrary: { runs: 20 } }
  )

  it("rejects impossible and late trades, and counts them", () => {
    const tape = new MarketState(roomy, "here")
    const nowMs = MONDAY * 1000
    const bad = [
      trade({ amount: -1n }),
      trade({ amount: 2n ** 64n }),
      trade({ lamports: 2n ** 64n }),
      trade({ volumeUsdNanos: -1n }),
      trade({ otherToken: { mint: mintOf(2), amount: 2n ** 64n, decimals: 6 } }),
      trade({ held: { before: 2n ** 64n, after: 0n } }),
      trade({ held: { before: 0n, after: -1n } }),
      trade({ feeUsdNanos: 2n ** 64n }),
      trade({ feeLamports: 2n ** 64n }),
      trade({ priorityLamports: -1n }),
      trade({ tipLamports: 2n ** 64n }),
      trade({ priceUsd: 0 }),
      trade({ priceUsd: Number.NaN }),
      trade({ priceUsd: Number.POSITIVE_INFINITY }),
      trade({ slot: -1 }),
      trade({ slot: 1.5 }),
      trade({ index: 2 ** 22 }),
      trade({ timeMs: Number.NaN }),
      trade({ timeMs: 0 }),
      trade({ timeMs: nowMs + 60_001 })
    ]
    assert.deepStrictEqual(tape.apply(bad, nowMs), { applied: 0, late: 0, malformed: bad.length })
    assert.strictEqual(tape.tokens, 0)
    const day = 86_400_000
    const late = [trade(), trade({ timeMs: nowMs - day / 2 }), trade({ timeMs: nowMs - day, mint: mintOf(9) })]
    assert.deepStrictEqual(tape.apply(late, nowMs), { applied: 2, late: 1, malformed: 0 })
    assert.isNull(tape.window(mintOf(9), "5m"))
  })

  it("counts a route once: its pools give volume, its wallet gives sums", () => {
    const tape = fill([
      trade({ role: "pool", index: 0, dex: "Raydium" }),
      trade({ role: "pool", index: 1, dex: "Whirlpool" }),
      trade({ role: "wallet", index: 2, dex: null, volumeUsdNanos: 2_000_000_000n })
    ])
    assert.strictEqual(tape.window(mintOf(1), "5m")?.trades, 2)
    assert.strictEqual(tape.window(mintOf(1), "5m")?.traders, 1)
    assert.strictEqual(tape.bars(mintOf(1), { resolution: "1s", from: null, to: null, limit: 1 })?.bars[0]?.trades, 2)
    assert.deepStrictEqual(
      pageOf(tape, 1, "all").rows.map(({ buys, boughtUsdNanos }) => [buys, boughtUsdNanos]),
      [[1, 2_000_000_000n]]
    )
    tape.advance((MONDAY + 100_000) * 1000)
    assert.deepStrictEqual(pageOf(tape, 1, "24h").rows, [])
  })

  it("counts tokens created and migrated, for their launchpad and for all", () => {
    const tape = fill([trade({ launchpad: "pump" })])
    tape.addLaunch("created", "pump", MONDAY * 1000)
    tape.addLaunch("created", null, (MONDAY + 10) * 1000)
    tape.addLaunch("migrated", "pump", (MONDAY + 20) * 1000)
    const counts = tape.markets.rows().map(({ name, activity }) => {
      const { tokensCreated, migrations } = activity.read(0).now
      return [name, tokensCreated, migrations]
    })
    assert.deepStrictEqual(counts, [
      ["all", 2, 1],
      ["Raydium", 0, 0],
      ["pump", 1, 1]
    ])
  })

  it("estimates many distinct traders within four standard errors", () => {
    const trades = Array.from({ length: 30_000 }, (_, n) => trade({ wallet: walletOf(n), role: "pool" }))
    const { traders } = fill(trades).markets.rows()[0]?.activity.read(0).now ?? { traders: 0 }
    assert.closeTo(traders, 30_000, 30_000 * 0.092)
  })

  it("forgets the token that was idle longest when there is no room, and begins it again", () => {
    const day = 86_400_000
    const tape = new MarketState({ ...roomy, tokens: 3 }, "here")
    const start = MONDAY * 1000
    tape.apply(
      [at(1, start, 1), at(2, start, 2), at(1, start + day, 3), at(3, start + day, 4), at(4, start + day, 5)],
      FAR_MS
    )
    assert.isNull(tape.window(mintOf(2), "24h"))
    assert.strictEqual(tape.tokens, 3)
    assert.strictEqual(tape.window(mintOf(1), "24h")?.trades, 1)
    tape.apply([at(2, start + day + 1000, 6)], FAR_MS)
    assert.strictEqual(tape.tokens, 3)
    assert.strictEqual(tape.heldFrom, MONDAY + 86_401)
    assert.strictEqual(tape.window(mintOf(2), "24h")?.trades, 1)
    assert.isNull(tape.window(mintOf(2), "24h")?.startPrice ?? null)
  })

  it.prop(
    "applies trades together as it applies them one by one, whatever is forgotten meanwhile",
    [Seed],
    ([seed]) => {
      const trades = makeTape({ seed, trades: 300, tokens: 9, wallets: 12, paceSeconds: [1, 40, 900][seed % 3] ?? 1 })
      const limits = { ...roomy, tokens: 4 + (seed % 8), traders: 5 + (seed % 40) }
      const [together, single] = [new MarketState(limits, "here"), new MarketState(limits, "here")]
      together.apply(trades, FAR_MS)
      trades.forEach((each) => single.apply([each], FAR_MS))
      for (let token = 0; token < 9; token++) {
        const rows = rankings.map((window) => [token, pageOf(together, token, window).rows])
        assert.deepStrictEqual(
          rows,
          rankings.map((window) => [token, pageOf(single, token, window).rows])
        )
        assert.deepStrictEqual(
          windowNames.map((name) => together.window(mintOf(token), name)),
          windowNames.map((name) => single.window(mintOf(token), name))
        )
      }
      assert.deepStrictEqual(
        [together.heldFrom, together.tokens, together.traders.size],
        [single.heldFrom, single.tokens, single.traders.size]
      )
    },
    few
  )

  it("stays within its limits for any trades, by shortening the windows", () => {
    const limits = { tokens: 3, bars: 400, trades: 100, traders: 20 }
    const trades = makeTape({ seed: 5, trades: 8000, tokens: 10, wallets: 50, paceSeconds: 5 })
    const tape = new MarketState(limits, "here")
    const after = (many: number) => {
      tape.apply(trades.slice(many - 2000, many), FAR_MS)
      return tape.usedBytes
    }
    const late = [after(2000), after(4000), after(6000), after(8000)].at(-1) ?? after(0)
    assert.isAtMost(late.windowBuckets, 3 * (300 + 60 + 72 + 144 + 1) * 56)
    assert.isAtMost(late.traderBuckets, 20 * (60 + 12 + 1) * 64)
    assert.isAtMost(late.traders, 20 * 42 * 8 + 64 * 64 * 16 + 64 * 64 * 8 + 50 * 44)
    assert.isAtMost(late.candles, 4 * 110 * 42 * 8 + 3 * 60 * 8)
    assert.isAbove(tape.heldFrom, tape.now - 86_400)
    assert.isAtMost(tape.tokens, 3)
    for (let token = 0; token < 10; token++) {
      const own = ofToken(trades, token).filter((each) => secondOf(each) >= tape.heldFrom)
      assert.isAtLeast(tape.window(mintOf(token), "24h")?.trades ?? 0, own.length)
    }
  })
})
