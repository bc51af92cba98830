/** Follows accounts over several connections to one node, each with a bounded number of subscriptions. */
import { Clock, Context, Deferred, Effect, Exit, Scope } from "effect"
import { monotonicMs } from "../../domain/loopTime.ts"
import type { Socket } from "effect/socket"
import type { Address } from "../../domain/Address.ts"
import { CLOCK } from "../clockSysvar.ts"
import type { AccountState } from "../AccountState.ts"
import { ChainUnavailable } from "../ChainUnavailable.ts"
import { type Position, SocketProgress } from "./socketProgress.ts"
import {
  type Listener,
  type NotFollowed,
  openSubscriptions,
  type SlotInfo,
  type SubscriptionSettings,
  type Subscriptions
} from "./subscriptions.ts"

/** Settings of the connections. */
export interface SpreadSettings extends SubscriptionSettings {
  /** Accounts of one connection, including the clock. */
  readonly perSocket: number
}

/** The first and the longest pause between attempts to open a further connection. The pause doubles each time. */
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000

/** The loss of a connection. */
interface Loss {
  readonly error: ChainUnavailable
  /** How many accounts were on it. */
  readonly accounts: number
}

interface Member {
  readonly subscriptions: Subscriptions
  readonly scope: Scope.Closeable
  /** Completed when the connection is lost: it has ended, has fallen silent, or lags behind others. */
  readonly lost: Deferred.Deferred<Loss>
  readonly position: Position
  /** Accounts that this connection follows or is about to follow. */
  readonly share: Set<Address>
}

/** How many subscriptions a connection has: its share, and the clock, which shows its progress. */
const sizeOf = ({ share, subscriptions }: Member): number =>
  share.size + (subscriptions.isFollowed(CLOCK) && !share.has(CLOCK) ? 1 : 0)

/** The connections and their shares. */
class Members {
  readonly all = new Set<Member>()
  readonly #of = new Map<Address, Member>()

  of(address: Address): Member | undefined {
    return this.#of.get(address)
  }

  assign(member: Member, address: Address): void {
    member.share.add(address)
    this.#of.set(address, member)
  }

  release(member: Member, address: Address): void {
    // The account of a removed connection may be followed by another connection by now.
    if (member.share.delete(address) && this.#of.get(address) === member) {
      this.#of.delete(address)
    }
  }

  /** Removes a connection and returns its accounts; null when it was removed before. */
  remove(member: Member): ReadonlyArray<Address> | null {
    if (!this.all.delete(member)) {
      return null
    }
    const share = Array.from(member.share)
    share.forEach((address) => this.#of.delete(address))
    return share
  }

  /** The fullest connection with room for one more, so that accounts of a pool mostly share a connection. */
  fullest(perSocket: number): Member | undefined {
    const [first] = Array.from(this.all)
      .filter((member) => sizeOf(member) < perSocket)
      .toSorted((a, b) => sizeOf(b) - sizeOf(a))
    return first
  }
}

/** The connections to one node. They are opened as accounts need them, and lost one by one. */
class SpreadSockets {
  readonly members = new Members()
  readonly progress: SocketProgress
  /** Fails when the last connection is lost. */
  readonly closed: Effect.Effect<never, ChainUnavailable>
  readonly #settings: SpreadSettings
  readonly #listener: Listener
  readonly #context: Context.Context<Scope.Scope | Socket.WebSocketConstructor>
  readonly #clock: Clock.Clock
  readonly #scope: Scope.Scope
  readonly #ended = Deferred.makeUnsafe<never, ChainUnavailable>()
  readonly #opening = { notBeforeMs: Number.NEGATIVE_INFINITY, pauseMs: FIRST_PAUSE_MS }
  #hasWarned = false

  constructor(
    settings: SpreadSettings,
    listener: Listener,
    context: Context.Context<Scope.Scope | Socket.WebSocketConstructor>,
    clock: Clock.Clock
  ) {
    this.#settings = settings
    this.#listener = listener
    this.#context = context
    this.#clock = clock
    this.#scope = Context.get(context, Scope.Scope)
    this.progress = new SocketProgress(() => clock.currentTimeMillisUnsafe())
    this.closed = Deferred.await(this.#ended)
  }

  /** Opens a connection. Every connection but the first follows the clock. */
  open(): Effect.Effect<Member, ChainUnavailable> {
    return Effect.gen({ self: this }, function* () {
      const own = yield* Scope.fork(this.#scope)
      const position = this.progress.begin()
      const subscriptions = yield* openSubscriptions(this.#settings, {
        onSlot: (info) => this.#onSlot(position, info),
        onCommitted: (slot) => this.#listener.onCommitted(slot),
        onWrite: (address, state) => this.#onWrite(position, address, state),
        onMalformed: (address) => this.#listener.onMalformed(address),
        onLost: (addresses) => this.#listener.onLost(addresses)
      }).pipe(
        Effect.tap((opened) => (this.members.all.size === 0 ? Effect.void : this.#followClock(position, opened))),
        Scope.provide(own),
        Effect.provide(this.#context),
        Effect.onError(() => {
          this.progress.end(position)
          return Scope.close(own, Exit.void)
        })
      )
      const lost = yield* Deferred.make<Loss>()
      const member: Member = { subscriptions, scope: own, lost, position, share: new Set() }
      this.members.all.add(member)
      yield* Effect.forkIn(this.#watch(member), this.#scope)
      return member
    })
  }

  /** Divides the accounts among connections. The key null has the accounts for which no connection can be opened. */
  assign(addresses: ReadonlyArray<Address>): Effect.Effect<ReadonlyMap<Member | null, ReadonlyArray<Address>>> {
    return Effect.gen({ self: this }, function* () {
      const shares = new Map<Member | null, Array<Address>>()
      let mayOpen = true
      for (const address of addresses) {
        let member: Member | null = this.members.fullest(this.#settings.perSocket) ?? null
        if (member === null && mayOpen) {
          member = yield* this.#openAnother()
          mayOpen = member !== null
        }
        if (member !== null) {
          this.members.assign(member, address)
        }
        const share = shares.get(member) ?? []
        shares.set(member, share)
        share.push(address)
      }
      return shares
    })
  }

  /** Follows accounts on a connection and returns those that it could not follow. */
  follow(member: Member | null, addresses: ReadonlyArray<Address>): Effect.Effect<NotFollowed> {
    const waiting: NotFollowed = { refused: [], waiting: addresses }
    if (member === null) {
      return Effect.succeed(waiting)
    }
    const { subscriptions } = member
    return subscriptions.follow(addresses.filter((address) => !subscriptions.isFollowed(address))).pipe(
      Effect.map((left) => {
        left.refused.forEach((address) => this.members.release(member, address))
        return left
      }),
      Effect.catch((error) => {
        this.#lose(member, error)
        return Effect.succeed(waiting)
      })
    )
  }

  /** Unfollows accounts of a connection. Closes the connection once it has no account left, unless it is the last one. */
  unfollow(member: Member, addresses: ReadonlyArray<Address>): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      addresses.forEach((address) => this.members.release(member, address))
      yield* Effect.catch(member.subscriptions.unfollow(addresses), (error) =>
        Effect.sync(() => this.#lose(member, error))
      )
      if (member.share.size === 0 && this.members.all.size > 1 && this.members.remove(member) !== null) {
        this.progress.end(member.position)
        yield* Scope.close(member.scope, Exit.void)
      }
    })
  }

  /** Drops the connection that holds up the others; false when there is none. */
  loseSlowest(): boolean {
    const position = this.progress.slowest
    const member = position && Array.from(this.members.all).find((each) => each.position === position)
    if (member === undefined) {
      return false
    }
    const detail = `with writes of slot ${member.position.written}, behind another connection with too many`
    this.#lose(member, new ChainUnavailable({ reason: "timeout", detail }))
    return true
  }

  /** Drops every connection that is far behind another one. */
  #loseLate(): void {
    for (const member of this.members.all) {
      const { position } = member
      if (this.progress.isLate(position)) {
        const detail = `at slot ${position.slot}, with writes of ${position.written}, far behind another connection`
        this.#lose(member, new ChainUnavailable({ reason: "timeout", detail }))
      }
    }
  }

  /** Drops a connection. Reports its accounts as lost at once, before a slot can end without their writes. */
  #lose(member: Member, error: ChainUnavailable): void {
    const share = this.members.remove(member)
    if (share !== null) {
      if (this.members.all.size > 0) {
        this.#listener.onLost(share)
      }
      this.progress.end(member.position)
      Deferred.doneUnsafe(member.lost, Effect.succeed({ error, accounts: share.length }))
    }
  }

  /** Waits for the end of a connection, and closes it when it was lost. */
  #watch(member: Member): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { lost, scope, subscriptions } = member
      yield* Effect.raceFirst(
        Effect.catch(subscriptions.closed, (error) => Effect.sync(() => this.#lose(member, error))),
        Deferred.await(lost)
      )
      if (!(yield* Deferred.isDone(lost))) {
        return
      }
      const { accounts, error } = yield* Deferred.await(lost)
      yield* Scope.close(scope, Exit.void)
      const { detail, reason } = error
      const connections = this.members.all.size
      yield* connections === 0
        ? Deferred.fail(this.#ended, error)
        : Effect.logWarning("A connection to the node was lost", { connections, accounts, reason, detail })
    })
  }

  #onSlot(position: Position, info: SlotInfo): void {
    const before = this.progress.reached.slot
    const isNewest = this.progress.report(position, info.slot)
    this.#reportReached(before)
    this.#listener.onSlot(info)
    if (isNewest) {
      this.#loseLate()
    }
  }

  #onWrite(position: Position, address: Address, state: AccountState): void {
    const before = this.progress.reached.slot
    const isNewest = this.progress.write(position, state.slot, address === CLOCK)
    // The clock arrives on every connection. Only the connection that has it in its share passes it on.
    if (address !== CLOCK || this.members.of(CLOCK)?.position === position) {
      this.#listener.onWrite(address, state)
    }
    this.#reportReached(before)
    if (isNewest) {
      this.#loseLate()
    }
  }

  /** Reports the slot that every connection has reached, when it is newer than before. */
  #reportReached(before: number): void {
    const { slot } = this.progress.reached
    if (slot > before) {
      this.#listener.onCommitted(slot)
    }
  }

  #followClock(position: Position, { follow }: Subscriptions): Effect.Effect<void, ChainUnavailable> {
    return Effect.flatMap(follow([CLOCK]), ({ refused }) => {
      if (refused.length === 0) {
        return Effect.void
      }
      this.progress.refuseClock(position)
      if (this.#hasWarned) {
        return Effect.void
      }
      this.#hasWarned = true
      return Effect.logWarning(
        "The node refuses the clock on a further connection, so its lag is known only by its slots and by late writes: accounts " +
          "of one pool may be of two slots for a moment. Set SOLANA_WS_SUBSCRIPTIONS to what the node allows on a connection."
      )
    })
  }

  /** Opens a further connection; null when the node does not allow one, and during the pause after that. */
  #openAnother(): Effect.Effect<Member | null> {
    return Effect.suspend(() => {
      const opening = this.#opening
      if (monotonicMs(this.#clock) < opening.notBeforeMs) {
        return Effect.succeed(null)
      }
      const { pauseMs } = opening
      return this.open().pipe(
        Effect.tap(() => Effect.sync(() => (opening.pauseMs = FIRST_PAUSE_MS))),
        Effect.catch(({ detail, reason }) => {
          opening.notBeforeMs = monotonicMs(this.#clock) + pauseMs
          opening.pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs)
          return Effect.as(
            Effect.logWarning("No further connection to the node could be opened", { reason, detail, pauseMs }),
            null
          )
        })
      )
    })
  }
}

/**
 * Connects once, and again as accounts are added. Losing a connection loses only its share: those accounts are no
 * longer followed, and the next call follows them on other connections. `closed` fails when the last connection is
 * lost. Every further connection also follows the clock, which is written in every slot. `reached` is the slot that all
 * connections have reached.
 */
export const spreadSubscriptions = Effect.fnUntraced(function* (
  settings: SpreadSettings,
  listener: Listener
): Effect.fn.Return<Subscriptions, ChainUnavailable, Scope.Scope | Socket.WebSocketConstructor> {
  const context = yield* Effect.context<Scope.Scope | Socket.WebSocketConstructor>()
  const sockets = new SpreadSockets(settings, listener, context, yield* Clock.Clock)
  const { closed, members, progress } = sockets
  yield* sockets.open()
  return {
    isReplayed: false,
    waitsFor: "a further connection to the node",
    spread: { reached: () => progress.reached, loseSlowest: () => sockets.loseSlowest() },
    closed,
    isFollowed: (address) => members.of(address)?.subscriptions.isFollowed(address) ?? false,
    followed: () => Array.from(members.all).flatMap(({ subscriptions }) => Array.from(subscriptions.followed())),
    follow: Effect.fnUntraced(function* (addresses) {
      const shares = yield* sockets.assign(addresses)
      const left = yield* Effect.forEach(shares, ([member, share]) => sockets.follow(member, share), {
        concurrency: "unbounded"
      })
      return members.all.size === 0
        ? yield* closed
        : { refused: left.flatMap(({ refused }) => refused), waiting: left.flatMap(({ waiting }) => waiting) }
    }),
    unfollow: Effect.fnUntraced(function* (addresses) {
      const shares = Map.groupBy(addresses, (address) => members.of(address))
      for (const [member, share] of shares) {
        yield* member === undefined ? Effect.void : sockets.unfollow(member, share)
      }
    })
  }
})
