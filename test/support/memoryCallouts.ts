/** A `CalloutStore` without a database, for tests of what stands on it. It passes the contract of the store. */
import { Clock, Effect, Layer } from "effect"
import {
  type AttributedTrade,
  Callout,
  type CalloutSelection,
  type CalloutSlice,
  NewCallout,
  statusAt
} from "../../src/api/schemas/Callout.ts"
import { CalloutStore } from "../../src/callouts/CalloutStore.ts"

interface CalloutEntry {
  callout: Callout
  isRemoved: boolean
  /** Position of the ledger when it was posted. */
  readonly at: bigint
  readonly traders: Set<string>
  /** Volume of each trade, oldest first. */
  readonly gains: Array<{ readonly at: bigint; readonly usdNanos: bigint }>
}

interface Ranked {
  readonly entry: CalloutEntry
  readonly key: bigint
}

const NOTHING_YET = {
  clickCount: 0,
  traderCount: 0,
  attributedVolumeUsdNanos: 0n,
  earnedUsdNanos: 0n,
  pointsAwarded: 0n
}

/** The volume that had been attributed when the ledger stood at the mark. */
const volumeAt = ({ callout, gains }: CalloutEntry, mark: bigint): bigint =>
  gains
    .filter(({ at }) => at > mark)
    .reduce((volume, { usdNanos }) => volume - usdNanos, callout.attributedVolumeUsdNanos)

type Key = Pick<Ranked, "key"> & { readonly id: string }

/** Descending by key, then by id. */
const compare = (a: Key, b: Key): number => {
  if (a.key === b.key) {
    return a.id === b.id ? 0 : a.id < b.id ? 1 : -1
  }
  return a.key < b.key ? 1 : -1
}

const keyOf = ({ entry, key }: Ranked): Key => ({ key, id: entry.callout.id })

/** The methods of the store. Each reads the clock first and then acts in one synchronous step. */
const make = () => {
  const entries = new Map<string, CalloutEntry>()
  const counted = new Set<string>()
  let ledger = 0n

  const isActive = ({ callout, isRemoved }: CalloutEntry, nowMs: number): boolean =>
    statusAt({ expiresAtMs: callout.expiresAtMs, isRemoved }, nowMs) === "active"

  const activeEntry = (id: string, nowMs: number): CalloutEntry | null => {
    const entry = entries.get(id)
    return entry !== undefined && isActive(entry, nowMs) ? entry : null
  }

  const slice = ({ after, limit, mint, sort }: CalloutSelection, nowMs: number): CalloutSlice => {
    const mark = after?.mark ?? ledger
    const rows = Array.from(entries.values())
      .filter((entry) => entry.at <= mark && isActive(entry, nowMs) && (mint === null || entry.callout.mint === mint))
      .map((entry): Ranked => ({
        entry,
        key: sort === "top" ? volumeAt(entry, mark) : BigInt(entry.callout.createdAtMs)
      }))
      .filter((row) => after === null || compare(after, keyOf(row)) < 0)
      .toSorted((a, b) => compare(keyOf(a), keyOf(b)))
    const shown = rows.slice(0, limit)
    const last = shown.at(-1)
    return {
      callouts: shown.map(({ entry }) => entry.callout),
      next: last !== undefined && rows.length > limit ? { mark, ...keyOf(last) } : null
    }
  }

  const count = (trade: AttributedTrade): boolean => {
    const entry = entries.get(trade.calloutId)
    if (entry === undefined || entry.isRemoved || counted.has(trade.tradeId)) {
      return false
    }
    const { callout } = entry
    counted.add(trade.tradeId)
    entry.traders.add(trade.trader)
    entry.gains.push({ at: ++ledger, usdNanos: trade.volumeUsdNanos })
    entry.callout = {
      ...callout,
      traderCount: entry.traders.size,
      attributedVolumeUsdNanos: callout.attributedVolumeUsdNanos + trade.volumeUsdNanos,
      earnedUsdNanos: callout.earnedUsdNanos + trade.earnedUsdNanos,
      pointsAwarded: callout.pointsAwarded + trade.points
    }
    return true
  }

  return {
    post: Effect.fn("CalloutStore.post")((posted: NewCallout) =>
      Effect.sync(() => {
        const callout = Callout.make({ ...NewCallout.make(posted), ...NOTHING_YET, status: "active" })
        if (entries.has(posted.id)) {
          return false
        }
        entries.set(posted.id, { callout, isRemoved: false, at: ++ledger, traders: new Set(), gains: [] })
        return true
      })
    ),
    remove: Effect.fn("CalloutStore.remove")((id: string) =>
      Effect.sync(() => {
        const entry = entries.get(id)
        if (entry === undefined || entry.isRemoved) {
          return false
        }
        entry.isRemoved = true
        return true
      })
    ),
    find: Effect.fn("CalloutStore.find")((id: string) =>
      Effect.map(Clock.currentTimeMillis, (nowMs) => activeEntry(id, nowMs)?.callout ?? null)
    ),
    page: Effect.fn("CalloutStore.page")((selection: CalloutSelection) =>
      Effect.map(Clock.currentTimeMillis, (nowMs) => slice(selection, nowMs))
    ),
    recordClick: Effect.fn("CalloutStore.recordClick")((id: string, clicks = 1) =>
      Effect.map(Clock.currentTimeMillis, (nowMs) => {
        const entry = activeEntry(id, nowMs)
        if (entry !== null) {
          entry.callout = { ...entry.callout, clickCount: entry.callout.clickCount + clicks }
        }
      })
    ),
    attribute: Effect.fn("CalloutStore.attribute")((trade: AttributedTrade) => Effect.sync(() => count(trade)))
  }
}

/** Callouts held in memory. */
export const layer: Layer.Layer<CalloutStore> = Layer.sync(CalloutStore, () => CalloutStore.of(make()))
