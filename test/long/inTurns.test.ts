/** Blocks are applied in turns of the event loop. Whoever reads between two turns sees the whole block. */
import { assert, it } from "@effect/vitest"
import { wholeOf } from "../../src/market/memory/MarketState.ts"
import { Effect, Exit, Fiber, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { ownTurn } from "../../src/domain/loopTime.ts"
import type { MarketReads, MarketStateReads } from "../../src/market/tape/MarketReads.ts"
import { makeMarket } from "../../src/market/tape/makeMarket.ts"
import type { PricedBatch } from "../../src/market/model/TradeBatch.ts"
import type { TapeTrade } from "../../src/market/model/TapeTrade.ts"
import { windowNames } from "../../src/market/model/windows.ts"
import { makeTape, mintOf, MONDAY, trade, walletOf } from "../market/tape/tape.ts"
import { poolOf } from "../market/tape/decoded.ts"

const NOW_MS = (MONDAY + 3600) * 1000
const TOKENS = 12
const WALLETS = 30
/** Of a block: two whole steps of 128 and a part. */
const TRADES = 300
const STEPS = 3
const limits = { tokens: TOKENS + 5, bars: 10_000, trades: 10_000, traders: 10_000 }
const tokens = Array.from({ length: TOKENS }, (_, n) => mintOf(n))
const wallets = Array.from({ length: WALLETS }, (_, n) => walletOf(n))

const blockOf = (trades: ReadonlyArray<TapeTrade>, slot: number, newToken: number): PricedBatch => ({
  slot,
  timeMs: trades.at(-1)?.timeMs ?? 0,
  trades: trades.map((each, index) => ({ ...each, slot, index, pool: poolOf(index % 5) })),
  transactions: [],
  launches: [{ event: "created", mint: mintOf(newToken), launchpad: "pump-fun", pool: null }],
  checks: [{ dex: "raydium-cpmm", counts: { confirmed: slot } }],
  afterGap: slot > 1
})

/** Two blocks of a seed. The second has tokens and wallets that the first one lacks. */
const blocksOf = (seed: number) => {
  const tape = makeTape({ seed, trades: 2 * TRADES, tokens: TOKENS, wallets: WALLETS, paceSeconds: 0.02 })
  const first = tape.slice(0, TRADES).filter(({ mint, wallet }) => mint !== mintOf(3) && wallet !== walletOf(5))
  return [blockOf(first, 1, 1), blockOf(tape.slice(TRADES), 5, 2)] as const
}

const ofTokens = (read: (mint: (typeof tokens)[number]) => unknown) => () => tokens.map(read)

/** First pages of top traders share a view for 2 s. */
const asked = { atMs: 0 }

/** Every read of the state. A new one must be added here. */
const readsOfState = (reads: Pick<MarketReads, "state">): Record<keyof MarketStateReads, () => unknown> => ({
  bars: ofTokens((mint) => reads.state.bars(mint, { resolution: "1s", from: null, to: null, limit: 100 })),
  boughtSince: ofTokens((mint) => reads.state.boughtSince(mint, "1s", 0)),
  has: ofTokens((mint) => reads.state.has(mint)),
  heldFrom: () => reads.state.heldFrom,
  lastPrice: ofTokens((mint) => reads.state.lastPrice(mint)),
  markets: () => reads.state.markets.rows().map(({ activity, name }) => [name, activity.read(0), activity.read(3)]),
  mintOfToken: () => reads.state.mintOfToken(11),
  now: () => reads.state.now,
  pools: () => [0, 1, 2, 3, 4].map((n) => reads.state.pools.read(poolOf(n), reads.state.now)),
  scan: () => {
    const seen: Array<unknown> = []
    reads.state.scan("24h", (token, glance) => seen.push([token, { ...glance }]))
    return seen
  },
  scanInSteps: () => {
    const seen: Array<unknown> = []
    wholeOf(reads.state.scanInSteps("24h", (token, glance) => seen.push([token, { ...glance }])))
    return seen
  },
  seen: ofTokens((mint) => reads.state.seen(mint)),
  tokens: () => reads.state.tokens,
  topTraders: ofTokens((mint) => {
    const request = { mint, window: "1h", limit: 50, pin: null, nowMs: (asked.atMs += 10_000) } as const
    return reads.state.topTraders(request)?.rows
  }),
  traderOf: ofTokens((mint) => wallets.map((wallet) => reads.state.traderOf(mint, wallet))),
  walletSums: () => {
    const steps = reads.state.walletSums("24h")
    let step = steps.next()
    while (step.done !== true) {
      step = steps.next()
    }
    const sums = step.value
    return Array.from({ length: sums.size }, (_, place) => sums.at(place)).toSorted((a, b) =>
      (a?.wallet ?? "") < (b?.wallet ?? "") ? -1 : 1
    )
  },
  window: ofTokens((mint) => windowNames.map((name) => reads.state.window(mint, name)))
})

/** Every other read. Streams and waits are tested by themselves. */
const readsOfMarket = (
  reads: MarketReads
): Record<
  Exclude<keyof MarketReads, "applied" | "appliedCounted" | "restored" | "state" | "whole">,
  () => unknown
> => ({
  aliveAtMs: () => reads.aliveAtMs(),
  coverageFrom: () => reads.coverageFrom(MONDAY, NOW_MS),
  decimalsOf: ofTokens((mint) => reads.decimalsOf(mint)),
  decoding: () => reads.decoding().read(),
  firstRead: () => reads.firstRead(),
  gaps: () => reads.gaps(),
  heardAtMs: () => reads.heardAtMs(),
  heldSince: ofTokens((mint) => reads.heldSince(mint, "1s")),
  isRestoring: () => reads.isRestoring(),
  launches: () => [reads.launches.of(mintOf(1)), reads.launches.of(mintOf(2)), reads.launches.droppedToMs],
  newestSlot: () => reads.newestSlot(),
  readFrom: () => reads.readFrom(0),
  recent: () => reads.recent.newest(() => true, 10, 1_000).map(({ signature }) => signature),
  recordedFrom: () => reads.recordedFrom(0),
  recordedSince: () => reads.recordedSince(),
  reportsLaunches: () => reads.reportsLaunches(),
  since: () => reads.since(),
  stored: () => reads.stored(),
  unstored: () => reads.unstored()
})

type Made = Effect.Success<ReturnType<typeof makeMarket>>

const readsOfTape = ({ tape }: Made): Record<"isTrader" | "missing" | "newest", () => unknown> => ({
  isTrader: ofTokens((mint) => wallets.map((wallet) => tape.isTrader({ mint, wallet }))),
  missing: () => tape.missing(),
  newest: () => tape.newest()
})

const readsOf = (made: Made): Record<string, () => unknown> => ({
  ...readsOfState(made.market),
  ...readsOfMarket(made.market),
  ...readsOfTape(made)
})

const inTurns = (turns: number) => Effect.forEach(Array.from({ length: turns }), () => ownTurn, { discard: true })

/** A market that has applied these blocks. */
const begun = Effect.fnUntraced(function* (...blocks: ReadonlyArray<PricedBatch>) {
  yield* TestClock.setTime(NOW_MS)
  const made = yield* makeMarket(limits)
  yield* Effect.forEach(blocks, made.tape.apply)
  return made
})

/** A market that has applied one block, and `steps` steps of the next one. */
const halfway = Effect.fnUntraced(function* ([first, second]: ReturnType<typeof blocksOf>, steps: number) {
  const made = yield* begun(first)
  const applying = yield* Effect.forkChild(made.tape.apply(second), { startImmediately: true })
  yield* inTurns(steps)
  return { ...made, applying }
})

const bigints = (_: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value)

it.effect("every read between two turns sees a whole block", () =>
  Effect.gen(function* () {
    const names = Object.keys(readsOf(yield* begun()))
    let changed = 0
    for (const [place, name] of names.entries()) {
      const blocks = blocksOf(1 + place)
      const readOf = (made: Made) => readsOf(made)[name]?.()
      const [before, after] = [readOf(yield* begun(blocks[0])), readOf(yield* begun(...blocks))]
      changed += JSON.stringify([before], bigints) === JSON.stringify([after], bigints) ? 0 : 1
      for (let steps = 0; steps <= STEPS; steps++) {
        const scene = yield* halfway(blocks, steps)
        assert.deepStrictEqual(readOf(scene), steps === 0 ? before : after, `${name} after ${steps} steps`)
        yield* Fiber.join(scene.applying)
        assert.deepStrictEqual(readOf(scene), after, `${name} at the end`)
      }
    }
    // Most reads change with the block, or this would say nothing.
    assert.isAtLeast(changed, 20)
  })
)

it.effect("a block of three steps takes three turns", () =>
  Effect.gen(function* () {
    const { applying } = yield* halfway(blocksOf(1), STEPS - 1)
    assert.isUndefined(applying.pollUnsafe())
    yield* ownTurn
    assert.isDefined(applying.pollUnsafe())
  })
)

it.effect("a block is published once, together with its last step", () =>
  Effect.gen(function* () {
    const blocks = blocksOf(4)
    for (let steps = 1; steps <= STEPS; steps++) {
      const { applying, market } = yield* halfway(blocks, steps)
      // Who has read the block and subscribes afterwards does not get it again.
      assert.strictEqual(market.newestSlot(), 5)
      const heard = yield* Effect.forkChild(Stream.runHead(market.applied), { startImmediately: true })
      yield* Fiber.join(applying)
      yield* inTurns(5)
      assert.isUndefined(heard.pollUnsafe())
      yield* Fiber.interrupt(heard)
    }
    const { applying, market } = yield* halfway(blocks, 0)
    const heard = yield* Effect.forkChild(Stream.runHead(market.applied), { startImmediately: true })
    yield* Fiber.join(applying)
    assert.strictEqual(Option.getOrThrow(yield* Fiber.join(heard)).slot, 5)
  })
)

const sums = ({ market }: Pick<Made, "market">) =>
  tokens.map((mint) => windowNames.map((name) => market.state.window(mint, name)))

it.effect("a rebuild that begins or ends during a block has it once", () =>
  Effect.gen(function* () {
    const blocks = blocksOf(5)
    const whole = yield* begun(...blocks)
    const progress = { firstSlot: 1, readFrom: 0, gaps: [], repairs: 0 }
    for (let steps = 1; steps <= STEPS; steps++) {
      const early = yield* halfway(blocks, steps)
      yield* early.tape.rebuild((memory) =>
        Effect.sync(() => {
          blocks.forEach((block) => memory.add(block, block.timeMs))
          return { progress: { ...progress, slot: 5, timeMs: blocks[1].timeMs }, from: 0 }
        })
      )
      yield* Fiber.join(early.applying)
      assert.deepStrictEqual(sums(early), sums(whole), `begun after ${steps} steps`)

      const late = yield* begun(blocks[0])
      yield* late.tape.rebuild((memory) =>
        Effect.gen(function* () {
          memory.add(blocks[0], blocks[0].timeMs)
          yield* Effect.forkDetach(late.tape.apply(blocks[1]), { startImmediately: true })
          yield* inTurns(steps)
          return { progress: { ...progress, slot: 1, timeMs: blocks[0].timeMs }, from: 0 }
        })
      )
      yield* inTurns(STEPS)
      assert.deepStrictEqual(sums(late), sums(whole), `ended after ${steps} steps`)
    }
  })
)

it.effect("a rebuild counts trades as they counted when they came, whatever the clock says at its end", () =>
  Effect.gen(function* () {
    const blocks = blocksOf(7)
    const whole = yield* begun(...blocks)
    const { tape, market } = yield* begun(blocks[0])
    yield* tape.rebuild((memory) =>
      Effect.gen(function* () {
        memory.add(blocks[0], blocks[0].timeMs)
        yield* tape.apply(blocks[1])
        // Long before the block. Its trades would be of the future.
        yield* TestClock.setTime(MONDAY * 1000 - 3_600_000)
        const progress = { firstSlot: 1, readFrom: 0, gaps: [], repairs: 0, slot: 1, timeMs: blocks[0].timeMs }
        return { progress, from: 0 }
      })
    )
    assert.deepStrictEqual(sums({ market }), sums(whole))
  })
)

it.effect("a block that cannot be applied fails its writer, not the reader that asks for the rest", () =>
  Effect.gen(function* () {
    const [first, second] = blocksOf(6)
    const unreadable: TapeTrade = Object.defineProperty({ ...trade() }, "timeMs", {
      get: () => {
        throw new Error("unreadable")
      }
    })
    const trades = second.trades.with(200, unreadable)
    const { applying, market, tape } = yield* halfway([first, { ...second, trades }], 1)
    assert.strictEqual(market.heardAtMs(), NOW_MS)
    assert.isDefined(market.state.window(mintOf(1), "1h"))
    assert.isTrue(Exit.isFailure(yield* Fiber.await(applying)))
    yield* tape.apply({ ...second, slot: 6 })
    assert.strictEqual(market.newestSlot(), 6)
  })
)

it.effect("who waits for a whole block applies none of it, and goes on before the next block begins", () =>
  Effect.gen(function* () {
    const [first, second] = blocksOf(8)
    for (let steps = 1; steps < STEPS; steps++) {
      const { applying, market, tape } = yield* halfway([first, second], steps)
      const next = yield* Effect.forkChild(tape.apply({ ...second, slot: 6 }), { startImmediately: true })
      const waiting = yield* Effect.forkChild(
        Effect.map(market.whole, () => [applying.pollUnsafe() !== undefined, market.newestSlot()]),
        { startImmediately: true }
      )
      for (let turn = steps; turn < STEPS - 1; turn++) {
        yield* ownTurn
        assert.isUndefined(applying.pollUnsafe(), `${steps} steps, turn ${turn}`)
        assert.isUndefined(waiting.pollUnsafe(), `${steps} steps, turn ${turn}`)
      }
      assert.deepStrictEqual(yield* Fiber.join(waiting), [true, 5])
      yield* Fiber.join(next)
      assert.isDefined((yield* Effect.forkChild(market.whole, { startImmediately: true })).pollUnsafe())
    }
  })
)

it.effect("nobody waits for a block that a reader has completed, that has failed, or whose chain has ended", () =>
  Effect.gen(function* () {
    const [first, second] = blocksOf(9)
    const broken: TapeTrade = Object.defineProperty({ ...trade() }, "timeMs", {
      get: () => {
        throw new Error("unreadable")
      }
    })
    const failing = { ...second, trades: second.trades.with(290, broken) }
    for (const block of [second, failing]) {
      for (const end of [
        (made: Made) => void made.market.newestSlot(),
        (made: Made) => made.tape.startAnew(),
        () => undefined
      ]) {
        const made = yield* halfway([first, block], 1)
        const waiting = yield* Effect.forkChild(made.tape.whole, { startImmediately: true })
        assert.isUndefined(waiting.pollUnsafe())
        end(made)
        yield* inTurns(STEPS)
        assert.isDefined(waiting.pollUnsafe())
        yield* Fiber.await(made.applying)
      }
    }
  })
)

it.effect("the repair worker asks and notes what is missing without applying the rest of a block", () =>
  Effect.gen(function* () {
    const { applying, market, tape } = yield* halfway(blocksOf(10), 1)
    const second = { fromSecond: MONDAY, toSecond: MONDAY }
    tape.noteGaps([{ ...second, fromSlot: 2, toSlot: 3, state: "open", tries: 0, nextTryAtMs: 0 }])
    tape.backfilling(null)
    assert.strictEqual(tape.missing().gaps.length, 1)
    yield* ownTurn
    assert.isUndefined(applying.pollUnsafe())
    yield* Fiber.join(applying)
    assert.deepStrictEqual(market.gaps(), tape.missing().gaps)
  })
)
