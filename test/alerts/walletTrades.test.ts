import { assert, describe, it } from "@effect/vitest"
import {
  concerns,
  type EarlierFirings,
  fireTrades,
  keyOfTrade,
  type TradeOutcome,
  walletTradeOf
} from "../../src/alerts/walletTrades.ts"
import { type Alert, MOST_TRADE_FIRINGS, NO_TRADES, type WalletTrade } from "../../src/api/schemas/Alert.ts"
import { mintOf, trade, walletOf } from "../market/tape/tape.ts"
import { ofWallet, START, tradeOf } from "./alerts.ts"

const NONE: EarlierFirings = { keys: new Set(), count: 0 }

const alert = (other: Partial<Alert> = {}): Alert => ({
  ...ofWallet("al_w"),
  status: "active",
  tally: NO_TRADES,
  updatedAtMs: START,
  lastTriggeredAtMs: null,
  triggerCount: 0,
  version: 1,
  ...other
})

const fire = (of: Alert, trades: ReadonlyArray<WalletTrade>, earlier = NONE) => fireTrades(of, trades, earlier, START)

const is = (of: Partial<Alert>, other: Partial<WalletTrade>) => concerns(alert(of), tradeOf(9, other))

const fired = ({ firings }: TradeOutcome) =>
  firings.map(({ trade: { leftOut, signature }, value }) => `${signature} ${value} ${leftOut}`)

describe("the trades of a wallet", () => {
  it("are net trades: pool swaps inside a route and transfers do not count", () => {
    const roles = (["pool", "wallet", "both", "transfer"] as const).map((role) => walletTradeOf(trade({ role })))
    assert.deepStrictEqual(
      roles.map((seen) => seen !== null),
      [false, true, true, false]
    )
  })

  it("fire one by one, with their value, when they are worth the threshold", () => {
    const trades = [
      tradeOf(1, { usdNanos: 500_000_000_000n }),
      tradeOf(2, { usdNanos: 499_999_999_999n }),
      tradeOf(3, { usdNanos: 1_234_567_890_123_456_789n })
    ]
    assert.deepStrictEqual(fired(fire(alert(), trades)), ["s1 500 0", "s3 1234567890.123456789 0"])
    const inSol = alert({ condition: { ...alert().condition, metric: "wallet_trade_sol", threshold: "2.5" } })
    const lamports = [tradeOf(1, { lamports: 2_500_000_000n }), tradeOf(2, { lamports: 2_499_999_999n })]
    assert.deepStrictEqual(fired(fire(inSol, lamports)), ["s1 2.5 0"])
  })

  it("fire for the watched wallet, side and token, and never for earlier trades", () => {
    assert.isTrue(is({}, {}))
    assert.isFalse(is({}, { wallet: walletOf(8) }))
    assert.isFalse(is({ side: "sell" }, {}))
    assert.isTrue(is({ side: "sell" }, { side: "sell" }))
    assert.isFalse(is({ mint: mintOf(2) }, {}))
    assert.isTrue(is({ mint: mintOf(2) }, { mint: mintOf(2) }))
    assert.isFalse(is({ createdAtMs: START + 1999 }, { observedAtMs: START + 999 }))
    assert.isTrue(is({ createdAtMs: START + 1999 }, { observedAtMs: START + 1000 }))
    assert.isFalse(is({ mark: Number.MAX_SAFE_INTEGER }, {}))
  })

  it("are counted once each and do not fire while their value is unknown", () => {
    const unknown = [tradeOf(1, { usdNanos: null }), tradeOf(2, { usdNanos: null }), tradeOf(3)]
    const first = fire(alert(), unknown)
    assert.deepStrictEqual(fired(first), ["s3 1000 0"])
    assert.strictEqual(first.tally.unvalued, 2)
    const known = { keys: new Set([keyOfTrade(tradeOf(3))]), count: 1 }
    const again = alert({ tally: first.tally })
    assert.strictEqual(fire(again, unknown, known).tally, again.tally)
  })

  it("fire once, in whichever order they arrive, even before a trade that has fired", () => {
    const [one, two, three] = [tradeOf(1), tradeOf(2), tradeOf(3)] as const
    const ahead = fire(alert(), [three])
    const known = { keys: new Set([keyOfTrade(three)]), count: 1 }
    const behind = fire(alert({ tally: ahead.tally }), [one, two, three], known)
    assert.deepStrictEqual(fired(behind), ["s1 1000 0", "s2 1000 0"])
  })

  it("end an alert with recurrence `once`", () => {
    assert.deepStrictEqual(fired(fire(alert({ recurrence: "once" }), [tradeOf(1), tradeOf(2)])), ["s1 1000 0"])
  })

  it("fire a limited number of times in an hour, and the next firing states how many were left out", () => {
    const many = Array.from({ length: MOST_TRADE_FIRINGS + 15 }, (_, i) => tradeOf(i + 1))
    const full = fire(alert(), many)
    assert.lengthOf(full.firings, MOST_TRADE_FIRINGS)
    assert.deepInclude(full.tally, { leftOut: 15, leftOutStated: 0 })
    const still = fire(alert({ tally: full.tally }), [...many, tradeOf(100)], {
      keys: new Set(many.slice(0, MOST_TRADE_FIRINGS).map(keyOfTrade)),
      count: MOST_TRADE_FIRINGS
    })
    assert.deepStrictEqual([fired(still), still.tally.leftOut], [[], 16])
    const later = fire(alert({ tally: still.tally }), [tradeOf(200), tradeOf(201)])
    assert.deepStrictEqual(fired(later), ["s200 1000 16", "s201 1000 0"])
    assert.strictEqual(later.tally.leftOut, 16)
  })

  it("are left out during a cooldown", () => {
    const resting = alert({ cooldownSeconds: 60 })
    const outcome = fire(resting, [tradeOf(1), tradeOf(2), tradeOf(3, { observedAtMs: START + 60_000 })])
    assert.deepStrictEqual(fired(outcome), ["s1 1000 0", "s3 1000 1"])
    const after = alert({ cooldownSeconds: 60, lastTriggeredAtMs: START - 1 })
    assert.deepStrictEqual(fired(fire(after, [tradeOf(4)])), [])
  })
})
