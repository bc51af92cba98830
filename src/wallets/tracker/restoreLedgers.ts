/** Brings ledgers of tracked wallets up to the next block, from stored trades and reads of token accounts. */
import { Clock, Duration, Effect } from "effect"
import type { Address } from "../../domain/Address.ts"
import type { Gaps, MissingBlocks } from "../../market/model/Gaps.ts"
import type { Market } from "../../market/tape/Market.ts"
import type { WalletAccounts } from "../WalletAccounts.ts"
import { RestoreReads } from "./RestoreReads.ts"
import { afterGapsMs, type RestoredWallets, storedGapMs, storedTradesOf } from "./restoredTrades.ts"
import type { TrackerState } from "./TrackerState.ts"
import type { WalletSince } from "./WalletSince.ts"
import type { WatchList } from "./WatchList.ts"

/** Wallets restored at the same time. */
const RESTORED_AT_ONCE = 4
/** A block waits for the store at most this long. */
const RESTORE_TIME = Duration.seconds(2)
const RESTORE_AGAIN_MS = 2000

export interface RestoreParts {
  readonly accounts: WalletAccounts["Service"]
  readonly restored: RestoredWallets
  readonly state: TrackerState
  readonly tape: Market["Service"]
  readonly watched: WatchList["Service"]
}

/** Makes the restore. Only the loop of the feed calls it, between two blocks. */
export const makeLedgerRestore = ({ accounts, restored, state, tape, watched }: RestoreParts) => {
  const reads = new RestoreReads(accounts)
  /** The other wallets of the owner with which each ledger was built. */
  const linked = new Map<Address, ReadonlyArray<Address>>()
  const groupOf = (wallet: Address) => [wallet, ...(linked.get(wallet) ?? [])]
  let linksRevision = 0
  /** After a failed restore, no restore is tried before this time. */
  let pausedUntilMs = 0
  /** The gaps in the blocks that each ledger was built from. */
  const lacking = new Map<Address, Gaps>()
  /** The gaps at the last look for closed ones; null when ledgers were noted since. */
  let looked: string | null = null
  /** The newest block before which the feed fell behind: what it missed then is in no gap. */
  let behindMs = 0

  /** Restores these wallets from a new read of their accounts, because changes were missed. */
  const missed = (wallets: ReadonlyArray<Address>) => {
    for (const wallet of wallets) {
      restored.broken(wallet)
      groupOf(wallet).forEach((each) => reads.done(each))
      // Nothing has happened yet to a wallet that needs no restore.
      if (!restored.has(wallet)) {
        state.unread(wallet, "backfill_running")
      }
    }
  }

  /** Notes that the ledgers of these wallets lack the blocks of these gaps. */
  const noteGaps = (wallets: Iterable<Address>, gaps: Gaps = tape.gaps()) => {
    for (const wallet of gaps.length > 0 ? wallets : []) {
      lacking.set(wallet, gaps)
      looked = null
    }
  }

  /** Restores wallets again once a gap of their ledgers is closed: its blocks were read and stored. */
  const repaired = () => {
    const open = tape.gaps()
    const now = open.map(({ fromSlot, toSlot }) => `${fromSlot} ${toSlot}`).join()
    if (now === looked) {
      return
    }
    looked = now
    const isOpen = ({ fromSlot, toSlot }: MissingBlocks) =>
      open.some((gap) => gap.fromSlot <= toSlot && gap.toSlot >= fromSlot)
    const found = Array.from(lacking).flatMap(([wallet, gaps]) =>
      watched.has(wallet) && gaps.every(isOpen) ? [] : [wallet]
    )
    if (found.length > 0) {
      found.forEach((wallet) => lacking.delete(wallet))
      missed(found.filter((wallet) => watched.has(wallet)))
      state.gapIs(Math.max(storedGapMs(tape), behindMs))
    }
  }

  /** Restores wallets again when their owner has other wallets than before. */
  const relink = (newestMs: number | null) => {
    if (watched.linksRevision() === linksRevision) {
      return
    }
    linksRevision = watched.linksRevision()
    for (const wallet of watched.wallets()) {
      const links = watched.linksOf(wallet)
      if (String(links) !== String(linked.get(wallet) ?? [])) {
        linked.set(wallet, links)
        state.link(wallet, links)
        missed([wallet])
        // Without a store, nothing from before can be restored.
        state.noteGap(tape.stored() === null && newestMs !== null ? newestMs + 1000 : 0)
      }
    }
    for (const wallet of linked.keys()) {
      if (!watched.has(wallet)) {
        linked.delete(wallet)
      }
    }
  }

  const storedOf = Effect.fnUntraced(function* ({ sinceMs, wallet }: WalletSince, slot: number) {
    const read = reads.of(wallet)
    const afterSlot = typeof read === "object" ? read.lastSlot : Number.POSITIVE_INFINITY
    const stored = yield* storedTradesOf(tape, { sinceMs, wallet }, { slot, afterSlot })
    const fromMs = afterGapsMs(tape)
    return { wallet, stored, read, accounts: typeof read === "object" ? { read, fromMs } : null }
  })

  const restoreOne = Effect.fnUntraced(function* ({ sinceMs, wallet }: WalletSince, slot: number) {
    // Taken before the read: a gap that closes meanwhile may be in it or not.
    const gaps = tape.gaps()
    const own = yield* storedOf({ sinceMs, wallet }, slot)
    const links = yield* Effect.forEach(linked.get(wallet) ?? [], (other) => storedOf({ sinceMs, wallet: other }, slot))
    // When the balances of a wallet are not known, the cost of units that come from it is not known either.
    const others = links.filter(({ read }) => read !== "unavailable")
    if ([own, ...others].some(({ accounts: of }) => of !== null && of.read.chainMs < of.fromMs)) {
      return missed([wallet])
    }
    // Marked first, so that the ledger counts as whole once it is read.
    restored.restored({ sinceMs, wallet })
    lacking.delete(wallet)
    noteGaps([wallet], gaps)
    const fits = state.restore(wallet, own.stored, own.accounts, others)
    groupOf(wallet).forEach((each) => reads.done(each))
    if (!fits) {
      missed([wallet])
    } else if (own.read === "unavailable") {
      state.unread(wallet, "not_captured")
    }
  })

  /** A read at a slot that is not applied yet waits for a later block. */
  const isReady = (wallet: Address, slot: number): boolean =>
    groupOf(wallet).every((each) => {
      const read = reads.of(each)
      return read !== "waiting" && !(typeof read === "object" && read.lastSlot >= slot)
    })

  /** Restores ledgers up to the block of this slot. Failed restores are tried again before a later block. */
  const restore = Effect.fnUntraced(function* (slot: number) {
    const waiting = restored.waiting()
    reads.ask(waiting.flatMap(({ wallet }) => groupOf(wallet)))
    if (waiting.length === 0 || (yield* Clock.currentTimeMillis) < pausedUntilMs) {
      return
    }
    state.noteGap(storedGapMs(tape))
    const ready = waiting.filter(({ wallet }) => isReady(wallet, slot))
    yield* Effect.forEach(ready, (each) => restoreOne(each, slot), {
      concurrency: RESTORED_AT_ONCE,
      discard: true
    }).pipe(
      Effect.timeout(RESTORE_TIME),
      Effect.catchCause((cause) =>
        Effect.map(Clock.currentTimeMillis, (nowMs) => (pausedUntilMs = nowMs + RESTORE_AGAIN_MS)).pipe(
          Effect.andThen(Effect.logWarning("Tracked wallets are not all restored yet", cause))
        )
      )
    )
  })

  const noteBehind = (timeMs: number) => {
    behindMs = timeMs
  }

  const startAnew = () => {
    lacking.clear()
    behindMs = 0
    reads.startAnew()
  }

  return { missed, noteBehind, noteGaps, relink, repaired, restore, startAnew }
}
