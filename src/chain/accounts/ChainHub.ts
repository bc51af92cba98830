import { Clock, Context, Effect, Layer, type Scope, Stream } from "effect"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Address } from "../../domain/Address.ts"
import { keepRunning } from "../../operations/keepRunning.ts"
import { type ChainEvent, ChainFeed } from "../ChainFeed.ts"

/**
 * Applies an event to a book. `heardAtMs` is when the event was received by the local clock, in milliseconds since the
 * Unix epoch. Events also hold accounts of other books, which the book ignores. Must not wait.
 */
export type Apply = (event: ChainEvent, heardAtMs: number) => Effect.Effect<void>

/** One book's share of the feed. */
export interface Follower {
  /**
   * Follows these accounts for this book. Their state arrives as a `Snapshot`. An account that another book follows
   * already arrives at once, with the time of its original arrival.
   */
  watch(addresses: Iterable<Address>): Effect.Effect<void>
  /** Stops following these accounts for this book. */
  unwatch(addresses: Iterable<Address>): Effect.Effect<void>
  /** Reads these accounts again and emits them, changed or not. Ignores accounts that this book does not follow. */
  refresh(addresses: Iterable<Address>): Effect.Effect<void>
}

/** The newest state of an account. Changed in place: a busy chain writes thousands of accounts a second. */
interface ReceivedState {
  slot: number
  account: OnChainAccount | null
  heardAtMs: number
}

interface Followed {
  received: ReceivedState | undefined
  readonly followers: Set<Follower>
}

/**
 * One writer for several books. A single fiber takes the events of the feed and applies each event to every book before
 * it takes the next one, so no reader sees one book ahead of another. Layers that are built together share one hub.
 */
export class ChainHub extends Context.Service<
  ChainHub,
  {
    /** Adds a book until the scope closes. */
    join(apply: Apply): Effect.Effect<Follower, never, Scope.Scope>
  }
>()("fathom/chain/accounts/ChainHub") {
  static readonly layer: Layer.Layer<ChainHub, never, ChainFeed> = Layer.effect(
    ChainHub,
    Effect.gen(function* () {
      const feed = yield* ChainFeed
      const books = new Map<Follower, Apply>()
      const followed = new Map<Address, Followed>()

      const remember = (event: ChainEvent, heardAtMs: number) => {
        const { accounts, slot } = event._tag === "Writes" ? event : event.snapshot
        for (const [address, account] of accounts) {
          const known = followed.get(address)
          if (known?.received !== undefined) {
            known.received.slot = slot
            known.received.account = account
            known.received.heardAtMs = heardAtMs
          } else if (known !== undefined) {
            known.received = { slot, account, heardAtMs }
          }
        }
      }

      const forgetAll = () => followed.forEach((known) => (known.received = undefined))

      const applyTo = (apply: Apply, event: ChainEvent, heardAtMs: number) =>
        Effect.catchDefect(apply(event, heardAtMs), (defect) =>
          Effect.logError("A book could not apply an event", defect)
        )

      const take = Effect.fnUntraced(function* (event: ChainEvent) {
        const heardAtMs = yield* Clock.currentTimeMillis
        yield* Effect.sync(() => remember(event, heardAtMs)).pipe(
          Effect.catchDefect((defect) =>
            Effect.andThen(Effect.sync(forgetAll), Effect.logError("An event could not be recorded", defect))
          )
        )
        for (const apply of books.values()) {
          yield* applyTo(apply, event, heardAtMs)
        }
      })
      yield* feed.events.pipe(
        Stream.runForEach(take),
        keepRunning("Applying the events of the chain"),
        Effect.forkScoped({ startImmediately: true })
      )

      const watch = Effect.fnUntraced(function* (follower: Follower, apply: Apply, addresses: Iterable<Address>) {
        const added: Array<Address> = []
        const known: Array<readonly [Address, ReceivedState]> = []
        for (const address of addresses) {
          const entry: Followed = followed.get(address) ?? { received: undefined, followers: new Set() }
          if (entry.followers.has(follower)) {
            continue
          }
          if (entry.followers.size === 0) {
            followed.set(address, entry)
            added.push(address)
          } else if (entry.received !== undefined) {
            known.push([address, entry.received])
          }
          entry.followers.add(follower)
        }
        for (const [address, { account, heardAtMs, slot }] of known) {
          yield* applyTo(
            apply,
            { _tag: "Snapshot", snapshot: { slot, accounts: new Map([[address, account]]) } },
            heardAtMs
          )
        }
        yield* added.length === 0 ? Effect.void : feed.watch(added)
      })

      const unwatch = Effect.fnUntraced(function* (follower: Follower, addresses: Iterable<Address>) {
        const left: Array<Address> = []
        for (const address of addresses) {
          const entry = followed.get(address)
          if (entry?.followers.delete(follower) === true && entry.followers.size === 0) {
            followed.delete(address)
            left.push(address)
          }
        }
        yield* left.length === 0 ? Effect.void : feed.unwatch(left)
      })

      // A feed emits the state of newly watched accounts, so unwatching and watching again emits it once more.
      const refresh = Effect.fnUntraced(function* (follower: Follower, addresses: Iterable<Address>) {
        const own = Array.from(addresses).filter((address) => followed.get(address)?.followers.has(follower) === true)
        yield* feed.unwatch(own)
        yield* feed.watch(own)
      })

      const enter = (apply: Apply) =>
        Effect.sync(() => {
          const follower: Follower = {
            watch: (addresses) => watch(follower, apply, addresses),
            unwatch: (addresses) => unwatch(follower, addresses),
            refresh: (addresses) => refresh(follower, addresses)
          }
          books.set(follower, apply)
          return follower
        })

      const leave = (follower: Follower) =>
        Effect.suspend(() => {
          books.delete(follower)
          return unwatch(follower, Array.from(followed.keys()))
        })

      return ChainHub.of({ join: (apply) => Effect.acquireRelease(enter(apply), leave) })
    })
  )
}
