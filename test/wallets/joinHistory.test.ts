import { assert, describe, it } from "@effect/vitest"
import { NOT_BEGUN } from "../../src/wallets/historyProgress.ts"
import { backfillBody, historyReason, isWholeLife, joinHistory } from "../../src/wallets/joinHistory.ts"
import { positionsOf } from "../../src/wallets/ledger.ts"
import type { WalletHistory } from "../../src/wallets/WalletIndex.ts"
import { MINT, START, tradeOf, usd, WALLET } from "./trades.ts"

const share = { events: 10_000, bytes: 4 * 1024 * 1024 }
const none = { before: 0n, after: 1_000_000n }
const first = tradeOf({ slot: 1, held: none })
const second = tradeOf({ slot: 2, held: { before: 1_000_000n, after: 2_000_000n } })
const sale = tradeOf({ slot: 3, side: "sell", volumeUsdNanos: usd(5), held: { before: 2_000_000n, after: 1_000_000n } })

const observedOf = (trades: WalletHistory["trades"], overrides: Partial<WalletHistory> = {}): WalletHistory => ({
  trades,
  truncated: false,
  undated: 0,
  coveredFromMs: START + 1100,
  coveredUntilMs: START + 60_000,
  liveSinceMs: START + 1100,
  ...overrides
})

const done = {
  ...NOT_BEGUN,
  state: "done",
  read: 3,
  isWhole: true,
  fromMs: START + 400,
  throughMs: START + 50_000
} as const

const realizedOf = (history: WalletHistory | null) => positionsOf(history?.trades ?? []).get(MINT)?.realizedNanos

describe("a history beside observed trades", () => {
  it("makes the cost of earlier buys known, and covers their span", () => {
    const observed = observedOf([sale])
    assert.isNull(realizedOf(observed), "sold units whose cost was not seen")
    const joined = joinHistory(observed, { progress: done, trades: [sale, second, first] }, share)
    assert.strictEqual(realizedOf(joined), usd(4))
    assert.deepInclude(joined, { coveredFromMs: START + 400, coveredUntilMs: START + 60_000, truncated: false })
    assert.isTrue(isWholeLife(done, joined))
    assert.isNull(historyReason(done, joined))
  })

  it("changes no figure that was whole before", () => {
    const observed = observedOf([sale, second, first])
    // The price at that time may differ from the price with which a trade was observed.
    const read = [sale, second, first].map((trade) => ({ ...trade, volumeUsdNanos: null }))
    const joined = joinHistory(observed, { progress: done, trades: read }, share)
    assert.deepStrictEqual(joined?.trades, observed.trades)
    assert.strictEqual(realizedOf(joined), usd(4))
  })

  it("stands alone for a wallet without observed trades", () => {
    const joined = joinHistory(null, { progress: done, trades: [sale, second, first] }, share)
    assert.deepInclude(joined, { liveSinceMs: null, coveredFromMs: START + 400, coveredUntilMs: START + 50_000 })
    assert.isNull(joinHistory(null, { progress: done, trades: [] }, share))
  })

  it("does not extend the coverage over a span that neither saw", () => {
    const observed = observedOf([sale], { coveredFromMs: START + 55_000, liveSinceMs: START + 55_000 })
    const joined = joinHistory(observed, { progress: done, trades: [first] }, share)
    assert.strictEqual(joined?.coveredFromMs, START + 55_000)
    assert.strictEqual(historyReason(done, joined), "source_gap")
    assert.isFalse(isWholeLife(done, joined))
  })

  it("adds nothing below a share that newer trades use up", () => {
    const observed = observedOf([sale], { truncated: true })
    assert.strictEqual(joinHistory(observed, { progress: done, trades: [second, first] }, share), observed)
    const joined = joinHistory(observedOf([sale]), { progress: done, trades: [second, first] }, { ...share, events: 2 })
    assert.deepStrictEqual(joined?.trades, [sale, second])
    assert.isTrue(joined?.truncated)
    assert.strictEqual(joined?.coveredFromMs, second.timeMs)
    assert.strictEqual(historyReason(done, joined), "limit_clipped")
  })

  it("gives its state and the reason for missing trades", () => {
    const running = { ...done, state: "running", isWhole: false } as const
    assert.deepInclude(backfillBody(WALLET, running, null, true), { status: "running", reason: "backfill_running" })
    const failed = { ...done, state: "failed", isWhole: false, error: "no such method" } as const
    assert.deepInclude(backfillBody(WALLET, failed, null, false), { reason: "not_captured", error: "no such method" })
    assert.strictEqual(historyReason({ ...done, missing: 1 }, null), "not_captured")
    assert.strictEqual(historyReason({ ...done, isWhole: false }, null), "limit_clipped")
    assert.strictEqual(historyReason(null, null), "observed_swaps_only")
    assert.isNull(backfillBody(WALLET, null, null, false))
    assert.strictEqual(backfillBody(WALLET, null, null, true)?.status, "unavailable")
  })
})
