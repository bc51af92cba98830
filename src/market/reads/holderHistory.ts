/** Hourly snapshots of the holders of followed tokens: taking them, and reading them. */
import { Effect, Latch } from "effect"
import type { HolderHour, HolderRow } from "../../api/schemas/TokenHolders.ts"
import type { Mint } from "../../domain/Address.ts"
import { ownTurn } from "../../domain/loopTime.ts"
import { keepRunning } from "../../operations/keepRunning.ts"
import { Readings } from "../../operations/Readings.ts"
import { noteFailure, SourceMonitor } from "../../operations/SourceMonitor.ts"
import { type HolderHistoryRead, HolderHistoryUnavailable } from "../../tokens/HolderReader.ts"
import type { TraderRow } from "../memory/Traders.ts"
import type { HolderSnapshot } from "../model/HolderHistory.ts"
import { lackingNow } from "../tape/freshness.ts"
import type { Market } from "../tape/Market.ts"
import type { FollowedToken, HolderBook } from "./HolderBook.ts"
import type { HolderTable } from "./HolderTable.ts"
import { percentOf } from "./holderFigures.ts"
import { dollarsText } from "./measures.ts"
import type { makeOwnerKinds } from "./ownerKinds.ts"

const HOUR_MS = 3_600_000
/** How often tokens that lack a snapshot of the hour are looked for, by the time of blocks. */
const EVERY_SECONDS = 60

type Tape = Market["Service"]

const signedDollars = (nanos: bigint): string => (nanos < 0n ? `-${dollarsText(-nanos)}` : dollarsText(nanos))

/** What a wallet traded of a token; null when memory knows of no trade. */
export const tradingOf = (row: TraderRow | null): HolderRow["observed"] =>
  row === null
    ? null
    : {
        buys: row.buys,
        sells: row.sells,
        boughtUsd: row.unpricedBuys > 0 ? null : dollarsText(row.boughtUsdNanos),
        soldUsd: row.unpricedSells > 0 ? null : dollarsText(row.soldUsdNanos),
        realizedUsd: row.realizedUsdNanos === null ? null : signedDollars(row.realizedUsdNanos),
        lastTradeAtMs: row.lastTradeMs
      }

const sumOf = (holdings: ReturnType<HolderTable["largest"]>, most: number): bigint =>
  holdings.slice(0, most).reduce((sum, { amount }) => sum + amount, 0n)

/** The figures of a token now. */
const snapshotOf = (
  { mint, readSlot, table }: FollowedToken & { readonly table: HolderTable },
  slot: number,
  atMs: number,
  kindsOf: ReturnType<typeof makeOwnerKinds>
): HolderSnapshot => {
  const { coverage, kinds } = kindsOf(mint)
  const largest = table.largest(50, kinds.keys())
  return {
    mint,
    hourMs: Math.floor(atMs / HOUR_MS) * HOUR_MS,
    atMs,
    slot: Math.max(readSlot, slot),
    holders: table.size,
    held: table.total,
    top10: sumOf(largest, 10),
    top50: sumOf(largest, 50),
    excluded: Array.from(kinds.keys()).reduce((sum, owner) => sum + table.amountOf(owner), 0n),
    poolsKnown: coverage.complete
  }
}

const SOURCE = "holder_snapshots"

interface SnapshotCounts {
  readonly stored: number
  readonly failed: number
  /** Time of the newest stored snapshot; null before the first. */
  readonly storedAtMs: number | null
  /** True from a failure until a round without one. */
  readonly isFailing: boolean
}

/** Reports whether snapshots are stored, until the scope closes. Before the first there is nothing that could lag. */
const reportSnapshots = Effect.fnUntraced(function* (counts: SnapshotCounts) {
  yield* (yield* SourceMonitor).report(SOURCE, () => ({
    observedAtMs: counts.storedAtMs,
    status: counts.isFailing ? "stale" : "known"
  }))
  const readings = yield* Readings
  yield* readings.report(
    { name: "fathom_holder_snapshots_total", help: "Snapshots of holders that were stored.", kind: "counter" },
    () => counts.stored
  )
  yield* readings.report(
    {
      name: "fathom_holder_snapshots_failed_total",
      help: "Rounds of snapshots of holders that ended because one could not be stored.",
      kind: "counter"
    },
    () => counts.failed
  )
})

/**
 * Takes one snapshot of each followed token in every hour, as soon in the hour as its holders are known up to the newest
 * block. An hour in which they never are has none. Call `applied` after each block.
 */
export const takeSnapshots = Effect.fnUntraced(function* (
  book: HolderBook,
  tape: Tape,
  kindsOf: ReturnType<typeof makeOwnerKinds>
) {
  const due = yield* Latch.make()
  let looked = 0
  const taken: { hourMs: number; readonly mints: Set<Mint> } = { hourMs: 0, mints: new Set() }
  const counts = { stored: 0, failed: 0, storedAtMs: null as number | null, isFailing: false }
  yield* reportSnapshots(counts)

  const take = Effect.fnUntraced(function* () {
    yield* tape.whole
    const stored = tape.stored()
    const nowMs = tape.heardAtMs()
    if (stored === null || nowMs === null || lackingNow(tape, nowMs) !== null) {
      return
    }
    for (const { mint } of book.whole()) {
      // Each token in a turn of its own: its largest owners take a pass over all of them.
      yield* ownTurn
      yield* tape.whole
      const atMs = tape.state.now * 1000
      const hourMs = Math.floor(atMs / HOUR_MS) * HOUR_MS
      if (hourMs !== taken.hourMs) {
        taken.hourMs = hourMs
        taken.mints.clear()
      }
      const token = taken.mints.has(mint) ? undefined : book.whole().find((each) => each.mint === mint)
      if (token !== undefined) {
        yield* stored.holders.keep([snapshotOf(token, book.slot, atMs, kindsOf)])
        taken.mints.add(mint)
        counts.stored += 1
        counts.storedAtMs = atMs
      }
    }
    counts.isFailing = false
  })

  const noteFailed = (cause: unknown) =>
    Effect.suspend(() => {
      counts.failed += 1
      counts.isFailing = true
      return Effect.andThen(
        noteFailure(SOURCE, cause),
        Effect.logWarning("Snapshots of holders cannot be stored", cause)
      )
    })

  yield* due.await.pipe(
    Effect.andThen(Effect.sync(() => due.closeUnsafe())),
    Effect.andThen(Effect.suspend(take)),
    Effect.tapError(({ cause }) => noteFailed(cause)),
    Effect.ignore,
    Effect.forever,
    keepRunning("Taking snapshots of holders", SOURCE),
    Effect.forkScoped
  )
  return {
    applied: (): void => {
      const now = tape.state.now
      if (now - looked >= EVERY_SECONDS || now < looked) {
        looked = now
        due.openUnsafe()
      }
    }
  }
})

const hourOf = ({
  atMs,
  excluded,
  held,
  holders,
  hourMs,
  poolsKnown,
  slot,
  top10,
  top50
}: HolderSnapshot): HolderHour => ({
  hourMs,
  atMs,
  slot,
  holders,
  heldAmount: held,
  top10Pct: percentOf(top10, held),
  top50Pct: percentOf(top50, held),
  excludedPct: percentOf(excluded, held),
  poolsKnown
})

/** The stored snapshots of a token, newest first. */
export const readHistory = (
  tape: Tape,
  request: HolderHistoryRead
): Effect.Effect<ReadonlyArray<HolderHour>, HolderHistoryUnavailable> =>
  Effect.suspend(() => {
    const stored = tape.stored()
    return stored === null
      ? Effect.fail(new HolderHistoryUnavailable({ cause: new Error("this process has no store") }))
      : stored.holders.of(request).pipe(
          Effect.map((snapshots) => snapshots.map(hourOf)),
          Effect.mapError((cause) => new HolderHistoryUnavailable({ cause }))
        )
  })
