/**
 * One process reads the chain and passes account writes to every other process of a service. It also learns which
 * accounts those processes follow.
 */
import { Context, Duration, type Effect, type Stream } from "effect"
import {
  type AppendRefused,
  type BusLog,
  type BusUnavailable,
  type LogBounds,
  type LogEntry,
  type LogPage,
  pages,
  type ReadEntry
} from "./busLog.ts"

/** The accounts that one process follows. */
export interface Lease {
  /** Name of the process. */
  readonly owner: string
  /** Increases with every change of the accounts. */
  readonly revision: number
  /** The addresses, 32 bytes each. */
  readonly accounts: Uint8Array
}

/** A listed lease. Its accounts are left out when the reader already has them at this revision. */
export type ListedLease = Pick<Lease, "revision"> & { readonly accounts: Uint8Array | null }

/** How long entries and leases stay. */
export interface AccountBusBounds extends LogBounds {
  /** A lease ends after this long unless it is renewed. */
  readonly leaseMs: number
}

/** Entries stay for five minutes, and at most 256 MiB of them; a lease holds for 15 s. */
export const ACCOUNT_BOUNDS: AccountBusBounds = {
  keptMs: Duration.toMillis("5 minutes"),
  mostBytes: 256 * 2 ** 20,
  leaseMs: Duration.toMillis("15 seconds")
}

/** Entries and leases, separately for each chain. Chains have names. */
export class AccountBus extends Context.Service<
  AccountBus,
  {
    /** Place of the newest entry; null when the log is empty. */
    newest(chain: string): Effect.Effect<number | null, BusUnavailable>
    /**
     * Appends an entry. Refused when the bus has an entry later than `after`, so that two writers never interleave.
     */
    append(chain: string, entry: LogEntry): Effect.Effect<void, AppendRefused | BusUnavailable>
    /**
     * The entries after this place: first those that are there, then each new one. Fails when the bus cannot be
     * reached.
     */
    follow(chain: string, after: number): Stream.Stream<LogPage<ReadEntry>, BusUnavailable>
    /** Sets the owner's lease. It replaces the owner's earlier one. */
    lease(chain: string, lease: Lease): Effect.Effect<void, BusUnavailable>
    /** Renews a lease. Returns false when the bus no longer has a lease of this revision. */
    renew(chain: string, owner: string, revision: number): Effect.Effect<boolean, BusUnavailable>
    /** Ends a lease. */
    release(chain: string, owner: string): Effect.Effect<void, BusUnavailable>
    /** All leases by owner. `known` names the revisions whose accounts can be left out. */
    leases(
      chain: string,
      known: ReadonlyMap<string, number>
    ): Effect.Effect<ReadonlyMap<string, ListedLease>, BusUnavailable>
  }
>()("fathom/storage/bus/AccountBus") {}

/** The part of the bus that keeps leases. */
export type Leases = Pick<AccountBus["Service"], "lease" | "renew" | "release" | "leases">

/** Builds the bus from a log and leases. */
export const makeAccountBus = (log: BusLog, leases: Leases): AccountBus["Service"] =>
  AccountBus.of({
    newest: log.newest,
    append: log.append,
    follow: (chain, after) => pages(log, chain, after),
    ...leases
  })
