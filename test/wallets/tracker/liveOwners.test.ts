/** Live figures of tracked wallets with one owner, who is named by an identity. */
import { assert, it as test, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { Address } from "../../../src/domain/Address.ts"
import type { BalanceChange } from "../../../src/api/schemas/Trade.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import * as OwnerLinks from "../../../src/wallets/tracker/OwnerLinks.ts"
import { TrackerFeed } from "../../../src/wallets/tracker/TrackerFeed.ts"
import { TrackerState } from "../../../src/wallets/tracker/TrackerState.ts"
import { WatchList } from "../../../src/wallets/tracker/WatchList.ts"
import { AccountsRead } from "../../../src/wallets/wholeEvents.ts"
import { IdentityStore } from "../../../src/wallets/IdentityStore.ts"
import { recordOf } from "../identities.ts"
import { tradeOf, usd } from "../trades.ts"
import { blockOf, feedOver, mintOf, named, marksOf, timeOf, transactionOf, walletOf } from "./liveScene.ts"

const moved = (owner: Address, delta: bigint, after: bigint): BalanceChange => ({
  owner,
  mint: mintOf(1),
  before: after - delta,
  after,
  delta,
  decimals: 6,
  native: false,
  cause: "transfer"
})

const happen = (...blocks: ReadonlyArray<ReturnType<typeof blockOf>>) =>
  Tape.use((tape) => Effect.forEach(blocks, (block) => tape.apply(block), { discard: true })).pipe(
    Effect.andThen(Effect.yieldNow),
    Effect.andThen(TestClock.adjust(1))
  )

const sent = (slot: number, changes: ReadonlyArray<BalanceChange>) =>
  blockOf(slot, [], { transactions: [transactionOf(slot, 0, changes)] })

/** The position of a wallet in the first mint, as seen by accounts that track the wallet since that slot. */
const shown = (wallet: Address, since = 0) =>
  TrackerFeed.useSync((feed) => {
    const sinceMs = since === 0 ? 0 : timeOf(since)
    const { pnl } = feed.pnlSnapshotOf([{ wallet, sinceMs }], 9, timeOf(40))
    const [position] = pnl
    return position === undefined
      ? null
      : { holding: position.holding, realized: position.realized, known: position.known.realized }
  })

const track = (wallet: Address, since = 0) =>
  WatchList.useSync((list) => list.add({ wallet, addedAtMs: since === 0 ? 0 : timeOf(since) }))

const owned = (owners: Readonly<Record<string, string>>) =>
  IdentityStore.use((store) =>
    store.replace(
      "reviewed",
      Object.entries(owners).map(([wallet, owner]) => recordOf({ wallet: wallet as Address, owner }))
    )
  )

const feed = OwnerLinks.layer.pipe(Layer.provideMerge(feedOver()), Layer.provideMerge(IdentityStore.layerMemory))

const [ann, cold, bob, hidden] = [walletOf(1), walletOf(2), walletOf(3), walletOf(4)]

layer(feed)("wallets of one owner", (it) => {
  it.effect("give each other the cost of the units they send, tracked or not, and other wallets do not", () =>
    Effect.gen(function* () {
      yield* owned({ [ann]: "ann", [cold]: "ann", [hidden]: "ann", [bob]: "bob" })
      yield* track(ann)
      yield* track(cold)
      yield* track(bob)
      yield* TestClock.adjust("2 seconds")
      // The worked example of docs/numbers.md: 100 units for $50, 60 of them sent on.
      yield* happen(
        blockOf(10, [{ wallet: ann, amount: 100n, after: 100n, usd: 50 }]),
        sent(11, [moved(cold, 60n, 60n), moved(ann, -60n, 40n)]),
        blockOf(12, [{ wallet: cold, side: "sell", amount: 20n, after: 40n, usd: 16 }])
      )
      assert.deepStrictEqual(yield* shown(cold), { holding: 40n, realized: "6", known: "6" })
      assert.deepStrictEqual(yield* shown(ann), { holding: 40n, realized: "0", known: "0" })

      // A wallet that no account tracks passes on what it bought.
      yield* happen(
        blockOf(13, [{ wallet: hidden, amount: 10n, after: 10n, usd: 10 }]),
        sent(14, [moved(hidden, -10n, 0n), moved(cold, 10n, 50n)]),
        blockOf(15, [{ wallet: cold, side: "sell", amount: 50n, after: 0n, usd: 50 }])
      )
      // 40 units cost $20 and 10 units $10.
      assert.deepStrictEqual(yield* shown(cold), { holding: 0n, realized: "26", known: "26" })
      assert.isNull(yield* shown(hidden))

      yield* happen(
        sent(16, [moved(ann, -40n, 0n), moved(bob, 40n, 40n)]),
        blockOf(17, [{ wallet: bob, side: "sell", amount: 40n, after: 0n, usd: 9 }])
      )
      assert.deepStrictEqual(yield* shown(bob), { holding: 0n, realized: null, known: "0" })
    })
  )

  it.effect("count from the second in which tracking of the wallet began", () =>
    Effect.gen(function* () {
      const [early, late] = [walletOf(5), walletOf(6)]
      yield* owned({ [early]: "eve", [late]: "eve" })
      yield* track(early)
      yield* track(late)
      yield* TestClock.adjust("31 seconds")
      yield* happen(
        blockOf(20, [{ wallet: early, amount: 100n, after: 100n, usd: 50 }]),
        blockOf(30, [{ wallet: early, amount: 100n, after: 200n, usd: 150 }]),
        sent(31, [moved(early, -200n, 0n), moved(late, 200n, 200n)]),
        blockOf(32, [{ wallet: late, side: "sell", amount: 200n, after: 0n, usd: 300 }])
      )
      assert.deepStrictEqual(yield* shown(late), { holding: 0n, realized: "100", known: "100" })
      // Accounts that track both wallets since the second purchase do not know the cost of the first hundred units.
      assert.deepStrictEqual(yield* shown(late, 30), { holding: 0n, realized: null, known: "0" })
    })
  )
})

test("a restore reads the trades of all wallets of the owner, over all of their accounts", () => {
  const state = new TrackerState({
    sincesOf: (wallet) => new Set(wallet === cold ? [0] : []),
    tokenOf: () => named,
    marksAt: (nowMs) => marksOf({ usd: 1n }, nowMs),
    commitment: "confirmed"
  })
  const mint = mintOf(1)
  const bought = tradeOf({
    wallet: ann,
    mint,
    slot: 10,
    amount: 100n,
    volumeUsdNanos: usd(50),
    held: { before: 0n, after: 100n }
  })
  const transfer = { mint, slot: 11, signature: "sent", role: "transfer", amount: 60n, volumeUsdNanos: null } as const
  const left = tradeOf({ ...transfer, wallet: ann, side: "sell", held: { before: 100n, after: 40n } })
  const came = tradeOf({ ...transfer, wallet: cold, index: 1, held: { before: 0n, after: 60n } })
  const readOf = (units: bigint) => ({
    read: new AccountsRead([{ slot: 11, units: new Map([[mint, units]]) }], { atMs: timeOf(11), chainMs: timeOf(11) }),
    fromMs: 0
  })
  const storedOf = (...trades: ReadonlyArray<typeof left>) => ({ trades, isClipped: false })
  const others = (units: bigint) => [{ wallet: ann, stored: storedOf(bought, left), accounts: readOf(units) }]
  // The account of the sender cannot have held less than it sent.
  assert.isFalse(
    state.restore(cold, storedOf(came), readOf(65n), [
      {
        wallet: ann,
        stored: storedOf(left),
        accounts: { ...readOf(0n), read: new AccountsRead([{ slot: 9, units: new Map() }], { atMs: 0, chainMs: 0 }) }
      }
    ])
  )
  assert.isTrue(state.restore(cold, storedOf(came), readOf(65n), others(47n)))
  const sold = { wallet: cold, side: "sell", amount: 20n, after: 40n, usd: 16 } as const
  state.apply(blockOf(12, [sold]), timeOf(12), () => true)
  const [position] = state.pnlSnapshotOf([{ wallet: cold, sinceMs: 0 }], 9, timeOf(12)).pnl
  // 5 units in another account, and 60 units out of 107, 100 of them bought for $50.
  assert.deepInclude(position, { holding: 45n, realized: null })
  assert.deepInclude(position?.quantities, { known: 39n, inherited: 6n, received: 0n })
  // 17 of 56 known units that cost $28, for 17/20 of $16.
  assert.strictEqual(position?.known.realized, "5.1")
})
