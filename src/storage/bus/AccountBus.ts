/** Writes of accounts by one reader of the chain for every process of a service, and the accounts that each of these follows. */
import { Clock, Context, Duration, Effect, Layer, type Stream } from "effect"
import {
  type AppendRefused,
  type BusLog,
  type BusUnavailable,
  type LogBounds,
  type LogEntry,
  type LogPage,
  makeMemoryLog,
  pages,
  type ReadEntry
} from "./busLog.ts"

/** The accounts that one process follows. */
export interface Lease {
  /** Name of the process. */
  readonly owner: string
  /** Rises with every change of the accounts. */
  readonly revision: number
  /** The addresses, 32 bytes each. */
  readonly accounts: Uint8Array
}

/** A lease as it is listed; without its accounts where the reader has them at this revision. */
export type ListedLease = Pick<Lease, "revision"> & { readonly accounts: Uint8Array | null }

/** Bounds of the entries and of the leases. */
export interface AccountBusBounds extends LogBounds {
  /** Time for which a lease holds unless it is renewed. */
  readonly leaseMs: number
}

/** Entries stay for five minutes, and at most 256 MiB of them; a lease holds for 15 s. */
export const ACCOUNT_BOUNDS: AccountBusBounds = {
  keptMs: Duration.toMillis("5 minutes"),
  mostBytes: 256 * 2 ** 20,
  leaseMs: Duration.toMillis("15 seconds")
}

/** Entries and leases of chains, by name. */
export class AccountBus extends Context.Service<
  AccountBus,
  {
    /** Place of the newest entry; null when there is none. */
    newest(chain: string): Effect.Effect<number | null, BusUnavailable>
    /** Appends an entry; refused when an entry later than `after` is there, so that two writers never interleave. */
    append(chain: string, entry: LogEntry): Effect.Effect<void, AppendRefused | BusUnavailable>
    /** The entries after this place, those that are there and then each new one. Fails when the bus cannot be reached. */
    follow(chain: string, after: number): Stream.Stream<LogPage<ReadEntry>, BusUnavailable>
    /** Takes a lease, in place of an earlier one of its owner. */
    lease(chain: string, lease: Lease): Effect.Effect<void, BusUnavailable>
    /** Renews a lease; false when there is none of this revision any more. */
    renew(chain: string, owner: string, revision: number): Effect.Effect<boolean, BusUnavailable>
    /** Gives a lease back. */
    release(chain: string, owner: string): Effect.Effect<void, BusUnavailable>
    /** All leases by owner. `known` holds the revisions whose accounts need not be repeated. */
    leases(
      chain: string,
      known: ReadonlyMap<string, number>
    ): Effect.Effect<ReadonlyMap<string, ListedLease>, BusUnavailable>
  }
>()("fathom/storage/bus/AccountBus") {
  /** Entries and leases of this process. */
  static readonly layerMemory = (bounds: AccountBusBounds = ACCOUNT_BOUNDS): Layer.Layer<AccountBus> =>
    Layer.sync(AccountBus, () => makeAccountBus(makeMemoryLog(bounds), makeMemoryLeases(bounds.leaseMs)))
}

/** The part of the bus that holds leases. */
export type Leases = Pick<AccountBus["Service"], "lease" | "renew" | "release" | "leases">

/** The bus over a log and leases. */
export const makeAccountBus = (log: BusLog, leases: Leases): AccountBus["Service"] =>
  AccountBus.of({
    newest: log.newest,
    append: log.append,
    follow: (chain, after) => pages(log, chain, after),
    ...leases
  })

const keyOf = (chain: string, owner: string) => `${chain} ${owner}`

const makeMemoryLeases = (leaseMs: number): Leases => {
  const held = new Map<string, Lease & { readonly chain: string; readonly untilMs: number }>()
  const put = (chain: string, lease: Lease, nowMs: number) =>
    held.set(keyOf(chain, lease.owner), { ...lease, chain, untilMs: nowMs + leaseMs })
  const now = Effect.map(Clock.currentTimeMillis, (nowMs) => {
    held.forEach(({ untilMs }, key) => untilMs <= nowMs && held.delete(key))
    return nowMs
  })
  return {
    lease: (chain, lease) => Effect.map(now, (nowMs) => void put(chain, lease, nowMs)),
    renew: (chain, owner, revision) =>
      Effect.map(now, (nowMs) => {
        const lease = held.get(keyOf(chain, owner))
        if (lease?.revision !== revision) {
          return false
        }
        put(chain, lease, nowMs)
        return true
      }),
    release: (chain, owner) => Effect.sync(() => void held.delete(keyOf(chain, owner))),
    leases: (chain, known) =>
      Effect.map(now, () => {
        const own = Array.from(held.values()).filter((lease) => lease.chain === chain)
        return new Map(
          own.map(({ accounts, owner, revision }) => [
            owner,
            { revision, accounts: known.get(owner) === revision ? null : accounts }
          ])
        )
      })
  }
}
