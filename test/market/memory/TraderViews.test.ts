import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { MarketState } from "../../../src/market/memory/MarketState.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import type { TraderPage, TraderPageRequest } from "../../../src/market/memory/TraderViews.ts"
import { topTraders } from "../tape/naive.ts"
import { makeTape, mintOf, MONDAY, trade, walletOf } from "../tape/tape.ts"

const limits = { tokens: 10, bars: 10_000, trades: 10_000, traders: 200 }
const FAR_MS = 4_000_000_000_000
const START_MS = 1_000_000

const stateOf = (trades: ReadonlyArray<TapeTrade>, origin = "here") => {
  const state = new MarketState(limits, origin)
  state.apply(trades, FAR_MS)
  return state
}

const requestOf = (given: Partial<TraderPageRequest> = {}) =>
  ({ mint: mintOf(0), window: "all", limit: 7, pin: null, nowMs: START_MS, ...given }) as const

const pageOf = (state: MarketState, given: Partial<TraderPageRequest> = {}): TraderPage => {
  const page = state.topTraders(requestOf(given))
  return page ?? assert.fail("the view has ended")
}

const sell = (given: Partial<TapeTrade>) => trade({ mint: mintOf(0), side: "sell", amount: 5n, ...given })

const profit = (...trades: ReadonlyArray<TapeTrade>) => pageOf(stateOf(trades)).rows[0]?.realizedUsdNanos

const crowd = makeTape({ seed: 3, trades: 400, tokens: 1, wallets: 60, paceSeconds: 5 })

describe("TraderViews", () => {
  it("turn pages that together are the whole ranking, although trades go on", () => {
    const state = stateOf(crowd)
    const expected = topTraders(crowd, state.now, "1h")
    const rows: Array<unknown> = []
    const turn: { pin: TraderPage["next"]; nowMs: number } = { pin: null, nowMs: START_MS }
    do {
      const page = pageOf(state, { window: "1h", ...turn })
      rows.push(...page.rows)
      assert.strictEqual(page.total, expected.length)
      assert.strictEqual(page.asOfMs, START_MS)
      turn.pin = page.next
      turn.nowMs += 2000
      state.apply(
        [trade({ mint: mintOf(0), slot: 9000, timeMs: (state.now + 300) * 1000, wallet: walletOf(rows.length) })],
        FAR_MS
      )
    } while (turn.pin !== null)
    assert.deepStrictEqual(rows, expected)
  })

  it("do not read a pin of another token or window", () => {
    const state = stateOf(crowd)
    const { next: pin } = pageOf(state)
    state.apply([trade({ mint: mintOf(1), slot: 9000, timeMs: state.now * 1000 })], FAR_MS)
    for (const other of [{ window: "24h" }, { mint: mintOf(1) }, { mint: mintOf(2) }] as const) {
      assert.isNull(state.topTraders(requestOf({ pin, ...other })))
    }
  })

  it("end 30 seconds after the first page, and not before", () => {
    const state = stateOf(crowd)
    const { next: pin } = pageOf(state)
    pageOf(state, { pin, nowMs: START_MS + 30_000 })
    assert.isNull(state.topTraders(requestOf({ pin, nowMs: START_MS + 30_001 })))
  })

  it("give every caller that shares a view the whole 30 seconds", () => {
    const state = stateOf(crowd)
    pageOf(state)
    const { next: pin, asOfMs } = pageOf(state, { nowMs: START_MS + 1999 })
    assert.strictEqual(asOfMs, START_MS)
    pageOf(state, { pin, nowMs: START_MS + 30_999 })
    assert.strictEqual(pageOf(state, { nowMs: START_MS + 2000 }).asOfMs, START_MS + 2000)
  })

  it("end with the process", () => {
    const state = stateOf(crowd)
    const { next: pin } = pageOf(state)
    assert.isNull(stateOf(crowd, "there").topTraders(requestOf({ pin })))
  })

  it("are empty for a token that never traded", () => {
    assert.deepInclude(pageOf(stateOf([])), { rows: [], total: 0, next: null, asOfMs: START_MS })
  })

  it("keep the newest 64 views", () => {
    const tokens = Array.from({ length: 9 }, (_, n) => mintOf(n))
    const trades = tokens.flatMap((mint, slot) =>
      [1, 2].map((n) => trade({ mint, slot, index: n, wallet: walletOf(n) }))
    )
    const state = stateOf(trades)
    const windows = ["1h", "24h", "all"] as const
    const requests = [0, 2000, 4000].flatMap((ms) =>
      tokens.flatMap((mint) => windows.map((window) => ({ mint, window, limit: 1, nowMs: START_MS + ms })))
    )
    const readable = requests
      .map((request) => ({ request, pin: pageOf(state, request).next }))
      .map(({ pin, request }) => state.topTraders(requestOf({ ...request, pin, nowMs: START_MS + 5000 })) !== null)
    assert.deepStrictEqual(
      readable,
      requests.map((_, place) => place >= requests.length - 64)
    )
  })

  const Amount = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1n, maximum: 2n ** 63n - 1n }))
  const sales = Schema.Array(Schema.Tuple([Amount, Amount, Amount, Amount])).check(Schema.isBetweenLength(5, 20))
  it.prop(
    "have exact profits at average cost",
    [sales],
    ([each]) => {
      const trades = each.flatMap(([units, paid, part, received], n) => {
        const sold = 1n + (part % units)
        const wallet = walletOf(n)
        return [
          trade({ mint: mintOf(0), wallet, slot: n, amount: units, volumeUsdNanos: paid, lamports: paid }),
          trade({
            mint: mintOf(0),
            wallet,
            slot: n,
            index: 1,
            side: "sell",
            amount: sold,
            volumeUsdNanos: received,
            lamports: received
          })
        ]
      })
      const rows = Map.groupBy(pageOf(stateOf(trades), { limit: 100 }).rows, ({ wallet }) => wallet)
      for (const [n, [units, paid, part, received]] of each.entries()) {
        const cost = (paid * (1n + (part % units))) / units
        const [row] = rows.get(walletOf(n)) ?? []
        assert.strictEqual(row?.realizedUsdNanos, received - cost)
        assert.strictEqual(row?.realizedLamports, received - cost)
        assert.strictEqual(row?.costUsdNanos, cost)
      }
    },
    { arbitrary: { runs: 10 } }
  )

  it("do not guess the profit of tokens whose purchase was not seen, nor of trades out of order", () => {
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
    const state = stateOf([trade({ mint: mintOf(0) }), trade({ mint: mintOf(0), timeMs: (MONDAY + 9) * 1000 })])
    assert.strictEqual(pageOf(state).rows[0]?.lastTradeMs, (MONDAY + 9) * 1000)
  })
})
