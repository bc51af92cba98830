/**
 * Holdings of tracked wallets over all of their token accounts: before the accounts are read, afterwards, and after a
 * gap.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { Address } from "../../../src/domain/Address.ts"
import { Market } from "../../../src/market/tape/Market.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { TrackerFeed } from "../../../src/wallets/tracker/TrackerFeed.ts"
import { WatchList } from "../../../src/wallets/tracker/WatchList.ts"
import { type AccountsState, WalletAccounts } from "../../../src/wallets/WalletAccounts.ts"
import { AccountsRead } from "../../../src/wallets/wholeEvents.ts"
import { blockOf, feedOver, mintOf, timeOf, walletOf } from "./liveScene.ts"

/** The reads that the node has given, and the wallets that were requested. */
const reads = new Map<Address, AccountsState>()
const asked: Array<Address> = []
const withdrawn: Array<Address> = []

const accounts = Layer.succeed(WalletAccounts, {
  of: (wallet) => reads.get(wallet) ?? "waiting",
  ask: () => undefined,
  again: () => undefined,
  againFirst: (wallet) => {
    asked.push(wallet)
    reads.delete(wallet)
  },
  withdraw: (wallet) => void withdrawn.push(wallet),
  startAnew: () => undefined
})

const give = (wallet: Address, slot: number, units: bigint) => {
  const of = [
    { slot, units: new Map([[mintOf(1), units]]) },
    { slot, units: new Map() }
  ]
  return Effect.sync(() => reads.set(wallet, new AccountsRead(of, { atMs: timeOf(slot), chainMs: timeOf(slot) })))
}

const happen = (...blocks: ReadonlyArray<ReturnType<typeof blockOf>>) =>
  Tape.use((tape) => Effect.forEach(blocks, (block) => tape.apply(block), { discard: true })).pipe(
    Effect.andThen(Effect.yieldNow),
    Effect.andThen(TestClock.adjust(1))
  )

/** The holding, and the reasons of the position and of the sums. */
const shown = (wallet: Address, slot: number) =>
  TrackerFeed.useSync((feed) => {
    const { pnl, summaries } = feed.pnlSnapshotOf([{ wallet, sinceMs: 0 }], 9, timeOf(slot))
    const [position, summary] = [pnl[0], summaries[0]]
    return {
      holding: position?.holding ?? null,
      realized: position?.realized ?? null,
      reasons: [position?.coverage.reason ?? null, summary?.coverage.reason ?? null]
    }
  })

layer(feedOver({ usd: 1n }, Market.layerManual(), accounts))("token accounts of tracked wallets", (it) => {
  it.effect("give every holding once they are read, and again after blocks were missed", () =>
    Effect.gen(function* () {
      const wallet = walletOf(1)
      yield* WatchList.useSync((list) => list.add({ wallet, addedAtMs: 0 }))
      yield* happen(blockOf(1, [{ wallet, amount: 5n, after: 5n }]))
      assert.deepStrictEqual(asked, [wallet])
      assert.deepStrictEqual(yield* shown(wallet, 1), {
        holding: null,
        realized: null,
        reasons: [null, "backfill_running"]
      })

      // A read of a slot that is not applied yet waits for it.
      yield* give(wallet, 3, 105n)
      yield* happen(blockOf(3, []))
      assert.strictEqual((yield* shown(wallet, 3)).holding, null)
      yield* happen(blockOf(4, [{ wallet, amount: 7n, after: 9n }]))
      const reason = "observed_swaps_only" as const
      const known = { holding: 112n, reasons: [reason, reason] }
      assert.deepInclude(yield* shown(wallet, 4), known)
      // From another account than the earlier transfer.
      yield* happen(blockOf(5, [{ wallet, side: "sell", amount: 2n, after: 98n }]))
      assert.deepInclude(yield* shown(wallet, 5), { ...known, holding: 110n })

      yield* happen(blockOf(9, [{ wallet, amount: 1n, after: 99n }], { afterGap: true }))
      assert.deepStrictEqual(yield* shown(wallet, 9), {
        holding: null,
        realized: null,
        reasons: ["backfill_running", "backfill_running"]
      })
      yield* happen(blockOf(10, []))
      assert.deepStrictEqual(asked, [wallet, wallet])
      yield* give(wallet, 10, 60n)
      yield* happen(blockOf(11, [{ wallet, amount: 4n, after: 4n }]))
      assert.strictEqual((yield* shown(wallet, 11)).holding, 64n)
    })
  )

  it.effect("are read again when a balance would fall below zero", () =>
    Effect.gen(function* () {
      const wallet = walletOf(2)
      yield* WatchList.useSync((list) => list.add({ wallet, addedAtMs: 0 }))
      yield* happen(blockOf(20, []))
      yield* give(wallet, 20, 3n)
      yield* happen(blockOf(21, [{ wallet, side: "sell", amount: 4n, after: 0n }]))
      assert.strictEqual((yield* shown(wallet, 21)).holding, null)
      yield* happen(blockOf(22, []))
      assert.deepStrictEqual(
        asked.filter((each) => each === wallet),
        [wallet, wallet]
      )
    })
  )

  it.effect("leave the holding unknown when the node does not list them", () =>
    Effect.gen(function* () {
      const wallet = walletOf(3)
      yield* WatchList.useSync((list) => list.add({ wallet, addedAtMs: 0 }))
      yield* happen(blockOf(30, []))
      yield* Effect.sync(() => reads.set(wallet, "unavailable"))
      yield* happen(blockOf(31, [{ wallet, amount: 4n, after: 4n }]))
      assert.deepStrictEqual(yield* shown(wallet, 31), {
        holding: null,
        realized: null,
        reasons: ["not_captured", "not_captured"]
      })
    })
  )

  it.effect("are no longer waited for once the wallet is not tracked", () =>
    Effect.gen(function* () {
      const wallet = walletOf(4)
      yield* WatchList.useSync((list) => list.add({ wallet, addedAtMs: 0 }))
      yield* happen(blockOf(40, []))
      assert.notInclude(withdrawn, wallet)
      yield* WatchList.useSync((list) => list.replace([{ wallet: walletOf(3), addedAtMs: 0 }], list.mark()))
      yield* happen(blockOf(41, []))
      assert.include(withdrawn, wallet)
      assert.notInclude(withdrawn, walletOf(3))
    })
  )
})
