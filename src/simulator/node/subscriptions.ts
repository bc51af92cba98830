/** One WebSocket's subscriptions, and their frames for a finished slot. */
import { Result, Schema } from "effect"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Address } from "../../domain/Address.ts"
import { fits, tooLongForBase58 } from "./accountJson.ts"
import type { Block } from "../chain/Bank.ts"
import { invalidParams, methodNotFound, notification, type RpcFailure } from "./jsonRpc.ts"
import { matchesFilter, paramOf, readAddress, readOptions, type RpcOptions } from "./rpcParams.ts"
import type { NodeState } from "./rpcMethods.ts"
import { errorText, logsOf } from "../chain/transactionJson.ts"

type Subscription =
  | { readonly _tag: "slot" }
  /** Null for the logs of all transactions. */
  | { readonly _tag: "logs"; readonly mentions: Address | null; readonly options: RpcOptions }
  | { readonly _tag: "account"; readonly address: Address; readonly options: RpcOptions }
  | { readonly _tag: "program"; readonly program: Address; readonly options: RpcOptions }

export interface Subscriptions {
  /** Executes a subscribe or unsubscribe call. The result is JSON text. */
  readonly call: (method: string, params: ReadonlyArray<unknown>) => Result.Result<string, RpcFailure>
  /**
   * The frames that a block causes: first account writes and logs, then the slot that has begun. A dropped block only
   * has frames for clients that asked for `processed`.
   */
  readonly framesOf: (block: Block) => ReadonlyArray<string>
}

const LogsFilter = Schema.Union([
  Schema.Literals(["all", "allWithVotes"]),
  Schema.Struct({ mentions: Schema.Tuple([Schema.String]) })
])
const decodeLogsFilter = paramOf(LogsFilter)

const readLogsFilter = (subject: unknown): Result.Result<Address | null, RpcFailure> =>
  Result.flatMap(decodeLogsFilter(subject), (filter) =>
    typeof filter === "string" ? Result.succeed(null) : readAddress(filter.mentions[0])
  )

const subscribe = (
  { bank }: NodeState,
  method: string,
  [subject, config]: ReadonlyArray<unknown>
): Result.Result<Subscription, RpcFailure> =>
  Result.gen(function* () {
    const newest = bank.newest().slot
    switch (method) {
      case "slotSubscribe":
        return { _tag: "slot" }
      case "logsSubscribe":
        return {
          _tag: "logs",
          mentions: yield* readLogsFilter(subject),
          options: yield* readOptions(config, newest)
        }
      case "accountSubscribe":
        return { _tag: "account", address: yield* readAddress(subject), options: yield* readOptions(config, newest) }
      case "programSubscribe":
        return { _tag: "program", program: yield* readAddress(subject), options: yield* readOptions(config, newest) }
      default:
        return yield* Result.fail(methodNotFound)
    }
  })

const unsubscribes: ReadonlySet<string> = new Set([
  "slotUnsubscribe",
  "logsUnsubscribe",
  "accountUnsubscribe",
  "programUnsubscribe"
])

const encoded = (state: NodeState, account: OnChainAccount, { encoding, slice }: RpcOptions): string =>
  fits(account.data, encoding) ? state.encode(account, encoding, slice) : JSON.stringify(tooLongForBase58.message)

const atSlot = (slot: number, value: string): string => `{"context":{"slot":${slot}},"value":${value}}`

const logsFrames = (id: number, mentions: Address | null, block: Block) =>
  block.transactions
    .filter(({ receipt }) => mentions === null || receipt.message.keys.includes(mentions))
    .map(({ receipt, signature }) => {
      const logs = JSON.stringify(logsOf(receipt))
      const value = `{"err":${errorText(receipt.error)},"logs":${logs},"signature":"${signature}"}`
      return notification("logsNotification", id, atSlot(block.slot, value))
    })

/** Makes an empty set of subscriptions. `nextId` numbers them across all connections of the node. */
export const makeSubscriptions = (state: NodeState, nextId: () => number): Subscriptions => {
  const all = new Map<number, Subscription>()
  const byAddress = new Map<Address, Map<number, RpcOptions>>()

  const drop = (id: number): boolean => {
    const subscription = all.get(id)
    if (subscription?._tag === "account") {
      byAddress.get(subscription.address)?.delete(id)
    }
    return all.delete(id)
  }

  const add = (subscription: Subscription): string => {
    const id = nextId()
    all.set(id, subscription)
    if (subscription._tag === "account") {
      const others = byAddress.get(subscription.address) ?? new Map<number, RpcOptions>()
      byAddress.set(subscription.address, others.set(id, subscription.options))
    }
    return String(id)
  }

  const call: Subscriptions["call"] = (method, params) => {
    if (!unsubscribes.has(method)) {
      return Result.map(subscribe(state, method, params), add)
    }
    const id = params[0]
    return typeof id === "number" && drop(id)
      ? Result.succeed("true")
      : Result.fail(invalidParams("Invalid subscription id."))
  }

  const programFrames = (id: number, { program, options }: Subscription & { _tag: "program" }, block: Block) =>
    block.accounts
      .filter((account) => account.owner === program && matchesFilter(account.data, options.filter))
      .map((account) => {
        const value = `{"pubkey":"${account.address}","account":${encoded(state, account, options)}}`
        return notification("programNotification", id, atSlot(block.slot, value))
      })

  const framesOf = (block: Block): ReadonlyArray<string> => {
    const writes: Array<string> = []
    const slots: Array<string> = []
    const isSeen = ({ isProcessed }: RpcOptions): boolean => isProcessed || !block.isDropped
    for (const account of block.accounts) {
      for (const [id, options] of byAddress.get(account.address) ?? []) {
        if (!isSeen(options)) {
          continue
        }
        const value = atSlot(block.slot, encoded(state, account, options))
        writes.push(notification("accountNotification", id, value))
      }
    }
    for (const [id, subscription] of all) {
      if (subscription._tag === "program" && isSeen(subscription.options)) {
        writes.push(...programFrames(id, subscription, block))
      }
      if (subscription._tag === "logs" && isSeen(subscription.options)) {
        writes.push(...logsFrames(id, subscription.mentions, block))
      }
      if (subscription._tag === "slot") {
        const parent = block.isDropped ? block.parent : block.slot
        const value = `{"parent":${parent},"root":${parent},"slot":${block.next}}`
        slots.push(notification("slotNotification", id, value))
      }
    }
    return [...writes, ...slots]
  }

  return { call, framesOf }
}
