/** Keeps the index of pools: a snapshot of each program, then a stream of writes. */
import { type PgClient } from "@effect/sql-pg"
import { monotonicMs } from "../../domain/loopTime.ts"
import { Clock, Deferred, Duration, Effect, Latch, Layer } from "effect"
import { addressToBytes } from "../../domain/Address.ts"
import { keepRunning } from "../../operations/keepRunning.ts"
import { Readings } from "../../operations/Readings.ts"
import { noteFailure, SourceMonitor } from "../../operations/SourceMonitor.ts"
import type { Program } from "../../programs/interface/Program.ts"
import { followedPrograms } from "../../programs/registry.ts"
import { AccountScan } from "../../chain/rpc/AccountScan.ts"
import { ChainUnavailable } from "../../chain/ChainUnavailable.ts"
import { type ProgramFeed, ProgramWrites, ReplayUnavailable } from "../../chain/geyser/ProgramWrites.ts"
import { TransactionHistory } from "../../chain/rpc/TransactionHistory.ts"
import { type LeaderLock, whileLeading } from "../../storage/LeaderLock.ts"
import { IndexProgress, type SnapshotFailure } from "./IndexProgress.ts"
import { type IndexedListing, listingsOf, mintsIn, PoolEntries } from "./PoolEntries.ts"
import {
  type IndexedProgram,
  PoolIndexStore,
  type PoolIndexStoreUnavailable,
  type PoolIndexWriter,
  type TermEnded
} from "./PoolIndexStore.ts"
import { SeenPools } from "./SeenPools.ts"

const SOURCE = "pool_index"
/**
 * Lock of the process that keeps the index. While nobody keeps it, pools are searched for each token. A new keeper
 * must read all programs again if the stream cannot go back far enough, so a short pause does not end a process's
 * lead.
 */
const LOCK: LeaderLock = { key: 7_426_231, silenceMs: 30_000 }
const STORE_EVERY = Duration.seconds(1)
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 30_000
/** How many slots the stream repeats after a restart, because a write may arrive after the end of its slot. */
const REPEATED = 32
/** Limit of one snapshot's entries, at 64 bytes each. */
const MOST_ENTRIES = 4_000_000

interface Parts {
  readonly listings: ReadonlyArray<IndexedListing>
  readonly progress: IndexProgress
  readonly writes: ProgramFeed
  readonly scan: AccountScan["Service"]
  readonly writer: PoolIndexWriter
  readonly nowMs: () => number
}

type Lost = ChainUnavailable | ReplayUnavailable | PoolIndexStoreUnavailable | TermEnded

/** The conditions of a listing as text, to notice when they change. */
const listingText = ({ mintsAt, query: { dataSize, matches }, slice }: IndexedListing): string =>
  JSON.stringify({
    dataSize: dataSize ?? null,
    matches: matches.map(({ bytes, offset }) => [offset, Buffer.from(bytes).toString("hex")]),
    mints: mintsAt.map((at) => at + slice.offset)
  })

/** The slot to resume the stream from so that the stored programs stay complete; null when none is whole. */
const resumeSlot = (stored: ReadonlyMap<unknown, IndexedProgram>): number | null => {
  const slots = Array.from(stored.values()).flatMap(({ isWhole, through }) => (isWhole ? through : []))
  return slots.length === 0 ? null : Math.max(0, Math.min(...slots) - REPEATED)
}

const isRefusal = ({ isRefused, reason }: ChainUnavailable): boolean => isRefused === true || reason === "invalid"

/** Reads and stores the pools of one program. The stream delivers every write from `slot` on. */
const readProgram = Effect.fnUntraced(function* (
  { nowMs, progress, scan, writer }: Parts,
  listing: IndexedListing,
  slot: number
) {
  const { program, query, slice } = listing
  const entries = new PoolEntries([program.programId])
  const startedMs = nowMs()
  yield* Effect.logInfo("Reading every pool of a program", { program: program.dex, slot })
  const { slot: readAt } = yield* scan.scan({ ...query, slice, minSlot: slot }, (data, address) => {
    const pool = addressToBytes(address)
    mintsIn(listing, data).forEach((mint) => entries.add(0, mint, pool))
    return entries.size <= MOST_ENTRIES
  })
  if (readAt === null) {
    const detail = `${program.dex} has more than ${MOST_ENTRIES} entries`
    return yield* new ChainUnavailable({ reason: "invalid", detail, isRefused: true, isTooLarge: true })
  }
  const stored = yield* writer.replace(program.programId, entries, slot)
  progress.finish(listing, stored)
  yield* Effect.logInfo("Every pool of a program is indexed", {
    program: program.dex,
    entries: stored,
    tookMs: Math.round(nowMs() - startedMs)
  })
})

/** Reads the incomplete programs one after the other. A failure affects only its program, not the stream. */
const readPrograms = (parts: Parts) => {
  const { nowMs, progress } = parts
  const fail = Effect.fnUntraced(function* (listing: IndexedListing, failure: SnapshotFailure, detail: string) {
    const { dex } = listing.program
    const waitMs = progress.fail(listing, failure, nowMs())
    const message = failure === "unstored" ? "cannot be stored" : "cannot be read"
    yield* noteFailure(SOURCE, `${dex}: ${detail}`)
    yield* Effect.logWarning(progress.advice ?? `The pools of a program ${message}`, { program: dex, detail, waitMs })
  })
  return Effect.gen(function* () {
    const listing = progress.next(nowMs())
    if (listing === undefined) {
      return yield* Effect.sleep(STORE_EVERY)
    }
    yield* readProgram(parts, listing, progress.slot).pipe(
      Effect.catchTags({
        ChainUnavailable: (failure) => fail(listing, isRefusal(failure) ? "refused" : "unread", failure.detail),
        PoolIndexStoreUnavailable: (failure) => fail(listing, "unstored", failure.message)
      })
    )
  }).pipe(Effect.forever)
}

/** Follows one stream to its end and reads missing snapshots meanwhile. `from` is as in `ProgramFeed`. */
const followOnce = Effect.fnUntraced(function* (parts: Parts, from: number | null): Effect.fn.Return<never, Lost> {
  const { listings, nowMs, progress, writer, writes } = parts
  const programs = listings.map(({ program }) => program.programId)
  const seen = new SeenPools()
  const heard = yield* Latch.make()
  const startedTooLate = yield* Deferred.make<never, ReplayUnavailable>()
  let added = new PoolEntries(programs)
  progress.slot = 0

  const stream = writes.follow(
    listings.map(({ query }) => query),
    from,
    {
      onWrite: ({ address, data, lamports, query }) => {
        const listing = listings[query]
        if (listing === undefined || lamports === 0n) {
          return
        }
        const { length, offset } = listing.slice
        const part = data.subarray(offset, offset + length)
        if (part.length === length && seen.add(address)) {
          mintsIn(listing, part).forEach((mint) => added.add(query, mint, address))
        }
      },
      onSlot: (slot) => {
        if (progress.slot === 0 && from !== null && slot > from + REPEATED) {
          // The writes between the two slots are missing.
          const detail = `the stream begins at slot ${slot} instead of ${from}`
          Deferred.doneUnsafe(startedTooLate, Effect.fail(new ReplayUnavailable({ detail })))
        } else if (slot > progress.slot) {
          progress.slot = slot
          progress.heardAtMs = nowMs()
          progress.isStreamRefused = false
          heard.openUnsafe()
        }
      }
    }
  )
  const storeNext = Effect.gen(function* () {
    yield* Effect.sleep(STORE_EVERY)
    if (progress.slot === 0) {
      return
    }
    const entries = added
    const { heardAtMs, slot } = progress
    added = new PoolEntries(programs)
    yield* writer.add(entries, { slot, through: slot })
    progress.keptAtMs = heardAtMs
    progress.storedAtMs = yield* Clock.currentTimeMillis
  })
  const snapshots = Effect.andThen(heard.await, readPrograms(parts))
  return yield* Effect.raceAllFirst([stream, Deferred.await(startedTooLate), Effect.forever(storeNext), snapshots])
})

/** Keeps the index until it is interrupted. Fails once another process has claimed the index. */
const keep = Effect.fnUntraced(function* (parts: Parts, genesis: string) {
  const { listings, progress, writer } = parts
  const texts = new Map(listings.map((listing) => [listing.program.programId, listingText(listing)]))
  let isContinued = true
  let pauseMs = FIRST_PAUSE_MS
  while (true) {
    const stored = yield* writer.open(genesis, texts)
    progress.load(stored)
    const from: number | null = isContinued ? resumeSlot(stored) : null
    if (from === null) {
      // Pools may have been created since the last stored slot.
      yield* writer.lose
      progress.lose()
    }
    const { keptAtMs } = progress
    const failure: Lost = yield* Effect.flip(followOnce(parts, from))
    if (failure._tag === "TermEnded") {
      return yield* failure
    }
    if (progress.keptAtMs > keptAtMs) {
      pauseMs = FIRST_PAUSE_MS
    }
    isContinued = failure._tag !== "ReplayUnavailable"
    if (failure._tag === "ReplayUnavailable") {
      yield* Effect.logInfo("The stream cannot resume at the stored index of pools: all programs are read again", {
        from,
        detail: failure.detail
      })
      continue
    }
    progress.isStreamRefused = failure._tag === "ChainUnavailable" && isRefusal(failure) && progress.slot === 0
    const detail = failure._tag === "ChainUnavailable" ? failure.detail : failure.message
    yield* noteFailure(SOURCE, detail)
    yield* Effect.logWarning("The index of pools is interrupted", { detail, pauseMs })
    yield* Effect.sleep(pauseMs)
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
  }
})

/** Keeps the index of these programs, if the market can stream their writes. */
export const layerPrograms = (
  programs: ReadonlyArray<Program>
): Layer.Layer<never, never, AccountScan | PgClient.PgClient | PoolIndexStore | TransactionHistory> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const writes = yield* ProgramWrites
      if (writes === null) {
        return
      }
      const { genesis } = yield* TransactionHistory
      const [scan, store] = [yield* AccountScan, yield* PoolIndexStore]
      const [monitor, readings] = [yield* SourceMonitor, yield* Readings]
      const clock = yield* Clock.Clock
      const nowMs = () => monotonicMs(clock)
      const listings = listingsOf(programs)

      const lead = Effect.gen(function* () {
        const progress = new IndexProgress(listings)
        yield* monitor.report(SOURCE, () => progress.state(nowMs()))
        yield* readings.report(
          {
            name: "fathom_pool_index_entries",
            help: "Pairs of a token and a pool in the index of pools.",
            kind: "gauge"
          },
          () => progress.samples()
        )
        const writer = yield* store.claim
        return yield* keep({ listings, progress, writes, scan, writer, nowMs }, yield* genesis)
      }).pipe(Effect.scoped)
      yield* whileLeading(LOCK, lead).pipe(keepRunning("Keeping the index of pools", SOURCE), Effect.forkScoped)
    })
  )

/** Keeps the index of every followed program. */
export const layer = layerPrograms(followedPrograms)
