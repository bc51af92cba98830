/** Following accounts over several connections to one node, each with a bounded number of subscriptions. */
import { Clock, Deferred, Effect, Exit, Scope } from "effect"
import { monotonicMs } from "../../domain/loopTime.ts"
import type { Socket } from "effect/socket"
import type { Address } from "../../domain/Address.ts"
import { CLOCK } from "../clockSysvar.ts"
import type { AccountState } from "../accounts/accountJson.ts"
import { ChainUnavailable } from "../accounts/ChainFeed.ts"
import { type Position, SocketProgress } from "./socketProgress.ts"
import {
  type Listener,
  type NotFollowed,
  openSubscriptions,
  type SlotInfo,
  type SubscriptionSettings,
  type Subscriptions
} from "../accounts/subscriptions.ts"

/** Settings of the connections. */
export interface SpreadSettings extends SubscriptionSettings {
  /** Accounts of one connection, the clock included. */
  readonly perSocket: number
}

/** Pauses between attempts to open a further connection: the first one, which doubles, and the longest. */
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000

/** The loss of a connection. */
interface Loss {
  readonly error: ChainUnavailable
  /** Accounts of its share. */
  readonly accounts: number
}

interface Member {
  readonly subscriptions: Subscriptions
  readonly scope: Scope.Closeable
  /** Completed when it is lost: it has ended, has fallen silent, or lags while others do not. */
  readonly lost: Deferred.Deferred<Loss>
  readonly position: Position
  /** Accounts that it follows or is about to. */
  readonly share: Set<Address>
}

/** Subscriptions of a connection: beside its share that of the clock, which shows its progress. */
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
    // That of a connection which was removed may be followed by another one since.
    if (member.share.delete(address) && this.#of.get(address) === member) {
      this.#of.delete(address)
    }
  }

  /** Removes a connection; its accounts, or null when it was removed before. */
  remove(member: Member): ReadonlyArray<Address> | null {
    if (!this.all.delete(member)) {
      return null
    }
    const share = Array.from(member.share)
    share.forEach((address) => this.#of.delete(address))
    return share
  }

  /** The connection with the most accounts that has room for another one, so that accounts of a pool are mostly on the same. */
  fullest(perSocket: number): Member | undefined {
    const [first] = Array.from(this.all)
      .filter((member) => sizeOf(member) < perSocket)
      .toSorted((a, b) => sizeOf(b) - sizeOf(a))
    return first
  }
}

/**
 * Connects once, and again as accounts are added. The loss of a connection loses its share alone: those accounts are no longer
 * followed, and the next call follows them on the others. `closed` fails with the last connection. Every further connection
 * follows the clock too, of which each slot has a write: `reached` is the slot that all of them have come to.
 */
export const spreadSubscriptions = Effect.fnUntraced(function* (
  settings: SpreadSettings,
  listener: Listener
): Effect.fn.Return<Subscriptions, ChainUnavailable, Scope.Scope | Socket.WebSocketConstructor> {
  const context = yield* Effect.context<Scope.Scope | Socket.WebSocketConstructor>()
  const scope = yield* Effect.scope
  const members = new Members()
  const ended = yield* Deferred.make<never, ChainUnavailable>()
  const clock = yield* Clock.Clock
  const nowMs = () => monotonicMs(clock)
  const progress = new SocketProgress(() => clock.currentTimeMillisUnsafe())

  /** Loses a connection: its accounts at once, before a slot ends without their writes. */
  const lose = (member: Member, error: ChainUnavailable) => {
    const share = members.remove(member)
    if (share !== null) {
      if (members.all.size > 0) {
        listener.onLost(share)
      }
      progress.end(member.position)
      Deferred.doneUnsafe(member.lost, Effect.succeed({ error, accounts: share.length }))
    }
  }

  /** Waits for the end of a connection, and closes it where it was lost. */
  const watch = Effect.fnUntraced(function* (member: Member) {
    const { lost, scope: own, subscriptions } = member
    yield* Effect.raceFirst(
      Effect.catch(subscriptions.closed, (error) => Effect.sync(() => lose(member, error))),
      Deferred.await(lost)
    )
    if (!(yield* Deferred.isDone(lost))) {
      return
    }
    const { accounts, error } = yield* Deferred.await(lost)
    yield* Scope.close(own, Exit.void)
    const { detail, reason } = error
    yield* members.all.size === 0
      ? Deferred.fail(ended, error)
      : Effect.logWarning("One of the connections to the node was lost", {
          connections: members.all.size,
          accounts,
          reason,
          detail
        })
  })

  const loseLate = () => {
    for (const member of members.all) {
      const { position } = member
      if (progress.isLate(position)) {
        const detail = `at slot ${position.slot}, with writes of ${position.written}, far behind another connection`
        lose(member, new ChainUnavailable({ reason: "timeout", detail }))
      }
    }
  }

  const loseSlowest = () => {
    const position = progress.slowest
    const member = position && Array.from(members.all).find((each) => each.position === position)
    if (member === undefined) {
      return false
    }
    const detail = `with writes of slot ${member.position.written}, behind another connection with too many`
    lose(member, new ChainUnavailable({ reason: "timeout", detail }))
    return true
  }

  const onSlot = (position: Position, info: SlotInfo) => {
    const before = progress.reached.slot
    const isNewest = progress.report(position, info.slot)
    const reached = progress.reached.slot
    if (reached > before) {
      listener.onCommitted(reached)
    }
    listener.onSlot(info)
    if (isNewest) {
      loseLate()
    }
  }

  const onWrite = (position: Position, address: Address, state: AccountState) => {
    const before = progress.reached.slot
    const isNewest = progress.write(position, state.slot, address === CLOCK)
    // The clock arrives on each connection, and is one of the share of one.
    if (address !== CLOCK || members.of(CLOCK)?.position === position) {
      listener.onWrite(address, state)
    }
    const reached = progress.reached.slot
    if (reached > before) {
      listener.onCommitted(reached)
    }
    if (isNewest) {
      loseLate()
    }
  }

  let hasWarned = false
  /** Follows the clock on a further connection. */
  const followClock = Effect.fnUntraced(function* (position: Position, { follow }: Subscriptions) {
    const { refused } = yield* follow([CLOCK])
    if (refused.length === 0) {
      return
    }
    progress.refuseClock(position)
    if (!hasWarned) {
      hasWarned = true
      yield* Effect.logWarning(
        "The node refuses the clock on a further connection, whose lag is known by its slots and late writes alone: accounts of " +
          "one pool may be of two slots for a moment. Set SOLANA_WS_SUBSCRIPTIONS to what the node allows on a connection."
      )
    }
  })

  const open = Effect.fnUntraced(function* () {
    const own = yield* Scope.fork(scope)
    const position = progress.begin()
    const subscriptions = yield* openSubscriptions(settings, {
      onSlot: (info) => onSlot(position, info),
      onCommitted: (slot) => listener.onCommitted(slot),
      onWrite: (address, state) => onWrite(position, address, state),
      onMalformed: (address) => listener.onMalformed(address),
      onLost: (addresses) => listener.onLost(addresses)
    }).pipe(
      Effect.tap((subscriptions) => (members.all.size === 0 ? Effect.void : followClock(position, subscriptions))),
      Scope.provide(own),
      Effect.provide(context),
      Effect.onError(() => {
        progress.end(position)
        return Scope.close(own, Exit.void)
      })
    )
    const lost = yield* Deferred.make<Loss>()
    const member: Member = { subscriptions, scope: own, lost, position, share: new Set() }
    members.all.add(member)
    yield* Effect.forkIn(watch(member), scope)
    return member
  })

  const opening = { notBeforeMs: Number.NEGATIVE_INFINITY, pauseMs: FIRST_PAUSE_MS }

  /** A further connection; null where the node does not allow it, or has not for a moment. */
  const openAnother = Effect.suspend(() => {
    if (nowMs() < opening.notBeforeMs) {
      return Effect.succeed(null)
    }
    const { pauseMs } = opening
    return open().pipe(
      Effect.tap(() => Effect.sync(() => (opening.pauseMs = FIRST_PAUSE_MS))),
      Effect.catch(({ detail, reason }) => {
        opening.notBeforeMs = nowMs() + pauseMs
        opening.pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs)
        return Effect.as(
          Effect.logWarning("No further connection to the node can be opened", { reason, detail, pauseMs }),
          null
        )
      })
    )
  })

  /** Shares the accounts out; null takes those for which no connection can be opened. */
  const assign = Effect.fnUntraced(function* (addresses: ReadonlyArray<Address>) {
    const shares = new Map<Member | null, Array<Address>>()
    let mayOpen = true
    for (const address of addresses) {
      let member: Member | null = members.fullest(settings.perSocket) ?? null
      if (member === null && mayOpen) {
        member = yield* openAnother
        mayOpen = member !== null
      }
      if (member !== null) {
        members.assign(member, address)
      }
      const share = shares.get(member) ?? []
      shares.set(member, share)
      share.push(address)
    }
    return shares
  })

  /** The accounts that the connection could not follow. */
  const followWith = Effect.fnUntraced(function* (member: Member | null, addresses: ReadonlyArray<Address>) {
    const waiting: NotFollowed = { refused: [], waiting: addresses }
    if (member === null) {
      return waiting
    }
    const left = yield* member.subscriptions
      .follow(addresses.filter((address) => !member.subscriptions.isFollowed(address)))
      .pipe(
        Effect.catch((error) =>
          Effect.as(
            Effect.sync(() => lose(member, error)),
            waiting
          )
        )
      )
    left.refused.forEach((address) => members.release(member, address))
    return left
  })

  const unfollowWith = Effect.fnUntraced(function* (member: Member, addresses: ReadonlyArray<Address>) {
    addresses.forEach((address) => members.release(member, address))
    yield* Effect.catch(member.subscriptions.unfollow(addresses), (error) => Effect.sync(() => lose(member, error)))
    if (member.share.size === 0 && members.all.size > 1 && members.remove(member) !== null) {
      progress.end(member.position)
      yield* Scope.close(member.scope, Exit.void)
    }
  })

  yield* open()
  const closed = Deferred.await(ended)
  return {
    isReplayed: false,
    waitsFor: "a further connection to the node",
    spread: { reached: () => progress.reached, loseSlowest },
    closed,
    isFollowed: (address) => members.of(address)?.subscriptions.isFollowed(address) ?? false,
    followed: () => Array.from(members.all).flatMap(({ subscriptions }) => Array.from(subscriptions.followed())),
    follow: Effect.fnUntraced(function* (addresses) {
      const shares = yield* assign(addresses)
      const left = yield* Effect.forEach(shares, ([member, share]) => followWith(member, share), {
        concurrency: "unbounded"
      })
      return members.all.size === 0
        ? yield* closed
        : { refused: left.flatMap(({ refused }) => refused), waiting: left.flatMap(({ waiting }) => waiting) }
    }),
    unfollow: Effect.fnUntraced(function* (addresses) {
      const shares = Map.groupBy(addresses, (address) => members.of(address))
      for (const [member, share] of shares) {
        yield* member === undefined ? Effect.void : unfollowWith(member, share)
      }
    })
  }
})
