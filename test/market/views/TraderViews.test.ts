import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { MarketState } from "../../../src/market/tape/MarketState.ts"
import type { TapeTrade } from "../../../src/market/tape/TapeTrade.ts"
import type { TraderPage, TraderPageRequest } from "../../../src/market/views/TraderViews.ts"
import { topTraders } from "../tape/naive.ts"
import { makeTape, mintOf, MONDAY, trade, walletOf } from "../tape/tape.ts"

const limits = { tokens: 10, bars: 10_000, trades: 100_000, traders: 20_000 }
const FAR_MS = 4_000_000_000_000
const START_MS = 1_000_000

const tapeOf = (trades: ReadonlyArray<TapeTrade>, origin = "here") => {
  const tape = new MarketState(limits, origin)
  tape.apply(trades, FAR_MS)
  return tape
}

const ask = (given: Partial<TraderPageRequest> = {}) =>
  ({ mint: mintOf(0), window: "all", limit: 7, cursor: null, nowMs: START_MS, ...given }) as const

const pageOf = (tape: MarketState, given: Partial<TraderPageRequest> = {}): TraderPage => {
  const page = tape.topTraders(ask(given))
  return typeof page === "string" ? assert.fail(page) : page
}

const sell = (given: Partial<TapeTrade>) => trade({ mint: mintOf(0), side: "sell", amount: 5n, ...given })

const profit = (...trades: ReadonlyArray<TapeTrade>) => pageOf(tapeOf(trades)).rows[0]?.realizedUsdNanos

const crowd = makeTape({ seed: 3, trades: 400, tokens: 1, wallets: 60, paceSeconds: 5 })

describe("TraderViews", () => {
  it("turn pages that together are the whole ranking, though trades go on in between", () => {
    const tape = tapeOf(crowd)
    const expected = topTraders(crowd, tape.now, "1h")
    const rows: Array<unknown> = []
    const state: { cursor: string | null; nowMs: number } = { cursor: null, nowMs: START_MS }
    do {
      const page = pageOf(tape, { window: "1h", ...state })
      rows.push(...page.rows)
      assert.strictEqual(page.total, expected.length)
      assert.strictEqual(page.asOfMs, START_MS)
      state.cursor = page.cursor
      state.nowMs += 2000
      tape.apply(
        [trade({ mint: mintOf(0), slot: 9000, timeMs: (tape.now + 300) * 1000, wallet: walletOf(rows.length) })],
        FAR_MS
      )
    } while (state.cursor !== null)
    assert.deepStrictEqual(rows, expected)
  })

  it("refuse a cursor with other selectors, and what is no cursor", () => {
    const tape = tapeOf(crowd)
    const { cursor } = pageOf(tape)
    for (const other of [{ limit: 8 }, { window: "24h" }, { mint: mintOf(1) }] as const) {
      assert.strictEqual(tape.topTraders(ask({ cursor, ...other })), "invalid_cursor")
    }
    for (const text of ["", "x", "%", "é", "AAAA", "a".repeat(600), `${cursor}=`, `${cursor} `]) {
      assert.strictEqual(tape.topTraders(ask({ cursor: text })), "invalid_cursor", text)
    }
    assert.match(cursor ?? "", /^[A-Za-z0-9_-]{1,512}$/u)
  })

  it("end 30 seconds after the first page, and not before", () => {
    const tape = tapeOf(crowd)
    const { cursor } = pageOf(tape)
    pageOf(tape, { cursor, nowMs: START_MS + 30_000 })
    assert.strictEqual(tape.topTraders(ask({ cursor, nowMs: START_MS + 30_001 })), "cursor_expired")
  })

  it("give whoever shares a view the whole 30 seconds", () => {
    const tape = tapeOf(crowd)
    pageOf(tape)
    const { cursor, asOfMs } = pageOf(tape, { nowMs: START_MS + 1999 })
    assert.strictEqual(asOfMs, START_MS)
    pageOf(tape, { cursor, nowMs: START_MS + 30_999 })
    assert.strictEqual(pageOf(tape, { nowMs: START_MS + 2000 }).asOfMs, START_MS + 2000)
  })

  it("end with a correction, and with the process", () => {
    const tape = tapeOf(crowd)
    const { cursor } = pageOf(tape)
    assert.strictEqual(tapeOf(crowd, "there").topTraders(ask({ cursor })), "cursor_expired")
    const corrected = crowd.slice(0, 300)
    tape.correct(mintOf(0), corrected, FAR_MS)
    assert.strictEqual(tape.topTraders(ask({ cursor })), "cursor_expired")
    assert.deepStrictEqual(pageOf(tape, { limit: 100 }).rows, topTraders(corrected, tape.now, "all"))
  })

  it("are empty for a token that the tape does not know", () => {
    assert.deepStrictEqual(pageOf(tapeOf([])), { rows: [], total: 0, cursor: null, asOfMs: START_MS })
  })

  it("keep a bounded number of views, the newest", () => {
    const tape = tapeOf(crowd)
    const first = pageOf(tape).cursor
    const cursors = Array.from({ length: 70 }, (_, n) => pageOf(tape, { nowMs: START_MS + n * 400 }).cursor)
    assert.strictEqual(
      tape.topTraders(ask({ cursor: cursors.at(-1) ?? "", nowMs: START_MS + 28_000 })) === "cursor_expired",
      false
    )
    pageOf(tape, { cursor: first, nowMs: START_MS + 28_000 })
  })

  const Amount = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1n, maximum: 2n ** 64n - 1n }))
  it.prop("have exact profits at average cost", [Amount, Amount, Amount, Amount], ([units, paid, part, received]) => {
    const sold = 1n + (part % units)
    const tape = tapeOf([
      trade({ mint: mintOf(0), amount: units, volumeUsdNanos: paid, lamports: paid }),
      trade({ mint: mintOf(0), index: 1, side: "sell", amount: sold, volumeUsdNanos: received, lamports: received })
    ])
    const [row] = pageOf(tape).rows
    const profit = received - (paid * sold) / units
    assert.strictEqual(row?.realizedUsdNanos, profit)
    assert.strictEqual(row?.realizedLamports, profit)
    assert.strictEqual(row?.costUsdNanos, (paid * sold) / units)
  })

  it("do not guess the profit of tokens that were never seen to be bought, nor of trades out of order", () => {
    const buy = trade({ mint: mintOf(0), amount: 10n, slot: 5 })
    assert.isNull(profit(buy, sell({ slot: 6, amount: 11n })))
    assert.isNull(profit(sell({ slot: 6 })))
    assert.isNull(profit(buy, sell({ slot: 4 })))
    assert.isNull(profit({ ...buy, volumeUsdNanos: null }, sell({ slot: 6 })))
    assert.isNull(profit(buy, sell({ slot: 6, volumeUsdNanos: null })))
    assert.strictEqual(profit(buy), 0n)
    assert.strictEqual(profit(buy, sell({ slot: 6 }), sell({ slot: 7 })), 1_000_000_000n)
  })

  it("show the last trade of a wallet in milliseconds", () => {
    const tape = tapeOf([trade({ mint: mintOf(0) }), trade({ mint: mintOf(0), timeMs: (MONDAY + 9) * 1000 })])
    assert.strictEqual(pageOf(tape).rows[0]?.lastTradeMs, (MONDAY + 9) * 1000)
  })
})
