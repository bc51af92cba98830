import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { emptyPosition } from "../../src/wallets/ledger.ts"
import type { MarkedPosition } from "../../src/wallets/pnl.ts"
import { summaryOf, WalletSums } from "../../src/wallets/walletPnl.ts"
import { after, applied, covered, Mark, mark, Orders } from "./positions.ts"
import { MINT, tradeOf, usd } from "./trades.ts"

describe("the profit and loss of a wallet", () => {
  it("is unknown when the figure of one position is unknown", () => {
    const known = { position: after({ amount: 10n, volumeUsdNanos: usd(10) }), mark: mark(2n) }
    const won = {
      position: after({ amount: 4n, volumeUsdNanos: usd(4) }, { side: "sell", amount: 4n, volumeUsdNanos: usd(5) }),
      mark: null
    }
    const lost = {
      position: after({ amount: 4n, volumeUsdNanos: usd(4) }, { side: "sell", amount: 4n, volumeUsdNanos: usd(3) }),
      mark: null
    }
    const unknown = { position: after({ side: "sell", amount: 1n, volumeUsdNanos: usd(1) }), mark: null }
    const whole = summaryOf([known, won, won, lost])
    assert.deepInclude(whole, {
      realized: usd(1),
      unrealized: 20_000n - usd(10),
      total: 20_000n - usd(9),
      openCost: usd(10),
      openValue: 20_000n,
      positionsOpen: 1,
      positionsClosed: 3,
      positionsUnknownBasis: 0,
      trades: 7,
      winRatePct: "66.6666666666667"
    })
    assert.deepInclude(summaryOf([known, won, unknown]), {
      realized: null,
      unrealized: null,
      total: null,
      positionsUnknownBasis: 1,
      winRatePct: "100",
      known: {
        realized: usd(1),
        unrealized: 20_000n - usd(10),
        total: 20_000n - usd(9),
        cost: usd(14),
        volumeShare: "0.95",
        openValueShare: "1",
        unpricedTrades: 0,
        unmarkedPositions: 1
      }
    })
    assert.deepInclude(summaryOf([{ ...known, mark: null }, won]), { realized: usd(1), unrealized: null, total: null })
  })

  it.effect.prop(
    "is the same after any changes as when summed from scratch",
    [
      Schema.Array(
        Schema.Struct({
          key: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 })),
          orders: Orders,
          price: Schema.NullOr(Mark),
          isUnknown: Schema.Boolean
        })
      )
    ],
    ([changes]) =>
      Effect.sync(() => {
        const sums = new WalletSums<number>()
        const held = new Map<number, MarkedPosition>()
        for (const { isUnknown, key, orders, price } of changes) {
          if (orders.length === 1) {
            sums.delete(key)
            held.delete(key)
            continue
          }
          const trades = isUnknown ? [tradeOf({ side: "sell", amount: 7n, volumeUsdNanos: null })] : covered(orders)
          const position = applied(trades)
          sums.set(key, position, price)
          held.set(key, { position, mark: price })
          assert.deepStrictEqual(sums.read(), summaryOf(Array.from(held.values())))
        }
      })
  )

  it("is zero without trades", () => {
    assert.deepInclude(summaryOf([{ position: emptyPosition(MINT), mark: null }]), {
      realized: 0n,
      unrealized: 0n,
      total: 0n,
      roiPct: null,
      winRatePct: null
    })
  })
})
