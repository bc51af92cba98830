import { assert, describe, it } from "@effect/vitest"
import { trackerTrade } from "../../../src/wallets/tracker/trackerTrades.ts"
import { SOL, USDC } from "../../../src/domain/Address.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { trade } from "../../market/tape/tape.ts"
import { minted } from "../../support/reads.ts"

const feesOf = (given: Partial<TapeTrade>) => trackerTrade(trade(given), null, "confirmed").fees

describe("the fees of a tracked wallet's trade", () => {
  it("are the amounts it paid, zero where it paid nothing", () => {
    assert.deepStrictEqual(
      feesOf({ priorityLamports: 7n, tipLamports: 9n, feeUsdNanos: 1_500_000_000n, feeLamports: 10_000_000n }),
      { priorityLamports: 7n, tipLamports: 9n, frontEndUsd: "1.5", frontEndLamports: 10_000_000n }
    )
    assert.deepStrictEqual(feesOf({ priorityLamports: 0n }), {
      priorityLamports: 0n,
      tipLamports: 0n,
      frontEndUsd: "0",
      frontEndLamports: 0n
    })
  })

  it("are null where they were not recorded, were paid in dollars, or have no price", () => {
    assert.deepStrictEqual(feesOf({ feeUsdNanos: 2_000_000_000n }), {
      priorityLamports: null,
      tipLamports: null,
      frontEndUsd: "2",
      frontEndLamports: null
    })
    assert.deepStrictEqual(feesOf({ priorityLamports: 1n, feeUsdNanos: null, feeLamports: 3n }), {
      priorityLamports: 1n,
      tipLamports: 0n,
      frontEndUsd: null,
      frontEndLamports: 3n
    })
  })
})

const capOf = (mint: TapeTrade["mint"], supply: bigint) =>
  trackerTrade(trade({ mint, priceUsd: 2 }), minted(supply, 6), "confirmed").market_cap_usd

describe("the market cap of a tracked wallet's trade", () => {
  it("is supply times price", () => {
    assert.strictEqual(capOf(USDC, 5_000_000n), 10)
  })

  it("is null for SOL, whose mint counts no lamports", () => {
    assert.isNull(capOf(SOL, 0n))
  })
})
