/**
 * Imports blocks of the past into the store. What is stored and what is missing is written with the blocks in one
 * transaction. So an import that is killed at any moment goes on where it was, and stores no trade twice.
 */
import { Clock, Duration, Effect, Stream } from "effect"
import type { ImportedBlock } from "../../chain/importing/importMessages.ts"
import { type ImportPlace, type ImportRange, ImportRefused, isAfter } from "../../chain/importing/importSource.ts"
import { readImport } from "../../chain/importing/readImport.ts"
import type { ChainUnavailable } from "../../chain/ChainUnavailable.ts"
import { unpackBlock } from "../../chain/decoding/PackedTransactions.ts"
import { monotonicMs } from "../../domain/loopTime.ts"
import { TradeStoreUnavailable } from "../../api/schemas/Trade.ts"
import type { MissingBlocks } from "../model/Gaps.ts"
import type { TradeProgress } from "../model/TradeProgress.ts"
import {
  appended,
  type Contradiction,
  hasLater,
  isFull,
  isSameRegion,
  type LinkedBlock,
  nextMissing,
  type Region,
  regionOf,
  repairBy
} from "./importPlan.ts"
import { priceAgain, type PricingParts } from "./priceAgain.ts"
import { type BlockPricing, makeBlockPricing, pricingAfter } from "./priceBlocks.ts"

/** What to import, and at which pace. */
export interface ImportOptions {
  readonly place: ImportPlace
  readonly range: ImportRange
  /** Blocks a second at most; null for as fast as they come. */
  readonly rate: number | null
  /** Blocks of this run at most; null for all. */
  readonly budget: number | null
}

export interface ImportParts extends PricingParts {
  /** True beside a service that reads the newest blocks itself. Then nothing is stored after its blocks. */
  readonly isBeside: boolean
  /** Whether blocks between the oldest stored block and imported ones are read by themselves. */
  readonly bridge: MissingBlocks["state"]
  /** Runs alone among the writers of this process. */
  readonly alone: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Reads a source; `readImport` unless given. */
  readonly read?: typeof readImport
}

/** How far an import is. It changes while the import runs. */
export interface ImportNotes {
  /** Blocks and trades that this run has stored. */
  blocks: number
  trades: number
  /** Stretches of blocks that the source does not have. */
  holes: number
  /** The first block that was read, and its time; null before it. */
  first: number | null
  firstMs: number | null
  /** The newest block that was read, and its time; null before the first. */
  slot: number | null
  timeMs: number | null
}

export const newNotes = (): ImportNotes => ({
  blocks: 0,
  trades: 0,
  holes: 0,
  first: null,
  firstMs: null,
  slot: null,
  timeMs: null
})

/** Blocks and packed bytes that are stored at once. */
const ALONE = { blocks: 256, packed: 4 * 1024 * 1024 }
/** Beside a service, whose new blocks wait meanwhile. */
const BESIDE = { blocks: 32, packed: 512 * 1024 }
/** A pricing remembers every token that it was asked for, so it is replaced after so many blocks. */
const PRICED_BLOCKS = 50_000
/** Blocks that are older are not in memory. */
const MEMORY_MS = Duration.toMillis(Duration.days(3))
/** Stored blocks are read past when they are fewer; otherwise the source is read anew after them. */
const READ_PAST = 500

/** A pricing, and the block that it has priced last. */
interface Carried {
  readonly pricing: BlockPricing<TradeStoreUnavailable>
  readonly slot: number
  readonly blocks: number
}

/** How a run over the source ended. `at`: the source is to be read anew from this slot on. */
type Ended = { readonly _tag: "Done" } | { readonly _tag: "Again"; readonly at: number }

const DONE: Ended = { _tag: "Done" }

const refused = (detail: string) => new ImportRefused({ detail })

const orRefuse = <A extends object>(found: A | Contradiction): Effect.Effect<A, ImportRefused> =>
  "_tag" in found && found._tag === "Contradiction"
    ? Effect.fail(refused((found as Contradiction).detail))
    : Effect.succeed(found as A)

/** Stores blocks, given in the order of the chain. `next` is the block after them. */
const makeStoring = (parts: ImportParts, notes: ImportNotes) => {
  const { alone, bridge, isBeside, prices, storable, stores } = parts
  const state: { carried: Carried | null; hasUncounted: boolean } = { carried: null, hasUncounted: false }

  const carriedTo = ({ parentSlot }: LinkedBlock): Carried | null =>
    state.carried !== null && state.carried.slot === parentSlot && state.carried.blocks < PRICED_BLOCKS
      ? state.carried
      : null

  const carry = (pricing: Carried["pricing"] | null, before: Carried | null, blocks: ReadonlyArray<LinkedBlock>) => {
    const last = blocks.at(-1)
    state.carried =
      pricing === null || last === undefined
        ? null
        : { pricing, slot: last.batch.slot, blocks: (before?.blocks ?? 0) + blocks.length }
  }

  const append = Effect.fnUntraced(function* (progress: TradeProgress | null, blocks: ReadonlyArray<LinkedBlock>) {
    const [first] = blocks
    const marked = yield* orRefuse(appended(progress, blocks))
    const known = first === undefined ? null : carriedTo(first)
    const pricing =
      known?.pricing ??
      (progress === null ? makeBlockPricing(prices) : yield* pricingAfter(stores.trades, prices, progress.slot))
    const nowMs = yield* Clock.currentTimeMillis
    const batches = yield* Effect.forEach(marked, (batch) =>
      Effect.map(pricing.price(batch), (priced) => storable(priced, nowMs))
    )
    yield* stores.blocks.append(batches)
    yield* stores.blocks.closeBars
    carry(pricing, known, blocks)
    return batches
  })

  const repair = Effect.fnUntraced(function* (
    progress: TradeProgress,
    region: Exclude<Region, { readonly _tag: "New" | "Stored" }>,
    blocks: ReadonlyArray<LinkedBlock>,
    next: LinkedBlock | null
  ) {
    const [first, last] = [blocks[0], blocks.at(-1)]
    if (first === undefined || last === undefined) {
      return []
    }
    const change = yield* orRefuse(repairBy(progress, region, blocks, next, bridge))
    if (isFull(progress) && (change.gap?.left ?? change.found).length > 1) {
      return yield* refused(`more than ${progress.gaps.length} stretches of blocks are missing`)
    }
    yield* stores.blocks.repairable
    const nowMs = yield* Clock.currentTimeMillis
    const known = carriedTo(first)
    const { batches, pricing, repriced } = yield* priceAgain(
      parts,
      blocks.map(({ batch }) => batch),
      nowMs,
      { pricing: known?.pricing ?? null, hasLater: hasLater(progress, region, last.batch) }
    ).pipe(
      Effect.catchIf(
        (failure): failure is "waiting" => failure === "waiting",
        () => Effect.fail(new TradeStoreUnavailable({ cause: new Error("new blocks are not stored yet") }))
      )
    )
    const counts = repriced.length > 0 || last.batch.timeMs > nowMs - MEMORY_MS
    yield* stores.blocks.repair({ ...change, batches, repriced, counts })
    state.hasUncounted ||= !counts
    carry(pricing, known, blocks)
    return batches
  })

  /** Stores blocks at the beginning of a list that belong to one region. Returns the rest. */
  const storeSome = Effect.fnUntraced(function* (blocks: ReadonlyArray<LinkedBlock>, after: LinkedBlock | null) {
    const [first] = blocks
    const progress = yield* stores.blocks.progress
    const region = regionOf(progress, first?.batch.slot ?? 0)
    const end = blocks.findIndex(({ batch }) => !isSameRegion(region, regionOf(progress, batch.slot)))
    const own = end === -1 ? blocks : blocks.slice(0, end)
    const next = blocks[own.length] ?? after
    const rest = blocks.slice(own.length)
    if (region._tag === "Stored" || (region._tag === "New" && isBeside)) {
      return rest
    }
    const batches =
      region._tag === "New" || progress === null
        ? yield* append(progress, own)
        : yield* repair(progress, region, own, next)
    notes.blocks += batches.length
    notes.trades += batches.reduce((sum, { trades }) => sum + trades.length, 0)
    return rest
  })

  const store = Effect.fnUntraced(function* (blocks: ReadonlyArray<LinkedBlock>, after: LinkedBlock | null) {
    let rest = blocks
    while (rest.length > 0) {
      rest = yield* alone(storeSome(rest, after))
    }
  })

  /** Lets memory take what was stored without counting. */
  const settle = Effect.suspend(() => {
    if (!state.hasUncounted) {
      return Effect.void
    }
    state.hasUncounted = false
    return stores.blocks.repair({ batches: [], repriced: [], gap: null, first: null, found: [], counts: true })
  })

  return { store, settle }
}

/** Checks that each block follows the one before it. */
const makeLinks = () => {
  const state: { last: { readonly slot: number; readonly hash: string | null } | null } = { last: null }
  return {
    restart: () => {
      state.last = null
    },
    /** True when blocks before this one are missing. Fails when it contradicts the block before it. */
    check: ({ block: { head }, hash, parentHash }: ImportedBlock): Effect.Effect<boolean, ImportRefused> => {
      const { last } = state
      state.last = { slot: head.slot, hash }
      if (last === null || head.parentSlot > last.slot) {
        return Effect.succeed(last !== null)
      }
      if (head.parentSlot < last.slot) {
        return Effect.fail(
          refused(`the block of slot ${head.slot} follows slot ${head.parentSlot}, but comes after slot ${last.slot}`)
        )
      }
      return last.hash !== null && parentHash !== null && parentHash !== last.hash
        ? Effect.fail(refused(`the block of slot ${head.slot} names another blockhash for its parent than the parent`))
        : Effect.succeed(false)
    }
  }
}

/** Reads the source once, from a slot on, and stores its blocks. */
const makePass = (parts: ImportParts, { budget, place, range, rate }: ImportOptions, notes: ImportNotes) => {
  const { store, settle } = makeStoring(parts, notes)
  const { blocks: blockStore, candles } = parts.stores
  const links = makeLinks()
  const bounds = parts.isBeside ? BESIDE : ALONE
  const most = Math.max(1, Math.min(bounds.blocks, rate === null ? bounds.blocks : 2 * rate))
  const held: { blocks: Array<LinkedBlock>; bytes: number; atMs: number | null } = { blocks: [], bytes: 0, atMs: null }

  const linked = Effect.fnUntraced(function* (imported: ImportedBlock) {
    const { blockTimeMs, launches, liquidity, openings, parentSlot, slot, supply, transactions } = unpackBlock(
      imported.block
    )
    const timeMs = blockTimeMs ?? notes.timeMs
    if (timeMs === null) {
      return null
    }
    const keptMs = candles.keptSeconds("1s") * 1000
    if (timeMs < (yield* Clock.currentTimeMillis) - keptMs) {
      const days = Math.floor(keptMs / 86_400_000)
      return yield* refused(
        `the block of slot ${slot} is of ${new Date(timeMs).toISOString()}, and trades are kept for ${days} days (TRADES_KEPT, CLICKHOUSE_TRADES_KEPT)`
      )
    }
    const timeEstimated = imported.block.head.blockTimeEstimated
    const batch = { slot, timeMs, transactions, launches, supply, liquidity, openings, timeEstimated, afterGap: false }
    return { batch, parentSlot } satisfies LinkedBlock
  })

  /** Stores what is held. Waits as the rate demands; beside a service without a rate, as long as storing took. */
  const flush = Effect.fnUntraced(function* (next: LinkedBlock | null) {
    const clock = yield* Clock.Clock
    const { atMs, blocks } = held
    held.blocks = []
    held.bytes = 0
    const [took] = yield* Effect.timed(store(blocks, next))
    if (rate === null && parts.isBeside) {
      yield* Effect.sleep(took)
    }
    if (rate !== null && blocks.length > 0) {
      const spentMs = atMs === null ? 0 : monotonicMs(clock) - atMs
      yield* Effect.sleep(Duration.millis(Math.max(0, (blocks.length / rate) * 1000 - spentMs)))
    }
    held.atMs = monotonicMs(clock)
  })

  /** Where to go on after a stored block; null to read on. */
  const afterStored = (progress: TradeProgress, slot: number): Ended | null => {
    const missing = nextMissing(progress, slot)
    const at = missing ?? progress.slot + 1
    if (missing === null && parts.isBeside) {
      return DONE
    }
    return at - slot > READ_PAST && !isAfter(range, at, null) ? { _tag: "Again", at } : null
  }

  const take = Effect.fnUntraced(function* (
    imported: ImportedBlock
  ): Effect.fn.Return<Ended | null, ImportRefused | TradeStoreUnavailable> {
    const { head, packed } = imported.block
    const hasHole = yield* links.check(imported)
    const block = yield* linked(imported)
    const isBeyond = isAfter(range, head.slot, head.blockTimeMs)
    const isEnough = budget !== null && notes.blocks + held.blocks.length >= budget
    if (isBeyond || isEnough || held.blocks.length >= most || held.bytes + packed.length > bounds.packed) {
      yield* flush(block)
    }
    if (isBeyond || isEnough) {
      return DONE
    }
    notes.first ??= head.slot
    notes.firstMs ??= block?.batch.timeMs ?? null
    notes.slot = head.slot
    notes.timeMs = block?.batch.timeMs ?? notes.timeMs
    notes.holes += hasHole ? 1 : 0
    if (block === null) {
      return null
    }
    const progress = yield* blockStore.progress
    const region = regionOf(progress, head.slot)
    if (region._tag === "Stored" && held.blocks.length === 0 && progress !== null) {
      return afterStored(progress, head.slot)
    }
    if (region._tag === "New" && parts.isBeside) {
      return yield* Effect.as(flush(block), DONE)
    }
    held.blocks.push(block)
    held.bytes += packed.length
    return null
  })

  const pass = Effect.fnUntraced(function* (fromSlot: number | null) {
    links.restart()
    held.blocks = []
    held.bytes = 0
    const source = (parts.read ?? readImport)({ place, range: { ...range, fromSlot } }, parts.isBeside ? 1 : undefined)
    const ended = yield* source.pipe(
      Stream.mapEffect(take),
      Stream.filter((end) => end !== null),
      Stream.take(1),
      Stream.runCollect,
      // Otherwise a source that always breaks off before a whole part has come would be read from the beginning for ever.
      Effect.tapErrorTag("ChainUnavailable", () => flush(null))
    )
    const [end] = Array.from(ended)
    if (end === undefined) {
      yield* flush(null)
    }
    return end ?? DONE
  })
  return { pass, settle }
}

const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000

type Failed = ChainUnavailable | TradeStoreUnavailable

const pauseOf = (tries: number, failure: Failed): number =>
  Math.max(
    failure._tag === "ChainUnavailable" ? (failure.retryAfterMs ?? 0) : 0,
    Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(tries, 10))
  )

/**
 * Imports a range. Reads on after failures of the source or of the store: after a second, then twice as long, up to a
 * minute. Fails with the last of them once nothing could be read for `patience`, and as `ImportRefused` at once.
 */
export const importBlocks = Effect.fnUntraced(function* (
  parts: ImportParts,
  options: ImportOptions,
  notes: ImportNotes,
  patience: Duration.Duration
) {
  const { pass, settle } = makePass(parts, options, notes)
  const clock = yield* Clock.Clock
  const progress = yield* parts.stores.blocks.progress
  const { fromSlot } = options.range
  const state = {
    from: fromSlot === null || progress === null ? fromSlot : (nextMissing(progress, fromSlot) ?? progress.slot + 1),
    tries: 0,
    slot: notes.slot,
    sinceMs: monotonicMs(clock)
  }
  while (true) {
    const outcome = yield* Effect.result(pass(state.from))
    if (notes.slot !== state.slot) {
      state.slot = notes.slot
      state.tries = 0
      state.sinceMs = monotonicMs(clock)
    }
    if (outcome._tag === "Success") {
      if (outcome.success._tag === "Done") {
        break
      }
      state.from = outcome.success.at
      continue
    }
    const { failure } = outcome
    if (failure._tag === "ImportRefused" || monotonicMs(clock) - state.sinceMs > Duration.toMillis(patience)) {
      yield* settle
      return yield* failure
    }
    // What was read but not stored is read again.
    const stored = yield* Effect.orElseSucceed(parts.stores.blocks.progress, () => null)
    const begin = notes.first ?? state.from
    state.from = stored === null || begin === null ? begin : (nextMissing(stored, begin) ?? stored.slot + 1)
    yield* Effect.logWarning("The source of an import does not answer and is asked again", failure)
    yield* Effect.sleep(Duration.millis(pauseOf(state.tries++, failure)))
  }
  yield* settle
})
