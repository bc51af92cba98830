/** The frames of a block are made in turns of the event loop, and each reader gets them once and in order. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Latch, Stream } from "effect"
import { ownTurn } from "../../../src/domain/loopTime.ts"
import type { LiveCandles } from "../../../src/live/market/LiveCandles.ts"
import { BlockTurns, followBlocks } from "../../../src/live/market/MarketSessions.ts"
import type { SnapshotSources } from "../../../src/live/market/snapshots.ts"
import type { CountedBatch } from "../../../src/market/model/TradeBatch.ts"
import { trade } from "../../market/tape/tape.ts"
import { A, codes, Scene, trades } from "./marketScene.ts"

const TRADES = 3000

const blockOf = (slot: number): CountedBatch => ({
  batch: {
    slot,
    timeMs: slot * 1000,
    trades: Array.from({ length: TRADES }, (_, index) => trade({ slot, index, mint: A })),
    transactions: [],
    launches: [],
    afterGap: false
  },
  isAnew: false,
  missed: 0
})

const makeTurns = Effect.map(Clock.Clock, (clock) => {
  const scene = new Scene()
  const progress = { slot: 0, timeMs: null as number | null, isBroken: false, liquidity: [] }
  const failures: Array<unknown> = []
  const half = { applied: (): void => undefined }
  // Only what blocks need of the sources.
  const sources = {
    feed: { newestSlot: () => half.applied(), published: () => undefined, whole: Effect.void }
  } as unknown as SnapshotSources
  const candles = { isWaiting: false, note: () => undefined } as unknown as LiveCandles
  const following = { hub: scene.hub, candles, isWaiting: Latch.makeUnsafe(), progress, sources }
  const blocks = new BlockTurns(following, clock, (log) => failures.push(log))
  return { ...following, blocks, failures, half, scene }
})

const until = (isDone: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => (isDone() ? Effect.void : Effect.andThen(ownTurn, until(isDone))))

const placesOf = ({ wire }: ReturnType<Scene["connect"]>) =>
  wire.frames.filter(({ type }) => type === "trade").map(({ data, seq }) => [seq, (data as { slot: number }).slot])

/** Numbers and slots of all frames of these blocks. */
const framesOf = (...slots: ReadonlyArray<number>) =>
  slots.flatMap((slot, nth) => Array.from({ length: TRADES }, (_, place) => [1 + nth * TRADES + place, slot]))

describe("the frames of blocks", () => {
  it.live("are made in several turns, and come once and in order", () =>
    Effect.gen(function* () {
      const { blocks, progress, scene } = yield* makeTurns
      const reader = scene.connect()
      reader.say(trades("a"))
      blocks.take(blockOf(1))
      blocks.take(blockOf(2))
      assert.strictEqual(progress.slot, 0)
      yield* ownTurn
      assert.lengthOf(placesOf(reader), 0)
      yield* until(() => progress.slot === 2)
      assert.deepStrictEqual(placesOf(reader), framesOf(1, 2))
      assert.notInclude(codes(reader.wire), "gap")
    })
  )

  it.live("of every applied block are published before a subscription opens", () =>
    Effect.gen(function* () {
      const { blocks, half, progress, scene } = yield* makeTurns
      const first = scene.connect()
      first.say(trades("a"))
      scene.opensAtOnce = false
      blocks.take(blockOf(1))
      yield* ownTurn
      assert.strictEqual(progress.slot, 0)
      // A topic that the steps before have not seen.
      const late = scene.connect()
      late.say(trades("b", { minUsd: "0.5" }))
      half.applied = () => {
        half.applied = () => undefined
        blocks.take(blockOf(2))
      }
      blocks.publishAll()
      assert.strictEqual(progress.slot, 2)
      scene.waiting.forEach((opening) => scene.hub.opened(opening, { slot: progress.slot }, scene.nowMs))
      blocks.take(blockOf(3))
      yield* until(() => progress.slot === 3)
      assert.deepStrictEqual(placesOf(late), framesOf(3))
      assert.deepStrictEqual(placesOf(first), framesOf(1, 2, 3))
    })
  )

  it.live("come before the candles that contain the block", () =>
    Effect.gen(function* () {
      const { blocks, candles, isWaiting, progress, sources } = yield* makeTurns
      const seen: Array<number> = []
      Object.assign(candles, { isWaiting: true, send: Effect.sync(() => seen.push(progress.slot)) })
      Object.assign(sources.feed, { blocks: Stream.make(blockOf(1)) })
      isWaiting.openUnsafe()
      yield* followBlocks({ blocks, candles, isWaiting, sources })
      yield* until(() => seen.length > 0)
      assert.strictEqual(seen[0], 1)
    })
  )

  it.live("leave a gap when they cannot be made", () =>
    Effect.gen(function* () {
      const { blocks, failures, progress, scene } = yield* makeTurns
      const reader = scene.connect()
      reader.say(trades("a"))
      blocks.take(blockOf(1))
      yield* until(() => progress.slot === 1)
      const { batch, ...counted } = blockOf(2)
      const unreadable = Object.defineProperty(trade({ mint: A }), "role", {
        get: () => {
          throw new Error("unreadable")
        }
      })
      blocks.take({ ...counted, batch: { ...batch, trades: batch.trades.with(100, unreadable) } })
      blocks.take(blockOf(3))
      yield* until(() => progress.slot === 3)
      assert.lengthOf(failures, 1)
      assert.deepStrictEqual(
        reader.wire.frames.filter(({ type }) => type === "gap").map(({ data }) => data),
        [{ fromMs: 1000, toMs: 3000, reason: "behind" }]
      )
      assert.lengthOf(placesOf(reader), 2 * TRADES)
    })
  )
})
