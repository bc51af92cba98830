/** A tracker for tests: accounts in memory and a scripted feed. */
import { Effect, Layer, Stream } from "effect"
import type { Address } from "../../src/domain/Address.ts"
import { Signature } from "../../src/domain/Signature.ts"
import type { TrackerTrade } from "../../src/api/schemas/Tracker.ts"
import { Tickets } from "../../src/wallets/tracker/Tickets.ts"
import { TrackerFeed } from "../../src/wallets/tracker/TrackerFeed.ts"
import type { TrackerStore } from "../../src/wallets/tracker/TrackerStore.ts"
import { WatchList } from "../../src/wallets/tracker/WatchList.ts"
import * as TrackerStoreMemory from "./TrackerStoreMemory.ts"

/** An empty feed with overrides. */
export const trackerFeed = (overrides: Partial<TrackerFeed["Service"]> = {}): Layer.Layer<TrackerFeed> =>
  Layer.succeed(TrackerFeed, {
    tradesOf: () => ({ trades: [], oldestTs: null, newestTs: null, truncated: false }),
    newestOf: () => [],
    lastEventAtMs: () => null,
    health: () => ({ ingestLagMs: null, heardAtMs: null }),
    pnlSnapshotOf: () => ({ pnl: [], summaries: [] }),
    whole: Effect.void,
    activity: Stream.never,
    follow: () => Effect.void,
    ...overrides
  })

/** Accounts in memory, and tickets. */
export const memoryTracker: Layer.Layer<TrackerStore | WatchList | Tickets> = Layer.merge(
  TrackerStoreMemory.layer,
  Tickets.layerMemory
).pipe(Layer.provideMerge(WatchList.layer))

const signature = Signature.make(
  "2soASZVz6NaEUZtRyCbf3hAdpPAAiecRovUSi99FFw9GJGQTbdoPFaFctNx1Nzt2FzPMLj5JjBnkXJm6CGofULNX"
)

/** A buy at that time. */
export const trackerTrade = (wallet: Address, ts: number, other: Partial<TrackerTrade> = {}): TrackerTrade => ({
  type: "trade",
  eventId: `${signature}:${ts}`,
  wallet,
  mint: wallet,
  side: "buy",
  price_usd: 0.000122,
  volume_usd: 244,
  volume_sol: 1.52,
  market_cap_usd: null,
  amount: 18_446_744_073_709_551_615n,
  decimals: 6,
  ts,
  slot: Math.floor(ts / 400),
  index: 2,
  commitment: "confirmed",
  signature,
  pool: null,
  dex: "orca",
  quotable: null,
  fees: { priorityLamports: 12_345n, tipLamports: 0n, frontEndUsd: "1.5", frontEndLamports: null },
  symbol: null,
  name: null,
  image: null,
  imageProxyUrl: null,
  imageStatus: "missing",
  ...other
})
