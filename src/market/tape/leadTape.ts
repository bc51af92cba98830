/**
 * The half of a tape that only the reader of the chain has: it appends blocks to the bus, stores them, and reads
 * missing ones again.
 */
import { Clock, Deferred, Effect, Semaphore, Stream } from "effect"
import { ownTurn } from "../../domain/loopTime.ts"
import { keepRunning, keepTrying } from "../../operations/keepRunning.ts"
import type { BusEntry } from "../../storage/bus/BlockBus.ts"
import type { AppendRefused } from "../../storage/bus/busLog.ts"
import type { MarketLimits } from "../memory/MarketState.ts"
import type { ChainIdentity } from "../model/ChainIdentity.ts"
import type { ForkLog } from "../model/Gaps.ts"
import type { TradeBatch } from "../model/TradeBatch.ts"
import type { StoredBatch } from "../model/StoredBatch.ts"
import { importBeside } from "./importBeside.ts"
import { noPrices, storedPart } from "./importHistory.ts"
import { stored } from "./priceAgain.ts"
import { type BlockPricing, makeBlockPricing, pricingAfter, recallSoon } from "./priceBlocks.ts"
import { makeRecorder } from "./recordTrades.ts"
import { makeRepairs } from "./RepairWorker.ts"
import { snapshotsOf } from "./takeSnapshots.ts"
import {
  type BlockLine,
  paceOf,
  Position,
  storableBy,
  type TapeHalves,
  type TapeParts,
  type TapeSettings
} from "./tapeParts.ts"
import { WatchedWallets } from "./WatchedWallets.ts"

const RETRY_EVERY = "300 millis"
/** The newest block of the bus comes at once, unless the bus has lost it meanwhile. */
const NEWEST_WITHIN = "5 seconds"

/** Notes the forks that the newest block of the bus tells of. Another process may have read the blocks before it. */
const noteForks = Effect.fnUntraced(function* <Body>({ bus, decode }: BlockLine<Body>, name: string, forks: ForkLog) {
  const newest = yield* bus.newest(name)
  if (newest === null) {
    return
  }
  yield* bus.follow(name, newest - 1).pipe(
    Stream.take(1),
    Stream.runForEach(({ body }) => Effect.sync(() => forks.note(decode(body)))),
    Effect.timeout(NEWEST_WITHIN),
    Effect.catchCause((cause) =>
      Effect.logWarning("The newest block of the bus cannot be read: later blocks do not repeat its forks", cause)
    )
  )
})

/**
 * Reads the blocks of the feed after a slot, prices them and appends them to the bus, and waits for `taken` after each.
 * Ends with the feed; fails when an append fails. A block that cannot be priced is logged and left out; the next block
 * then has a gap before it. Each block repeats the forks that earlier blocks report, for readers that lose those. `forks`
 * outlives the relay, because the feed does not report a fork again.
 */
export const relayBlocks = Effect.fnUntraced(function* <Body>(
  feed: TapeParts["feed"],
  line: BlockLine<Body>,
  { after, forks, name }: { readonly name: string; readonly after: number; readonly forks: ForkLog },
  pricing: BlockPricing,
  taken: (slot: number) => Effect.Effect<void>
) {
  const { bus, encode } = line
  yield* noteForks(line, name, forks)
  const position = { read: after, appended: after, isBroken: false }
  const price = (batch: TradeBatch) =>
    pricing.price(position.isBroken ? { ...batch, afterGap: true } : batch).pipe(
      Effect.map(encode),
      Effect.catchCause((cause) => {
        position.isBroken = true
        return Effect.as(
          Effect.logError("A block could not be priced and is left out", { slot: batch.slot }, cause),
          null
        )
      })
    )
  const relay = Effect.fnUntraced(function* (read: TradeBatch) {
    forks.note(read)
    const batch = forks.told(read, position.appended)
    position.read = Math.max(position.read, batch.slot)
    const body = yield* price(batch)
    if (body !== null) {
      // If the append dies, the next block has a gap before it.
      position.isBroken = true
      yield* bus.append(name, { after: position.appended, slot: batch.slot, body })
      position.appended = batch.slot
      position.isBroken = false
      yield* taken(batch.slot)
    }
  })
  // A failed append ends the relay. Anything else restarts it behind the last block, with the same pricing.
  yield* Effect.suspend(() => Stream.runForEach(feed.batches(position.read), relay)).pipe(
    Effect.result,
    keepRunning("Reading the chain", "blocks"),
    Effect.flatMap(Effect.fromResult)
  )
})

/**
 * Leads until the feed ends, and fails once another process has appended. Blocks are stored as they are on the bus, so
 * a block is the same in every process and in the store, whichever process led when it came. Blocks that an earlier
 * leader appended but did not store are stored first. An entry that cannot be read is left out; the next block then has
 * a gap before it.
 */
export const leadChain = Effect.fnUntraced(function* <Body>(
  { feed, prices, stores, tape }: TapeParts,
  line: BlockLine<Body>,
  chain: ChainIdentity,
  limits: MarketLimits,
  { imports, record, repair, snapshots }: TapeSettings,
  halves: TapeHalves,
  /** The newest stored slot. */
  after: number
) {
  const { bus, decode, isShared } = line
  const { applied } = halves
  const storable = storableBy(tape, yield* WatchedWallets)

  const read = Effect.fnUntraced(function* ({ body, isAfterGap, slot }: BusEntry<Body>, isBroken: boolean) {
    const batch = decode(body)
    // Whether a transfer is stored depends on the wallet's earlier trades, so the block is applied first.
    yield* applied.reached(slot)
    yield* Effect.andThen(ownTurn, tape.whole)
    const afterGap = batch.afterGap || isAfterGap || isBroken
    return storable({ ...batch, afterGap }, yield* Clock.currentTimeMillis)
  })
  /** The newest entry that could not be read, and the slot of the last readable entry before it. */
  let leftOut = { slot: 0, after: 0 }
  /** The entries of the bus after a slot, each with the block to store; null when it cannot be read. */
  const entriesAfter = (after: number, isBroken = false) =>
    Stream.suspend(() => {
      const state = { last: after, isBroken }
      return Stream.mapEffect(
        bus.follow(chain.genesis, after),
        Effect.fnUntraced(function* (entry) {
          const { slot } = entry
          const batch = yield* Effect.catchCause(read(entry, state.isBroken), (cause) =>
            Effect.as(Effect.logError("A block could not be read and is left out of the store", { slot }, cause), null)
          )
          state.isBroken = batch === null
          if (batch === null) {
            leftOut = { slot, after: state.last }
          } else {
            state.last = slot
          }
          return { slot, batch }
        })
      )
    })
  const fromBus = (slot: number) =>
    Stream.flatMap(entriesAfter(slot), ({ batch }) => (batch === null ? Stream.empty : Stream.succeed(batch)))
  const fromNode = (slot: number) =>
    Stream.unwrap(
      Effect.map(pricingAfter(stores.trades, prices, slot), (again) =>
        Stream.mapEffect(feed.batches(slot), (batch) =>
          Effect.flatMap(again.price(batch), (priced) =>
            Effect.map(Clock.currentTimeMillis, (nowMs) => storable(priced, nowMs))
          )
        )
      )
    )
  const recorder = yield* makeRecorder(stores.blocks, { after, reread: isShared ? fromBus : fromNode }, record)
  const { durable, unstored } = recorder
  if (!isShared) {
    halves.durable = durable
    halves.health = recorder.health
    tape.keepUnstored(unstored)
  }
  /** The newest entry that went to the recorder or was left out. */
  const recorded = new Position()
  yield* recorded.moveTo(after)
  /** True while a block is being recorded: if that dies, the next block has a gap before it. */
  let isRecording = false
  const keep = Effect.fnUntraced(function* ({
    batch,
    slot
  }: {
    readonly batch: StoredBatch | null
    readonly slot: number
  }) {
    yield* recorded.moveTo(slot)
    isRecording = true
    yield* batch === null ? Effect.void : recorder.offer(batch)
    isRecording = false
  })
  yield* Effect.suspend(() => Stream.runForEach(entriesAfter(recorded.slot, isRecording), keep)).pipe(
    keepRunning("Storing the blocks of the bus", "trades"),
    Effect.forkScoped
  )

  const pricing = { current: makeBlockPricing(prices) }
  const live: Pick<BlockPricing, "newest" | "recall"> = {
    newest: () => pricing.current.newest(),
    recall: (trades) => pricing.current.recall(trades)
  }
  const { isHistoryRead, step } = yield* makeRepairs(
    { feed, stores, prices, live, tape, storable, limits, durable, unstored },
    { ...paceOf(chain, feed, repair), snapshots: snapshotsOf(chain, snapshots) }
  )
  const restored = Deferred.await(halves.restored)
  // Reading blocks again and importing them take turns: each decides by what is missing where they belong.
  const { withPermit } = yield* Semaphore.make(1)
  yield* restored.pipe(
    Effect.andThen(Effect.forever(Effect.flatMap(withPermit(step), Effect.sleep))),
    keepRunning("Reading missing blocks again", "backfill"),
    Effect.forkScoped
  )
  const importParts = { stores, prices: noPrices, live, storable: storedPart, durable, alone: withPermit }
  yield* imports === null
    ? Effect.void
    : importBeside(importParts, imports, chain.genesis, { ready: restored, isHistoryRead })

  /** Every entry up to this slot is stored or left out. */
  const settled = () => (durable() >= leftOut.after ? Math.max(durable(), leftOut.slot) : durable())
  const taken = (slot: number) =>
    isShared ? Effect.void : Effect.andThen(applied.reached(slot), recorded.reached(slot))

  const relay = Effect.gen(function* () {
    const newest = (yield* bus.newest(chain.genesis)) ?? 0
    // The bus may have lost blocks that are stored or applied.
    const from = Math.max(newest, after, tape.newest())
    yield* stored(settled, Math.max(newest, after))
    const next = makeBlockPricing(prices)
    // Set before the store is read, so that it gets the swaps of a repair that ends meanwhile.
    pricing.current = next
    yield* from === 0 ? Effect.void : recallSoon(stores.trades, next, from)
    yield* relayBlocks(feed, line, { name: chain.genesis, after: from, forks: halves.forks }, next, taken)
  }).pipe(Effect.scoped)
  // A failed append may have reached the bus: begin again behind the newest block of the bus. On a shared bus a refused
  // append means that another process leads. On an own bus there is nobody else.
  const refused = yield* relay.pipe(
    Effect.catchIf(
      (failure): failure is AppendRefused => isShared && failure !== "waiting" && failure._tag === "AppendRefused",
      (failure) => Effect.succeed(failure)
    ),
    keepTrying("Filling the bus of blocks", { every: RETRY_EVERY })
  )
  yield* refused === undefined ? Effect.void : refused
}, Effect.scoped)
