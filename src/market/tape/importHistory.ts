/** Imports blocks into a database that no service writes to. */
import { Clock, type Duration, Effect, Schema } from "effect"
import { PgTypes } from "@effect/sql-pg"
import { SqlClient, SqlSchema } from "effect/sql"
import { ImportRefused } from "../../chain/importing/importSource.ts"
import type { PriceBook } from "../../tokens/PriceBook.ts"
import { isAcceptable } from "../model/isAcceptable.ts"
import { marketStores } from "../model/MarketStores.ts"
import type { StoredBatch } from "../model/StoredBatch.ts"
import type { PricedBatch } from "../model/TradeBatch.ts"
import { type StoredDay, storedDays } from "../model/wholeDays.ts"
import { importBlocks, type ImportNotes, type ImportOptions, newNotes } from "./importBlocks.ts"

/** A service writes its chain several times a second. */
const WRITTEN_MS = 15_000
const DAY = 86_400

/** Imported blocks are priced by their own swaps alone. */
export const noPrices: PriceBook["Service"] = {
  at: () => ({
    of: () => null,
    lifetime: null,
    isStale: true,
    silentMs: Number.POSITIVE_INFINITY,
    clock: { slot: 0, epoch: 0, unixTimestamp: 0 }
  }),
  warm: () => Effect.void
}

/**
 * The stored part of an imported block. It has every transfer: whether a wallet traded a mint before is only known once
 * all earlier blocks are there.
 */
export const storedPart = (
  { afterGap, forkedFrom, launches, liquidity, openings, slot, supply, timeMs, trades, transfers = [] }: PricedBatch,
  nowMs: number
): StoredBatch => ({
  slot,
  timeMs,
  launches,
  supply,
  liquidity,
  openings,
  afterGap,
  forkedFrom,
  trades: trades.filter((trade) => isAcceptable(trade, nowMs)),
  transfers: transfers.filter((transfer) => isAcceptable(transfer, nowMs))
})

export interface HistoryRequest extends ImportOptions {
  readonly genesis: string
  /** How long the source is asked again while it does not answer. */
  readonly patience: Duration.Duration
}

/** What an import has stored, and what is there now. */
export interface ImportSummary extends ImportNotes {
  readonly genesis: string
  /** The days of the blocks that this run has read. */
  readonly days: ReadonlyArray<StoredDay>
}

const Written = Schema.Struct({ genesis: Schema.String, isSandbox: Schema.Boolean, writtenAt: Schema.Date })

/** Fails while a process writes the chain. */
const claimed = Effect.fnUntraced(function* (genesis: string) {
  const sql = yield* SqlClient.SqlClient
  const nowMs = yield* Clock.currentTimeMillis
  const find = SqlSchema.findAll({
    Request: Schema.String,
    Result: Written,
    execute: (hash) => sql`
      select genesis, is_sandbox, written_at from chains
      where genesis in (${hash}, ${`clickhouse:${hash}`})
        and (is_sandbox or written_at > ${PgTypes.timestamptz(nowMs - WRITTEN_MS)})
    `
  })
  for (const { isSandbox } of yield* find(genesis)) {
    return yield* new ImportRefused({
      detail: isSandbox
        ? "the chain is a simulated one, whose trades are deleted once it has ended"
        : "a service writes this chain: stop it while blocks are imported"
    })
  }
})

/** Imports a range as the only writer of the chain. `report` gets the notes, which change while it runs. */
export const importHistory = Effect.fn("market.importHistory")(function* (
  { genesis, patience, ...options }: HistoryRequest,
  report: (notes: ImportNotes) => Effect.Effect<void>
) {
  yield* claimed(genesis)
  const stores = yield* marketStores
  yield* stores.blocks.open({ genesis, isSandbox: false }, "sole")
  const notes = newNotes()
  const parts = {
    stores,
    prices: noPrices,
    live: { newest: () => 0, recall: () => undefined },
    durable: () => Number.POSITIVE_INFINITY,
    storable: storedPart,
    isBeside: false,
    bridge: "unavailable" as const,
    alone: <A, E>(effect: Effect.Effect<A, E>) => effect
  }
  yield* Effect.forkScoped(report(notes))
  yield* importBlocks(parts, options, notes, patience)
  const { firstMs, timeMs } = notes
  const progress = yield* stores.blocks.progress
  const from = firstMs === null ? null : Math.floor(firstMs / 1000)
  const to = timeMs === null ? null : Math.floor(timeMs / 1000) + 1
  const days =
    progress === null || from === null || to === null ? [] : storedDays(progress, from, Math.max(to, from + 1))
  return { ...notes, genesis, days } satisfies ImportSummary
}, Effect.scoped)

/** Every stored day of the chain that was written last, or of the named one. */
export const storedCoverage = Effect.fnUntraced(function* (genesis: string | null) {
  const stores = yield* marketStores
  const sql = yield* SqlClient.SqlClient
  const find = SqlSchema.findAll({
    Request: Schema.NullOr(Schema.String),
    Result: Written,
    execute: (hash) => sql`
      select genesis, is_sandbox, written_at from chains
      where ${hash === null ? sql`true` : sql`genesis in (${hash}, ${`clickhouse:${hash}`})`}
      order by written_at desc limit 1
    `
  })
  const [found] = yield* find(genesis)
  if (found === undefined) {
    return null
  }
  const name = found.genesis.replace("clickhouse:", "")
  const progress = yield* stores.blocks.open({ genesis: name, isSandbox: found.isSandbox }, "read")
  return progress === null
    ? null
    : {
        genesis: name,
        firstSlot: progress.firstSlot,
        slot: progress.slot,
        gaps: progress.gaps.map(({ fromSlot, state, toSlot }) => ({ fromSlot, toSlot, state })),
        days: storedDays(progress, progress.readFrom, Math.floor(progress.timeMs / 1000 / DAY + 1) * DAY)
      }
})
