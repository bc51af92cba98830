import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { NOT_BEGUN } from "../../src/wallets/historyProgress.ts"
import { LedgerUnavailable } from "../../src/wallets/LedgerReader.ts"
import type { WalletReadOptions } from "../../src/wallets/readHoldings.ts"
import { WalletReader } from "../../src/wallets/WalletReader.ts"
import { type Findings, readerOver } from "./readers.ts"
import { START, tradeOf, usd, WALLET } from "./trades.ts"

const rowOf = (findings: Findings, options: WalletReadOptions = {}) =>
  WalletReader.use((reader) => reader.rowsOf([WALLET], options)).pipe(
    Effect.map(({ wallets: [row] }) => row),
    Effect.provide(readerOver(findings))
  )

const unavailable = () => Effect.fail(new LedgerUnavailable({ cause: new Error("gone") }))

describe("rows of wallets", () => {
  it.effect("begin a backfill only on request, and show its state and the trades that it found", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const none = { before: 0n, after: 1_000_000n }
      const earlier = tradeOf({ slot: 1, volumeUsdNanos: usd(1), held: none })
      const sold = tradeOf({ slot: 3, side: "sell", volumeUsdNanos: usd(5), held: { before: 1_000_000n, after: 0n } })
      const progress = { ...NOT_BEGUN, read: 1, fromMs: START + 400, throughMs: START + 900_000 } as const
      const findings: Findings = {
        trades: { [WALLET]: [sold] },
        history: () => Effect.succeed({ progress, trades: [earlier] }),
        backfill: (wallets) => Effect.sync(() => void asked.push(...wallets))
      }
      const plain = yield* rowOf(findings)
      assert.deepStrictEqual(asked, [])
      assert.strictEqual(plain?.summary?.wallet.realized, "4")
      const row = yield* rowOf(findings, { backfill: true })
      assert.deepStrictEqual(asked, [WALLET])
      assert.deepInclude(row?.backfill, { status: "running", reason: "backfill_running", transactions: 1 })
      assert.strictEqual(row?.summary?.historyCoverage.solana.reason, "backfill_running")
    })
  )

  it.effect("show only the observed trades when a history cannot be requested", () =>
    Effect.gen(function* () {
      const sold = tradeOf({ slot: 3, side: "sell", volumeUsdNanos: usd(5), held: { before: 1_000_000n, after: 0n } })
      const findings = { trades: { [WALLET]: [sold] }, backfill: unavailable }
      const row = yield* rowOf(findings, { backfill: true })
      assert.isNull(row?.summary?.wallet.realized)
      assert.strictEqual(row?.backfill?.status, "unavailable")
    })
  )

  it.effect("fail while a history that was read before does not come from the store: its trades would be missing", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(rowOf({ history: unavailable }))
      assert.strictEqual(failure._tag, "WalletsUnavailable")
      const observed = { [WALLET]: [tradeOf({ slot: 3, volumeUsdNanos: usd(5) })] }
      assert.strictEqual((yield* Effect.flip(rowOf({ trades: observed, history: unavailable })))._tag, failure._tag)
    })
  )
})
