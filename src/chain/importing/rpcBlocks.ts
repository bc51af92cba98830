/** Blocks of a node, of any range that the node still has. */
import { Duration, Effect, Option, Schema, Stream } from "effect"
import { withoutBlock } from "../blocks/followBlocks.ts"
import type { ChainUnavailable } from "../ChainUnavailable.ts"
import { decodeAnswer, makeRpcCall, type RpcCall } from "../rpc/rpcHttp.ts"
import { rpcNode } from "../rpc/rpcSettings.ts"
import type { ImportRange, SourceBlock } from "./importSource.ts"

/** Slots of one list. */
const LISTED = 256
const CONCURRENCY = 4
const settings = { concurrency: CONCURRENCY, retries: 3, timeout: Duration.seconds(30) }
const options = {
  commitment: "finalized",
  encoding: "json",
  transactionDetails: "full",
  maxSupportedTransactionVersion: 0,
  rewards: false
}

const slotsIn = decodeAnswer("getBlocksWithLimit", Schema.Array(Schema.Int))
const slotIn = decodeAnswer("getSlot", Schema.Int)
const textIn = decodeAnswer("getGenesisHash", Schema.String)
const timeIn = decodeAnswer("getBlockTime", Schema.NullOr(Schema.Int))

const listFrom = (call: RpcCall, from: number, limit: number) =>
  Effect.flatMap(call("getBlocksWithLimit", [from, limit, { commitment: "finalized" }]), slotsIn)

/** The first slot with a block from this time on, found by halves. Null when the chain has none yet. */
const slotAt = Effect.fnUntraced(function* (call: RpcCall, timeMs: number) {
  let low = yield* Effect.flatMap(call("getFirstAvailableBlock", []), slotIn)
  let high = (yield* Effect.flatMap(call("getSlot", [{ commitment: "finalized" }]), slotIn)) + 1
  const last = high
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [slot] = yield* listFrom(call, middle, 1)
    const second = slot === undefined ? null : yield* Effect.flatMap(call("getBlockTime", [slot]), timeIn)
    if (slot === undefined || second === null || second * 1000 >= timeMs) {
      high = middle
    } else {
      low = slot + 1
    }
  }
  return low >= last ? null : low
})

/** The range in slots. Null when it begins after the newest block. */
const slotsOf = Effect.fnUntraced(function* (call: RpcCall, { fromMs, fromSlot, toMs, toSlot }: ImportRange) {
  const [begin, end] = [
    fromMs === null ? 0 : yield* slotAt(call, fromMs),
    toMs === null ? null : yield* slotAt(call, toMs)
  ]
  if (begin === null) {
    return null
  }
  const last = [toSlot, end === null ? null : end - 1].filter((slot) => slot !== null)
  return { from: Math.max(begin, fromSlot ?? 0), to: last.length === 0 ? null : Math.min(...last) }
})

/** The slots with a block from one slot on, up to the first one after `to`. */
const listed = (call: RpcCall, from: number, to: number | null) =>
  Stream.paginate(from, (next) =>
    Effect.map(listFrom(call, next, LISTED), (slots) => {
      const end = to === null ? -1 : slots.findIndex((slot) => slot > to)
      const last = slots.at(-1)
      const rest = end === -1 && last !== undefined ? Option.some(last + 1) : Option.none<number>()
      return [end === -1 ? slots : slots.slice(0, end + 1), rest] as const
    })
  )

/**
 * The block of a slot; none when the node does not have it or cannot show it. The block after it then shows that it is
 * missing.
 */
const blockAt = (call: RpcCall, slot: number): Effect.Effect<ReadonlyArray<SourceBlock>, ChainUnavailable> =>
  call("getBlock", [slot, options]).pipe(
    Effect.map((answer) => [{ slot, answer }]),
    Effect.catchIf(
      (failure) => {
        const content = withoutBlock(slot, failure)
        return content._tag === "Skipped" || content.reason !== "unavailable"
      },
      () => Effect.succeed([])
    )
  )

/** Calls of the node at an address. */
export const nodeCalls = (url: string) => {
  const node = rpcNode(url)
  return makeRpcCall(settings, { node: () => node })
}

/** The genesis hash of a node's chain. */
export const nodeGenesis = (call: RpcCall) => Effect.flatMap(call("getGenesisHash", []), textIn)

/** The blocks of a range, and the first one after it. Fails when the node does not answer. */
export const rpcBlocks = (url: string, range: ImportRange) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const call = yield* nodeCalls(url)
      const slots = yield* slotsOf(call, range)
      return slots === null
        ? Stream.empty
        : listed(call, slots.from, slots.to).pipe(
            Stream.mapEffect((slot) => blockAt(call, slot), { concurrency: CONCURRENCY }),
            Stream.flattenIterable
          )
    })
  )
