/** Following accounts and slots over one connection. A new connection starts with nothing followed. */
import { Duration, Effect, type Redacted, Result, Schema, type Scope } from "effect"
import type { Socket } from "effect/socket"
import type { Address } from "../../domain/Address.ts"
import { accountFromJson, type AccountState, Slot } from "./accountJson.ts"
import type { ChainUnavailable } from "./ChainFeed.ts"
import { type Notification, openRpcSocket } from "../rpc/rpcSocket.ts"
import type { Commitment } from "../Commitment.ts"

/** A slot has begun on top of its parent; `root` and everything before it are final. */
const SlotInfo = Schema.Struct({ slot: Slot, parent: Slot, root: Slot })
export type SlotInfo = typeof SlotInfo.Type

/** Callbacks, run synchronously in the order of arrival. */
export interface Listener {
  readonly onSlot: (info: SlotInfo) => void
  /** A slot has reached the commitment of the feed. */
  readonly onCommitted: (slot: number) => void
  readonly onWrite: (address: Address, state: AccountState) => void
  /** These accounts are no longer followed, while others are. */
  readonly onLost: (addresses: ReadonlyArray<Address>) => void
  /** A malformed message; with the address where it is the write of a known account. */
  readonly onMalformed: (address: Address | null) => void
}

/** A slot that each of several connections has come to. */
export interface ReachedSlot {
  /** The newest slot of which each has delivered writes; Infinity where none holds up the others. */
  readonly slot: number
  /** The time at which the first of them did, in milliseconds since the Unix epoch; null where it is not known. */
  readonly atMs: number | null
}

/** Several connections, whose writes of a slot are waited for on each. */
export interface SpreadConnections {
  readonly reached: () => ReachedSlot
  /** Loses the connection that holds up the others, and its accounts, at once; false where none does. */
  readonly loseSlowest: () => boolean
}

/** Accounts that are not followed after a call. A later call tries again. */
export interface NotFollowed {
  /** Refused by the node. */
  readonly refused: ReadonlyArray<Address>
  /** Not asked for at the node yet. */
  readonly waiting: ReadonlyArray<Address>
}

/** One connection's subscriptions. */
export interface Subscriptions {
  /** True when the writes since before the loss of the last connection are repeated. */
  readonly isReplayed: boolean
  /** Absent where there is only ever one connection. */
  readonly spread?: SpreadConnections
  readonly isFollowed: (address: Address) => boolean
  readonly followed: () => Iterable<Address>
  /** Follows accounts that are not followed yet and returns those that are not all the same. */
  readonly follow: (addresses: ReadonlyArray<Address>) => Effect.Effect<NotFollowed, ChainUnavailable>
  /** Name, for logs, of the thing that waiting accounts lack. */
  readonly waitsFor?: string
  readonly unfollow: (addresses: ReadonlyArray<Address>) => Effect.Effect<void, ChainUnavailable>
  /** Fails when the connection ends. */
  readonly closed: Effect.Effect<never, ChainUnavailable>
}

/** Confirmations that may be outstanding at a time. */
const PIPELINE = 64
/** The longest wait for a connection; the next attempt may meet a node that has come back. */
const OPEN_TIMEOUT = Duration.millis(2500)

const AccountWrite = Schema.Struct({ context: Schema.Struct({ slot: Slot }), value: Schema.Unknown })
const decodeWrite = Schema.decodeUnknownResult(AccountWrite)
const decodeSlot = Schema.decodeUnknownResult(SlotInfo)
const isSubscription = Schema.is(Schema.Finite)

/** Settings of a connection. */
export interface SubscriptionSettings {
  readonly wsUrl: Redacted.Redacted
  readonly timeout: Duration.Duration
  readonly commitment: Commitment
}

/** Connects and follows slots. */
export const openSubscriptions = Effect.fnUntraced(function* (
  settings: SubscriptionSettings,
  listener: Listener
): Effect.fn.Return<Subscriptions, ChainUnavailable, Scope.Scope | Socket.WebSocketConstructor> {
  const { wsUrl, timeout, commitment } = settings
  const idOf = new Map<Address, number>()
  const addressOf = new Map<number, Address>()

  const onAccount = (address: Address, result: unknown) => {
    const write = decodeWrite(result)
    if (Result.isFailure(write)) {
      return listener.onMalformed(address)
    }
    const { context, value } = write.success
    const state = accountFromJson(address, context.slot, value)
    return Result.isSuccess(state) ? listener.onWrite(address, state.success) : listener.onMalformed(address)
  }

  const onNotification = ({ method, subscription, result }: Notification) => {
    if (method === "slotNotification") {
      const info = decodeSlot(result)
      return Result.isSuccess(info) ? listener.onSlot(info.success) : listener.onMalformed(null)
    }
    const address = addressOf.get(subscription)
    // Messages after the end of their subscription are dropped.
    return address === undefined ? undefined : onAccount(address, result)
  }

  const socket = yield* openRpcSocket({
    url: wsUrl,
    timeout,
    openTimeout: Duration.min(timeout, OPEN_TIMEOUT),
    onNotification,
    onGarbage: () => listener.onMalformed(null)
  })
  yield* socket.call("slotSubscribe", [], () => {})

  const followOne = (address: Address) =>
    socket
      .call("accountSubscribe", [address, { encoding: "base64", commitment }], (id) => {
        if (isSubscription(id)) {
          idOf.set(address, id)
          addressOf.set(id, address)
        }
      })
      .pipe(
        Effect.catch((error) =>
          error.reason === "invalid"
            ? Effect.logDebug("The node refused to follow an account", { address, detail: error.detail })
            : Effect.fail(error)
        )
      )

  return {
    isReplayed: false,
    isFollowed: (address) => idOf.has(address),
    followed: () => idOf.keys(),
    closed: socket.closed,
    follow: Effect.fnUntraced(function* (addresses) {
      yield* Effect.forEach(addresses, followOne, { concurrency: PIPELINE, discard: true })
      return { refused: addresses.filter((address) => !idOf.has(address)), waiting: [] }
    }),
    unfollow: Effect.fnUntraced(function* (addresses) {
      for (const address of addresses) {
        const id = idOf.get(address)
        if (id !== undefined) {
          idOf.delete(address)
          addressOf.delete(id)
          yield* socket.send("accountUnsubscribe", [id])
        }
      }
    })
  }
})
