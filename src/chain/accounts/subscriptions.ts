/** Follows accounts and slots over one connection. A new connection follows nothing at first. */
import { Duration, Effect, type Redacted, Result, Schema, type Scope } from "effect"
import type { Socket } from "effect/socket"
import type { Address } from "../../domain/Address.ts"
import { accountFromJson, Slot } from "../rpc/accountJson.ts"
import type { AccountState } from "../AccountState.ts"
import type { ChainUnavailable } from "../ChainUnavailable.ts"
import { type Notification, openRpcSocket } from "../rpc/rpcSocket.ts"
import type { Commitment } from "../Commitment.ts"

/** A slot has begun on top of its parent. `root` and everything before it are final. */
const SlotInfo = Schema.Struct({ slot: Slot, parent: Slot, root: Slot })
export type SlotInfo = typeof SlotInfo.Type

/** Callbacks. They run synchronously, in order of arrival. */
export interface Listener {
  readonly onSlot: (info: SlotInfo) => void
  /** A slot has reached the feed's commitment. Without `parent` its parent is the slot before it. */
  readonly onCommitted: (slot: number, parent?: number) => void
  readonly onWrite: (address: Address, state: AccountState) => void
  /** These accounts are no longer followed, while others still are. */
  readonly onLost: (addresses: ReadonlyArray<Address>) => void
  /** A message was malformed. `address` names the account when the message is the write of a known one. */
  readonly onMalformed: (address: Address | null) => void
}

/** A slot that every one of several connections has reached. */
export interface ReachedSlot {
  /** The newest slot for which every connection has delivered writes; Infinity where none holds up the others. */
  readonly slot: number
  /** When the first connection delivered it, in milliseconds since the Unix epoch; null when that is not known. */
  readonly atMs: number | null
}

/** Several connections. A slot waits for the writes of each. */
export interface SpreadConnections {
  readonly reached: () => ReachedSlot
  /** Drops the connection that holds up the others, and its accounts, at once. False when there is none. */
  readonly loseSlowest: () => boolean
}

/** Accounts that a call could not follow. A later call tries again. */
export interface NotFollowed {
  /** The node refused to follow them. */
  readonly refused: ReadonlyArray<Address>
  /** The node was not asked yet. */
  readonly waiting: ReadonlyArray<Address>
}

/** The subscriptions of one connection. */
export interface Subscriptions {
  /** True when the connection repeats the writes since before the last one was lost. */
  readonly isReplayed: boolean
  /** Absent where there is only ever one connection. */
  readonly spread?: SpreadConnections
  readonly isFollowed: (address: Address) => boolean
  readonly followed: () => Iterable<Address>
  /** Follows the accounts that are not followed yet. Returns those that could not be followed. */
  readonly follow: (addresses: ReadonlyArray<Address>) => Effect.Effect<NotFollowed, ChainUnavailable>
  /** What waiting accounts wait for. Used in logs. */
  readonly waitsFor?: string
  readonly unfollow: (addresses: ReadonlyArray<Address>) => Effect.Effect<void, ChainUnavailable>
  /** Fails when the connection ends. */
  readonly closed: Effect.Effect<never, ChainUnavailable>
}

/** How many confirmations may be outstanding. */
const PIPELINE = 64
/** The longest wait for a connection. The next attempt may meet a node that has come back. */
const OPEN_TIMEOUT = Duration.millis(2500)

const AccountWrite = Schema.Struct({ context: Schema.Struct({ slot: Slot }), value: Schema.Unknown })
const decodeWrite = Schema.decodeUnknownResult(AccountWrite)
const decodeSlot = Schema.decodeUnknownResult(SlotInfo)
const isSubscription = Schema.is(Schema.Finite)

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
    // Messages that arrive after their subscription ended are dropped.
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
