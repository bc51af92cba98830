/** A market in memory: what readers see of it, and the writes that fill it. */
import { Clock, Config, Duration, Effect, Exit, PubSub, Semaphore, Stream } from "effect"
import { countSetting, durationSetting, shareSetting } from "../../domain/countSetting.ts"
import { ownTurn } from "../../domain/loopTime.ts"
import { covering, incomplete } from "../../domain/Scalar.ts"
import { quotableDex } from "../../chain/decoding/quotableDex.ts"
import { DecodingWatch } from "../memory/DecodingWatch.ts"
import type { Applied, MarketLimits } from "../memory/MarketState.ts"
import { captureOf, makeMemory, makeRestoreWait, rememberMissing } from "../memory/tapeContent.ts"
import {
  addBlock,
  addBlockInSteps,
  coverageOf,
  emptyChain,
  recordedCoverage,
  resumeChain,
  shownFrom,
  type TapedChain
} from "../memory/TapedChain.ts"
import { countMissed, type NumberedBatch, type PricedBatch } from "../model/TradeBatch.ts"
import { lackingNow } from "./freshness.ts"
import type { MarketReads } from "./MarketReads.ts"
import { type FillMemory, type SnapshotNotes, Tape } from "./Tape.ts"
import { reportTape } from "./tapeReadings.ts"

export const defaultLimits: MarketLimits = { tokens: 60_000, bars: 800_000, trades: 4_000_000, traders: 1_000_000 }

/** Bounds of the market in memory: `TAPE_TOKENS`, `TAPE_BARS`, `TAPE_WALLETS`, and for a restore `TAPE_TRADES`. */
export const limits = Config.all({
  tokens: countSetting("TAPE_TOKENS", defaultLimits.tokens),
  bars: countSetting("TAPE_BARS", defaultLimits.bars),
  trades: countSetting("TAPE_TRADES", defaultLimits.trades),
  traders: countSetting("TAPE_WALLETS", defaultLimits.traders)
})

const LEAST_COVERAGE = 0.5

/** `MIN_COVERAGE` (0.5): a window shows values once this share of it was seen. */
export const leastCoverage = shareSetting("MIN_COVERAGE", LEAST_COVERAGE)

const RESTORE_PATIENCE = Duration.seconds(5)

/** `RESTORE_PATIENCE` (5 s): reads of windows wait so long for a restore, from its beginning. */
export const restorePatience = durationSetting("RESTORE_PATIENCE").pipe(Config.withDefault(RESTORE_PATIENCE))

/**
 * Blocks that a rebuild applies in one turn of the loop. At most one new block is applied in a turn, so the rebuild ends
 * even while the tape catches up. With more of them, new blocks would wait: a block of a busy chain takes 40 ms.
 */
const MOST_AT_ONCE = 2

/** Blocks that a subscriber may be behind before it loses the oldest. */
export const SUBSCRIBER_BUFFER = 1024

/** The swaps of quoted programs should be confirmed. Of the others it is only watched whether their share falls. */
const newDecodingWatch = () => new DecodingWatch((dex) => quotableDex(dex) === true)

/** What blocks change. */
interface Content {
  chain: TapedChain
  /** The blocks since a rebuild began; null while there is none. */
  tail: Array<TailBlock> | null
  decoding: DecodingWatch
  reportsLaunches: boolean
}

/** A block that a rebuild applies again. Whether its times are acceptable depends on the time at which it came. */
interface TailBlock {
  readonly batch: PricedBatch
  readonly nowMs: number
}

/** A block that is being applied. */
interface Block {
  readonly steps: Iterator<void, Applied>
  /** Null until it is applied. */
  result: Exit.Exit<Applied> | null
}

/**
 * What the reads and the writes of one market share. A block is applied in steps, and other work runs between them.
 * Whoever needs the content meanwhile gets it from `content`, which applies the rest of the block first. So nobody sees
 * part of a block, and who does not read the market does not wait for it. Work that nobody waits for reads after `whole`, so
 * that it does not apply half a block in its own turn.
 */
class Held {
  readonly #content: Content
  #block: Block | null = null
  snapshots: SnapshotNotes = { loaded: null, kept: null }
  readonly published: PubSub.PubSub<NumberedBatch>
  readonly restoring: ReturnType<typeof makeRestoreWait>

  constructor(chain: TapedChain, parts: Pick<Held, "published" | "restoring">) {
    this.#content = { chain, tail: null, decoding: newDecodingWatch(), reportsLaunches: true }
    this.published = parts.published
    this.restoring = parts.restoring
  }

  /**
   * Waits until the block that is being applied is whole. Whoever waits continues before the next block begins, because
   * turns are taken in order.
   */
  readonly whole: Effect.Effect<void> = Effect.suspend(() =>
    this.#block === null ? Effect.void : Effect.andThen(ownTurn, this.whole)
  )

  /** The content with all of the block that is being applied. */
  get content(): Content {
    for (let block = this.#block; block !== null; block = this.#block) {
      this.#step(block)
    }
    return this.#content
  }

  /** The chain with all of the block that is being applied. */
  get chain(): TapedChain {
    return this.content.chain
  }

  /**
   * The chain, perhaps with part of a block. Its continuity has the block since its first step, and does not change in the
   * others.
   */
  get unfinished(): TapedChain {
    return this.#content.chain
  }

  set chain(chain: TapedChain) {
    this.content.chain = chain
  }

  /**
   * Applies a block, each step in its own turn of the event loop, and publishes it together with the last one. A block
   * that has begun is not interrupted.
   */
  apply(batch: PricedBatch, nowMs: number, publish: (applied: Applied) => void): Effect.Effect<Applied> {
    return Effect.suspend(() => {
      const block: Block = { steps: this.#steps(this.content, batch, nowMs, publish), result: null }
      this.#block = block
      const go: Effect.Effect<Applied> = Effect.suspend(() => {
        if (block.result === null) {
          this.#step(block)
        }
        return block.result ?? Effect.andThen(ownTurn, go)
      })
      return go
    }).pipe(Effect.uninterruptible)
  }

  /** A step that throws ends the block. The failure is its writer's: a reader that asked for the rest does not fail. */
  #step(block: Block): void {
    try {
      const step = block.steps.next()
      block.result = step.done === true ? Exit.succeed(step.value) : null
    } catch (defect) {
      block.result = Exit.die(defect)
    }
    this.#block = block.result === null ? block : null
  }

  *#steps(
    content: Content,
    batch: PricedBatch,
    nowMs: number,
    publish: (applied: Applied) => void
  ): Generator<void, Applied> {
    const { chain } = content
    chain.continuity.read(batch)
    const applied = yield* addBlockInSteps(chain, batch, nowMs)
    content.tail?.push({ batch, nowMs })
    if (batch.checks !== undefined) {
      content.decoding.add(batch.timeMs, batch.checks)
    }
    content.reportsLaunches = batch.launches !== null
    chain.heardAtMs = nowMs
    publish(applied)
    return applied
  }
}

/** The published blocks. A subscriber that is idle takes a block in the turn that publishes it. */
const publishedBy = ({ published }: Held): Stream.Stream<NumberedBatch> => Stream.fromPubSub(published)

const readsOf = (held: Held, least: number): MarketReads => {
  const shown = shownFrom(least)
  const reads: MarketReads = {
    get state() {
      return held.chain.state
    },
    get launches() {
      return held.chain.launches
    },
    get recent() {
      return held.chain.recent
    },
    whole: held.whole,
    decoding: () => held.content.decoding,
    reportsLaunches: () => held.content.reportsLaunches,
    decimalsOf: (mint) => held.chain.decimals.of(mint),
    heardAtMs: () => held.chain.heardAtMs,
    aliveAtMs: () => {
      const { heardAtMs, resumedAtMs } = held.chain
      return heardAtMs === null ? resumedAtMs : Math.max(heardAtMs, resumedAtMs ?? heardAtMs)
    },
    isRestoring: () => held.chain.isRestoring,
    restored: held.restoring.wait,
    since: () => Math.max(held.chain.continuity.since, held.chain.heldFrom),
    readFrom: (second, to = held.chain.state.now) => shown(coverageOf(held.chain, second, to, held.chain.heldFrom)),
    recordedSince: () => held.chain.continuity.since,
    recordedFrom: (second, to = held.chain.state.now) => recordedCoverage(held.chain, second, to),
    newestSlot: () => held.chain.continuity.newestSlot,
    gaps: () => held.chain.continuity.gaps,
    heldSince: (mint, resolution) => Math.max(held.chain.state.heldSince(mint, resolution), held.chain.heldFrom),
    firstRead: () => held.chain.continuity.firstRead,
    stored: () => held.chain.stored,
    unstored: () => held.chain.unstored(),
    coverageFrom: (second, nowMs) => {
      const { chain } = held
      const lacking = lackingNow(reads, nowMs)
      const [to, heldFrom] = [chain.state.now, Math.max(chain.state.heldFrom, chain.heldFrom)]
      if (lacking === null) {
        return shown(coverageOf(chain, second, to, heldFrom))
      }
      if (lacking === "not_captured") {
        return incomplete(lacking)
      }
      // The window ends now, later than the newest block.
      const begin = second + Math.floor(nowMs / 1000) - to
      const seen = chain.continuity.seen(Math.max(begin, heldFrom), to)
      return shown(covering(lacking, seen / Math.max(1, to - second + 1)))
    },
    applied: Stream.map(publishedBy(held), ({ batch }) => batch),
    appliedCounted: countMissed(publishedBy(held))
  }
  return reads
}

/** Replaces the content of the market by what `stored` reads, then by the blocks that were applied meanwhile. */
const rebuild = Effect.fnUntraced(function* <E>(held: Held, bounds: MarketLimits, stored: FillMemory<E>) {
  const since: Array<TailBlock> = []
  held.content.tail = since
  const { newest, newestSlot: slot } = held.chain.continuity
  const { memory, content } = makeMemory(slot, () => ({
    ...emptyChain(bounds),
    stored: held.chain.stored,
    unstored: held.chain.unstored
  }))
  const { from, progress } = yield* stored(memory)
  const next = content()
  const gaps = progress.gaps.filter(({ fromSlot }) => fromSlot <= slot)
  resumeChain(next, { ...progress, ...newest, gaps }, from)
  const add = ({ batch, nowMs }: TailBlock): void => {
    next.continuity.read(batch)
    addBlock(next, batch, nowMs)
  }
  while (since.length > MOST_AT_ONCE) {
    since.splice(0, MOST_AT_ONCE).forEach(add)
    yield* Effect.yieldNow
  }
  // In one step: no block can come between the last of these and the exchange. A block that is being applied is whole
  // once the old chain is read, and then it is the last of these.
  const { backfillFromMs, heardAtMs, resumedAtMs } = held.chain
  since.forEach(add)
  Object.assign(next, { backfillFromMs, heardAtMs, resumedAtMs })
  held.chain = next
  held.restoring.end()
})

const writesOf = Effect.fnUntraced(function* (held: Held, bounds: MarketLimits) {
  const sent = { number: 0, chain: 0 }
  const counts = { blocks: 0, trades: 0 }
  const rebuilding = yield* Semaphore.make(1)
  const applying = yield* Semaphore.make(1)
  const isMissing = rememberMissing()
  yield* reportTape(counts, () => held.unfinished.continuity.newestSlot)

  return Tape.of({
    apply: Effect.fnUntraced(function* (batch) {
      yield* ownTurn
      return yield* held.apply(batch, yield* Clock.currentTimeMillis, (applied) => {
        counts.blocks++
        counts.trades += applied.applied
        // A sliding one never waits.
        Effect.runSync(PubSub.publish(held.published, { batch, number: sent.number++, chain: sent.chain }))
      })
    }, applying.withPermit),
    whole: held.whole,
    revise: (bars) => bars.forEach((bar) => held.chain.state.revise(bar)),
    keep: (stored) => {
      held.chain.stored = stored
    },
    keepUnstored: (unstored) => {
      held.chain.unstored = unstored
    },
    resume: (progress, launches, nowMs) => {
      const { chain } = held
      // The next blocks may share their second with the last stored one.
      resumeChain(chain, progress, Math.floor(progress.timeMs / 1000) + 1)
      launches.forEach(({ launch, timeMs }) => chain.launches.add(launch, timeMs))
      chain.resumedAtMs = nowMs
      chain.isRestoring = true
      held.restoring.begin()
    },
    backfilling: (fromMs) => {
      held.unfinished.backfillFromMs = fromMs
    },
    isTrader: (trade) => {
      const { backfillFromMs, continuity, isRestoring, state } = held.chain
      return isRestoring || backfillFromMs !== null || isMissing(continuity.gaps) || state.isTrader(trade)
    },
    newest: () => held.chain.continuity.newestSlot,
    missing: () => {
      const { continuity, repairs } = held.unfinished
      return { gaps: continuity.gaps, unread: continuity.unread, readFrom: continuity.firstRead, repairs }
    },
    noteGaps: (stored) => {
      const { continuity } = held.unfinished
      continuity.note(stored.filter(({ toSlot }) => toSlot < continuity.newestSlot))
    },
    capture: (write) => applying.withPermit(Effect.suspend(() => captureOf(held.chain, write))),
    noteSnapshot: (notes) => {
      held.snapshots = { ...held.snapshots, ...notes }
    },
    snapshots: () => held.snapshots,
    startAnew: () => {
      // Reading it publishes a block that is being applied. This block belongs to the chain that ends.
      const { content } = held
      sent.chain++
      held.snapshots = { loaded: null, kept: null }
      content.decoding = newDecodingWatch()
      content.chain = emptyChain(bounds)
      held.restoring.end()
    },
    rebuild: (stored) =>
      rebuild(held, bounds, stored).pipe(
        Effect.ensuring(Effect.sync(() => (held.content.tail = null))),
        rebuilding.withPermit
      )
  })
})

/**
 * An empty market. A window shows values once the share `least` of it was seen. Reads of windows wait for a restore for
 * `patience`.
 */
export const makeMarket = Effect.fnUntraced(function* (
  bounds: MarketLimits = defaultLimits,
  least = LEAST_COVERAGE,
  patience = RESTORE_PATIENCE
) {
  const held = new Held(emptyChain(bounds), {
    published: yield* PubSub.sliding<NumberedBatch>(SUBSCRIBER_BUFFER),
    restoring: makeRestoreWait(yield* Clock.Clock, patience)
  })
  return { market: readsOf(held, least), tape: yield* writesOf(held, bounds) }
})
