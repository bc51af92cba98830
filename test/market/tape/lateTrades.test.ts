/** Windows and rankings when trades come hours late, tokens are forgotten, and nothing happens for long. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { MarketState, type MarketLimits } from "../../../src/market/memory/MarketState.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { windowFrom, windowNames } from "../../../src/market/model/windows.ts"
import { marketSums, secondOf, tokenWindow, topTraders } from "./naive.ts"
import { makeTape, mintOf, MONDAY, seededRandom, shuffledWithin, trade, walletOf } from "./tape.ts"

const FAR_MS = 4_000_000_000_000
const Seed = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))
const roomy: MarketLimits = { tokens: 100, bars: 10_000, trades: 1000, traders: 1000 }
const few = { arbitrary: { runs: 10 } }
const TOKENS = 3

const ofToken = (trades: ReadonlyArray<TapeTrade>, token: number) => trades.filter(({ mint }) => mint === mintOf(token))

const at = (second: number, given: Partial<TapeTrade>) =>
  trade({ slot: second, timeMs: (MONDAY + second) * 1000, ...given })

const rowsOf = (tape: MarketState, token: number, window: "1h" | "24h" | "all", nowMs: number) =>
  tape.topTraders({ mint: mintOf(token), window, limit: 100, pin: null, nowMs })?.rows ?? assert.fail("ended")

/** Everything but costs, which are unknown after trades came out of order. */
const withoutCosts = (rows: ReadonlyArray<object>) =>
  rows.map((row) => ({ ...row, realizedUsdNanos: null, costUsdNanos: null, realizedLamports: null }))

/**
 * Compares windows, rankings and markets with a recomputation. `lost` trades were too old for every window when they
 * came.
 */
const agree = (tape: MarketState, trades: ReadonlyArray<TapeTrade>, lookAtMs: number) => {
  for (let token = 0; token < TOKENS; token++) {
    const own = ofToken(trades, token)
    for (const window of windowNames) {
      const expected = own.length === 0 ? null : tokenWindow(own, tape.now, window)
      assert.deepStrictEqual(tape.window(mintOf(token), window), expected, `${token} ${window}`)
    }
    for (const window of ["1h", "24h", "all"] as const) {
      const rows = rowsOf(tape, token, window, lookAtMs)
      assert.deepStrictEqual(withoutCosts(rows), withoutCosts(topTraders(own, tape.now, window)), `${token} ${window}`)
    }
  }
  for (const [index, window] of windowNames.entries()) {
    const read = tape.markets.all.activity.read(index)
    for (const which of ["now", "after", "before"] as const) {
      const { traders: _, ...sums } = read[which]
      assert.deepStrictEqual(sums, marketSums(trades, tape.now, window, which), `${window} ${which}`)
    }
  }
}

describe("windows", () => {
  it.prop(
    "equal a recomputation when trades come up to a day late",
    [Seed],
    ([seed]) => {
      const roll = seededRandom(seed)
      const all = makeTape({ seed, trades: 150, tokens: TOKENS, wallets: 6, paceSeconds: [2, 60, 400][seed % 3] ?? 2 })
      const late = all.filter(() => roll() < 0.4)
      const end = secondOf(all.at(-1) ?? trade())
      const tape = new MarketState(roomy, "here")
      const given: Array<TapeTrade> = []
      const apply = (trades: ReadonlyArray<TapeTrade>) => {
        given.push(...trades)
        assert.strictEqual(tape.apply(trades, FAR_MS).late, 0)
      }
      apply(all.filter((each) => !late.includes(each)))
      tape.advance(end * 1000)
      // Trades older than every window are refused.
      apply(shuffledWithin(late, 60, seed).filter((each) => secondOf(each) >= windowFrom(3, end)))
      let lookAtMs = 0
      for (const seconds of [0, 100, 1000, 4000, 30_000, 50_000, 90_000]) {
        tape.advance((tape.now + seconds) * 1000)
        agree(tape, given, (lookAtMs += 10_000))
      }
    },
    few
  )

  it.prop(
    "equal a recomputation however often they are looked at meanwhile",
    [Seed],
    ([seed]) => {
      const trades = makeTape({
        seed,
        trades: 100,
        tokens: TOKENS,
        wallets: 4,
        paceSeconds: [30, 700, 9000][seed % 3] ?? 30
      })
      const [often, seldom] = [new MarketState(roomy, "often"), new MarketState(roomy, "seldom")]
      for (const each of trades) {
        often.apply([each], FAR_MS)
        windowNames.forEach((name) => often.scan(name, () => {}))
        often.advance((often.now + 1) * 1000)
      }
      seldom.apply(trades, FAR_MS)
      seldom.advance(often.now * 1000)
      agree(often, trades, 10_000)
      agree(seldom, trades, 10_000)
    },
    few
  )

  it("free the buckets of tokens and wallets that are in no window", () => {
    const tape = new MarketState(roomy, "here")
    tape.apply(makeTape({ seed: 4, trades: 3000, tokens: 50, wallets: 40, paceSeconds: 20 }), FAR_MS)
    const full = tape.usedBytes
    assert.isAbove(full.windowBuckets, 500 * 56)
    assert.isAbove(full.traderBuckets, 500 * 64)
    tape.advance((tape.now + 7200) * 1000)
    assert.isBelow(tape.usedBytes.windowBuckets, full.windowBuckets)
    tape.advance((tape.now + 86_400) * 1000)
    // Each keeps one record for the next trade.
    assert.deepInclude(tape.usedBytes, { windowBuckets: 56, traderBuckets: 64 })
  })

  it("hold more trades of a bucket than one record can count", () => {
    const tape = new MarketState(roomy, "here")
    const trades = Array.from({ length: 700 }, (_, n) =>
      trade({
        slot: n,
        side: n % 2 === 0 ? "buy" : "sell",
        volumeUsdNanos: null,
        priceUsd: null,
        lamports: 2n ** 64n - 1n
      })
    )
    const whales = [1, 2, 3].map((n) =>
      trade({ slot: 1000 + n, amount: 2n ** 64n - 1n, volumeUsdNanos: 2n ** 64n - 1n })
    )
    tape.apply([...trades, ...whales], FAR_MS)
    for (const seconds of [0, 4000]) {
      tape.advance((MONDAY + seconds) * 1000)
      const row = tape.topTraders({ mint: mintOf(1), window: "24h", limit: 1, pin: null, nowMs: 10_000 + seconds * 10 })
      assert.deepInclude(row?.rows[0], {
        buys: 353,
        sells: 350,
        unpricedBuys: 350,
        unpricedSells: 350,
        boughtUsdNanos: 3n * (2n ** 64n - 1n),
        bought: 350n * 1_000_000n + 3n * (2n ** 64n - 1n)
      })
    }
  })

  it("make room by forgetting the wallet and the token that traded longest ago", () => {
    const tape = new MarketState({ ...roomy, traders: 2, tokens: 2 }, "here")
    tape.apply([at(0, { wallet: walletOf(1) }), at(700, { wallet: walletOf(2) })], FAR_MS)
    assert.strictEqual(tape.heldFrom, MONDAY + 700 - 86_400 + 500)
    tape.apply([at(1400, { wallet: walletOf(3) })], FAR_MS)
    assert.strictEqual(tape.heldFrom, MONDAY + 1)
    assert.strictEqual(tape.window(mintOf(1), "24h")?.traders, 2)
    assert.strictEqual(tape.window(mintOf(1), "24h")?.trades, 3)
    tape.apply([at(2000, { mint: mintOf(2), role: "pool" }), at(2700, { mint: mintOf(3), role: "pool" })], FAR_MS)
    assert.isNull(tape.window(mintOf(1), "24h"))
    assert.strictEqual(tape.heldFrom, MONDAY + 1401)
  })
})
