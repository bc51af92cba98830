import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { PricedBatch } from "../../../src/market/model/TradeBatch.ts"
import { positionsOf } from "../../../src/wallets/ledger.ts"
import { usdTextOrNull } from "../../../src/wallets/pnl.ts"
import { transactionOf } from "../../market/tape/decoded.ts"
import { type ReceivedFrame, HubScene } from "./hubScene.ts"
import { blockOf, mintOf, START, timeOf, walletOf } from "./liveScene.ts"

const A = walletOf(1)
const last = (frames: ReadonlyArray<ReceivedFrame>, type: string) => frames.findLast((frame) => frame.type === type)

/** A wallet has bought for two dollars before the second account starts tracking it. */
const trackedTwice = () => {
  const scene = new HubScene()
  const early = scene.reader([A])
  scene.block(blockOf(1, [{ wallet: A, usd: 2 }]))
  scene.pass(6000)
  const late = scene.reader([A], { accountId: "b", keyId: "key_b" }, timeOf(10))
  return { scene, early, late }
}

describe("profits of a wallet that two accounts track", () => {
  it("count from the start of each account's tracking", () => {
    const { early, late, scene } = trackedTwice()
    scene.block(blockOf(20, [{ wallet: A, usd: 5 }]))
    scene.pass(3000)
    assert.deepInclude(last(early.wire.frames, "pnl"), { costUsd: "7", buys: 2, holding: "4000000" })
    assert.deepInclude(last(early.wire.frames, "pnl_summary"), { costUsd: "7", trades: 2 })
    assert.deepInclude(last(late.wire.frames, "pnl"), { costUsd: "5", buys: 1, holding: "2000000" })
    assert.deepInclude(last(late.wire.frames, "pnl_summary"), { costUsd: "5", trades: 1 })
  })

  it("are hidden from the later account, in snapshots and when a mark moves", () => {
    const { late, scene } = trackedTwice()
    scene.marks.usd = 3n
    scene.pass(3000)
    assert.lengthOf(late.wire.frames, 1)
    assert.deepInclude(late.wire.frames[0], { pnl: [], trades: [] })
    const summaries = late.wire.frames[0]?.["summaries"]
    assert.deepInclude(Array.isArray(summaries) ? summaries[0] : null, { trades: 0, total: "0", positionsOpen: 0 })
  })

  it("start again for an account that removes the wallet and adds it again", () => {
    const { late, scene } = trackedTwice()
    scene.block(blockOf(20, [{ wallet: A, usd: 5 }]))
    scene.sinces.get(A)?.delete(timeOf(10))
    const again = scene.reader([A], { accountId: "b", keyId: "key_b" }, timeOf(40))
    scene.hub.closed(late.connection, scene.nowMs)
    scene.books.forget()
    scene.block(blockOf(50, [{ wallet: A, usd: 9 }]))
    scene.pass(3000)
    assert.deepInclude(last(again.wire.frames, "pnl"), { costUsd: "9", buys: 1 })
  })

  it("hold the balance on the chain: earlier holdings are inherited, and known profit is given next to unknown profit", () => {
    const scene = new HubScene()
    const { wire } = scene.reader([A])
    const sold = { wallet: A, side: "sell", amount: 2_000_000n, usd: 6, after: 8_000_000n } as const
    scene.block(blockOf(1, [{ ...sold }]))
    scene.pass(3000)
    assert.deepInclude(last(wire.frames, "balance_update"), { balance: "8000000" })
    assert.deepInclude(last(wire.frames, "pnl"), {
      holding: "8000000",
      open: true,
      realized: null,
      unrealized: null,
      total: null,
      proceedsUsd: "6",
      quantities: { known: "0", inherited: "8000000", received: "0", unpriced: "0" },
      known: { realized: "0", unrealized: "0", total: "0", cost: "0", avgCostUsd: null }
    })
    const summary = { realized: null, unrealized: null, openValueUsd: "8", positionsOpen: 1, positionsClosed: 0 }
    assert.deepInclude(last(wire.frames, "pnl_summary"), summary)
    scene.block(blockOf(20, [{ wallet: A, amount: 2_000_000n, usd: 1, after: 10_000_000n }]))
    scene.block(blockOf(30, [{ ...sold, amount: 5_000_000n, usd: 10, after: 5_000_000n }]))
    scene.pass(6000)
    assert.deepInclude(last(wire.frames, "pnl"), {
      holding: "5000000",
      realized: null,
      costUsd: "1",
      quantities: { known: "1000000", inherited: "4000000", received: "0", unpriced: "0" },
      known: { realized: "1.5", unrealized: "0.5", total: "2", cost: "1", avgCostUsd: "0.5" }
    })
    assert.deepInclude(last(wire.frames, "pnl_summary")?.["known"], {
      total: "2",
      volumeShare: "0.176470588235294",
      openValueShare: "0.2",
      unpricedTrades: 0,
      unmarkedPositions: 0
    })
  })

  it("follow transfers, which enter no sum of a wallet until it trades the mint", () => {
    const scene = new HubScene()
    const { wire } = scene.reader([A])
    const change = { owner: A, mint: mintOf(1), decimals: 6, native: false, cause: "transfer" } as const
    const arrived = { ...change, before: 0n, after: 7n, delta: 7n }
    scene.block(blockOf(1, [], { transactions: [transactionOf({ changes: [arrived] })] }))
    scene.pass(3000)
    assert.deepInclude(last(wire.frames, "pnl"), {
      trigger: "transfer",
      holding: "7",
      quantities: { known: "0", inherited: "0", received: "7", unpriced: "0" },
      unrealized: null
    })
    assert.deepInclude(last(wire.frames, "pnl_summary"), { total: "0", trades: 0, positionsOpen: 0 })
    const left = { ...change, before: 7n, after: 0n, delta: -7n }
    scene.block(blockOf(20, [], { transactions: [transactionOf({ changes: [left] })] }))
    scene.pass(6000)
    assert.deepInclude(last(wire.frames, "pnl"), { holding: "0", open: false, total: "0" })
  })

  it("report a gap only to accounts that tracked the wallet before", () => {
    const { early, late, scene } = trackedTwice()
    scene.block(blockOf(11, [], { afterGap: true, timeMs: timeOf(10) }))
    scene.block(blockOf(20, [{ wallet: A }]))
    scene.pass(3000)
    assert.deepStrictEqual(last(early.wire.frames, "pnl")?.["coverage"], { complete: false, reason: "source_gap" })
    assert.deepStrictEqual(last(late.wire.frames, "pnl")?.["coverage"], {
      complete: false,
      reason: "observed_swaps_only"
    })
  })

  const Deal = Schema.Struct({
    isBuy: Schema.Boolean,
    mint: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 })),
    units: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9_000_000 })),
    usd: Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 900 })))
  })
  const deals = Schema.Array(Deal).check(Schema.isMaxLength(40))
  const beginning = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 }))

  it.effect.prop(
    "equal the profits of the trades from their second on, whenever they began",
    [deals, beginning],
    ([swaps, slot]) =>
      Effect.sync(() => {
        const scene = new HubScene()
        const sinceMs = timeOf(slot)
        scene.track([A])
        const { wire } = scene.reader([A], {}, sinceMs)
        const batches: ReadonlyArray<PricedBatch> = swaps.map(({ isBuy, mint, units, usd }, n) =>
          blockOf(n, [{ wallet: A, mint: mintOf(mint), side: isBuy ? "buy" : "sell", amount: BigInt(units), usd }])
        )
        batches.forEach((batch) => scene.block(batch))
        scene.nowMs = START + 60_000
        scene.pass(3000)
        const trades = batches.flatMap((batch) => batch.trades).filter(({ timeMs }) => timeMs >= sinceMs)
        for (const [mint, position] of positionsOf(trades)) {
          const pnl = wire.frames.findLast((frame) => frame.type === "pnl" && frame["mint"] === mint)
          assert.deepInclude(pnl, {
            realized: usdTextOrNull(position.realizedNanos),
            costUsd: usdTextOrNull(position.boughtNanos),
            proceedsUsd: usdTextOrNull(position.proceedsNanos),
            holding: position.held === null ? null : String(position.held),
            buys: position.buys,
            sells: position.sells
          })
        }
        const counted = wire.frames.findLast(({ type }) => type === "pnl_summary")
        assert.strictEqual(counted?.["trades"] ?? 0, trades.length)
      })
  )
})
