/** Following accounts over several connections to one node, each with a bounded number of subscriptions. */
import { Clock, Deferred, Effect, Exit, Scope } from "effect"
import type { Socket } from "effect/socket"
import type { Address } from "../../domain/Address.ts"
import { ChainUnavailable } from "./ChainFeed.ts"
import { type Position, SocketProgress } from "./socketProgress.ts"
import {
  type Listener,
  openSubscriptions,
  type SlotInfo,
  type SubscriptionSettings,
  type Subscriptions
} from "./subscriptions.ts"

/** Settings of the connections. */
export interface SpreadSettings extends SubscriptionSettings {
  /** Accounts of one connection. */
  readonly perSocket: number
}

/** Pauses between attempts to open a further connection: the first one, which doubles, and the longest. */
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000

interface Member {
  readonly subscriptions: Subscriptions
  readonly scope: Scope.Closeable
  /** Fails when it has fallen silent, or lags, while others have not. */
  readonly late: Deferred.Deferred<never, ChainUnavailable>
  readonly position: Position
  /** Accounts that it follows or is about to. */
  readonly share: Set<Address>
}

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

  /** The connection with the fewest accounts that has room for another one. */
  roomiest(perSocket: number): Member | undefined {
    const [first] = Array.from(this.all)
      .filter(({ share }) => share.size < perSocket)
      .toSorted((a, b) => a.share.size - b.share.size)
    return first
  }
}

/**
 * Connects once, and again as accounts are added. The loss of a connection loses its share alone: those accounts are no longer
 * followed, and the next call follows them on the others. `closed` fails with the last connection.
 */
export const spreadSubscriptions = Effect.fnUntraced(function* (
  settings: SpreadSettings,
  listener: Listener
): Effect.fn.Return<Subscriptions, ChainUnavailable, Scope.Scope | Socket.WebSocketConstructor> {
  const context = yield* Effect.context<Scope.Scope | Socket.WebSocketConstructor>()
  const scope = yield* Effect.scope
  const members = new Members()
  const ended = yield* Deferred.make<never, ChainUnavailable>()

  /** Ends a connection; false when it had ended before. */
  const close = Effect.fnUntraced(function* (member: Member) {
    const share = members.remove(member)
    yield* share === null ? Effect.void : Scope.close(member.scope, Exit.void)
    return share
  })

  const drop = Effect.fnUntraced(function* (member: Member, error: ChainUnavailable) {
    const share = yield* close(member)
    if (share !== null && members.all.size === 0) {
      yield* Deferred.fail(ended, error)
    } else if (share !== null) {
      const { detail, reason } = error
      const left = { connections: members.all.size, accounts: share.length }
      yield* Effect.logWarning("One of the connections to the node was lost", { ...left, reason, detail })
      listener.onLost(share)
    }
  })

  const progress = new SocketProgress()
  const onSlot = (position: Position, info: SlotInfo) => {
    const isNewest = progress.report(position, info.slot)
    listener.onSlot(info)
    for (const { late, position: each } of isNewest ? members.all : []) {
      if (progress.isLate(each)) {
        const detail = `at slot ${each.slot}, while another connection is at ${info.slot}`
        Deferred.doneUnsafe(late, Effect.fail(new ChainUnavailable({ reason: "timeout", detail })))
      }
    }
  }

  const open = Effect.fnUntraced(function* () {
    const own = yield* Scope.fork(scope)
    const position = progress.begin()
    const subscriptions = yield* openSubscriptions(settings, {
      onSlot: (info) => onSlot(position, info),
      onCommitted: (slot) => listener.onCommitted(slot),
      onWrite: (address, state) => listener.onWrite(address, state),
      onMalformed: (address) => listener.onMalformed(address),
      onLost: (addresses) => listener.onLost(addresses)
    }).pipe(
      Scope.provide(own),
      Effect.provide(context),
      Effect.onError(() => Scope.close(own, Exit.void))
    )
    const late = yield* Deferred.make<never, ChainUnavailable>()
    const member: Member = { subscriptions, scope: own, late, position, share: new Set() }
    members.all.add(member)
    yield* Effect.raceFirst(subscriptions.closed, Deferred.await(late)).pipe(
      Effect.catch((error) => drop(member, error)),
      Effect.forkIn(scope)
    )
    return member
  })

  const clock = yield* Clock.Clock
  const nowMs = () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
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
      let member: Member | null = members.roomiest(settings.perSocket) ?? null
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
    if (member === null) {
      return addresses
    }
    const refused = yield* member.subscriptions
      .follow(addresses)
      .pipe(Effect.catch((error) => Effect.as(drop(member, error), addresses)))
    refused.forEach((address) => members.release(member, address))
    return refused
  })

  const unfollowWith = Effect.fnUntraced(function* (member: Member, addresses: ReadonlyArray<Address>) {
    addresses.forEach((address) => members.release(member, address))
    yield* Effect.catch(member.subscriptions.unfollow(addresses), (error) => drop(member, error))
    if (member.share.size === 0 && members.all.size > 1) {
      yield* close(member)
    }
  })

  yield* open()
  const closed = Deferred.await(ended)
  return {
    isReplayed: false,
    closed,
    isFollowed: (address) => members.of(address)?.subscriptions.isFollowed(address) ?? false,
    followed: () => Array.from(members.all).flatMap(({ subscriptions }) => Array.from(subscriptions.followed())),
    follow: Effect.fnUntraced(function* (addresses) {
      const shares = yield* assign(addresses)
      const refused = yield* Effect.forEach(shares, ([member, share]) => followWith(member, share), {
        concurrency: "unbounded"
      })
      return members.all.size === 0 ? yield* closed : refused.flat()
    }),
    unfollow: Effect.fnUntraced(function* (addresses) {
      const shares = Map.groupBy(addresses, (address) => members.of(address))
      for (const [member, share] of shares) {
        yield* member === undefined ? Effect.void : unfollowWith(member, share)
      }
    })
  }
})
