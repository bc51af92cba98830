import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { SOL } from "../../../src/domain/Address.ts"
import {
  imageEntries,
  imageList,
  ImageMismatch,
  ImageReader,
  ImageTooLarge,
  ImageWriter
} from "../../../src/market/columnar/StateImage.ts"
import { layoutOf } from "../../../src/market/history/compression.ts"
import { addBlock, emptyChain, imageOfChain } from "../../../src/market/memory/TapedChain.ts"
import { type MarketLimits, MarketState } from "../../../src/market/memory/MarketState.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { windowNames } from "../../../src/market/model/windows.ts"
import { makeTape, mintOf, seededRandom, walletOf } from "../tape/tape.ts"

const TOKENS = 9
const WALLETS = 24
const roomy: MarketLimits = { tokens: 1000, bars: 100_000, trades: 1000, traders: 10_000 }
/** Tokens, wallets, pools and bars are forgotten to make room for others. */
const tight: MarketLimits = { tokens: 6, bars: 160, trades: 1000, traders: 40 }

const nowMs = Number.MAX_SAFE_INTEGER

/** A tape with pools, venues and launchpads. Some of its trades come late. */
const tapeOf = (seed: number, trades: number, paceSeconds: number): ReadonlyArray<TapeTrade> => {
  const roll = seededRandom(seed)
  const tape = makeTape({ seed, trades, tokens: TOKENS, wallets: WALLETS, paceSeconds })
  const launchpads = ["pump-fun", null, "launchlab"]
  return tape.map((trade, place) => {
    const of = {
      ...trade,
      pool: walletOf(1000 + Math.floor(roll() * 40)),
      launchpad: launchpads[Math.floor(roll() * 3)] ?? null,
      role: (["both", "both", "pool", "wallet"] as const)[Math.floor(roll() * 4)] ?? "both"
    }
    const before = tape[Math.max(0, place - 40)]
    return roll() < 0.05 && before !== undefined ? { ...of, timeMs: before.timeMs } : of
  })
}

const apply = (state: MarketState, trades: ReadonlyArray<TapeTrade>): void => {
  for (const trade of trades) {
    state.apply([trade], nowMs)
    if (trade.slot % 7 === 0) {
      state.addLaunch(trade.slot % 2 === 0 ? "created" : "migrated", "pump-fun", trade.timeMs)
    }
  }
}

const writtenBy = (state: MarketState): ImageWriter => {
  const writer = new ImageWriter()
  for (const _ of state.image(writer)) {
    // Every step.
  }
  writer.end()
  return writer
}

const readFrom = (writer: ImageWriter, limits: MarketLimits): MarketState => {
  const state = new MarketState(limits, "read")
  const reader = new ImageReader()
  writer.parts.forEach((part) => reader.add(part))
  for (const _ of state.image(reader)) {
    // Every step.
  }
  assert.strictEqual(reader.available, 0)
  return state
}

/** Every figure that the state answers. */
const answersOf = (state: MarketState) => {
  const mints = [SOL, ...Array.from({ length: TOKENS }, (_, n) => mintOf(n))]
  const all = { from: null, to: null, limit: 100_000 }
  return {
    now: [state.now, state.heldFrom, state.tokens, state.traders.size],
    tokens: mints.map((mint) => ({
      seen: state.seen(mint),
      last: state.lastPrice(mint),
      windows: windowNames.map((name) => state.window(mint, name)),
      bars: (["1s", "1m", "1h", "1d"] as const).map((resolution) => [
        state.bars(mint, { ...all, resolution }),
        state.heldSince(mint, resolution),
        state.boughtSince(mint, resolution, 0)
      ]),
      traders: (["1h", "24h", "all"] as const).map(
        (window) => state.topTraders({ mint, window, limit: 1000, pin: null, nowMs: state.now * 1000 })?.rows
      ),
      isTrader: Array.from({ length: WALLETS }, (_, n) => state.isTrader({ mint, wallet: walletOf(n) }))
    })),
    scans: windowNames.map((name) => {
      const found: Array<unknown> = []
      state.scan(name, (token, glance) => found.push([state.mintOfToken(token), { ...glance }]))
      return found
    }),
    markets: state.markets
      .rows()
      .map(({ activity, kind, name }) => ({ kind, name, windows: [0, 1, 2, 3].map((index) => activity.read(index)) })),
    pools: Array.from({ length: 40 }, (_, n) => state.pools.read(walletOf(1000 + n), state.now)),
    poolsFrom: state.pools.heldFrom
  }
}

describe("the layout of an image", () => {
  // Snapshots of another layout are read as this one unless the version differs. Raise the version when this fails.
  it("matches its version", () => {
    const chain = emptyChain(roomy)
    for (const trade of tapeOf(3, 300, 40)) {
      const event = trade.slot % 2 === 0 ? "created" : "migrated"
      const launch = { event, mint: trade.mint, launchpad: "pump-fun", pool: null } as const
      const { slot, timeMs } = trade
      addBlock(
        chain,
        { slot, timeMs, trades: [trade], launches: slot % 7 === 0 ? [launch] : [], afterGap: false },
        nowMs
      )
    }
    const writer = new ImageWriter()
    for (const _ of imageOfChain(chain, writer)) {
      // Every step.
    }
    writer.end()
    const sum = createHash("sha256")
    writer.parts.forEach((part) => sum.update(part))
    assert.deepStrictEqual(
      { layout: layoutOf(roomy), size: writer.size, sum: sum.digest("hex").slice(0, 16) },
      { layout: "5 LE 1000 10000 100000", size: 2_475_378, sum: "a558c4158d9d19ef" }
    )
  })
})

describe("the image of a market state", () => {
  it.each([
    { name: "with room for everything", limits: roomy, pace: 20 },
    { name: "that forgets to make room", limits: tight, pace: 20 },
    { name: "of some days", limits: roomy, pace: 400 }
  ])("is the state $name, at once and after the same trades", ({ limits, pace }) => {
    const trades = tapeOf(1, 700, pace)
    const cut = 437
    const whole = new MarketState(limits, "whole")
    apply(whole, trades.slice(0, cut))
    const writer = writtenBy(whole)
    const read = readFrom(writer, limits)
    assert.deepStrictEqual(answersOf(read), answersOf(whole))
    // A second image is the same, so nothing was lost that no figure shows yet.
    assert.deepStrictEqual(readFrom(writtenBy(read), limits).usedBytes, read.usedBytes)
    const undisturbed = new MarketState(limits, "undisturbed")
    apply(undisturbed, trades)
    for (const state of [whole, read]) {
      apply(state, trades.slice(cut))
      assert.deepStrictEqual(answersOf(state), answersOf(undisturbed))
    }
  })

  it("stays the same while others read the state", () => {
    const trades = tapeOf(9, 600, 60)
    const state = new MarketState(roomy, "state")
    apply(state, trades)
    const expected = answersOf(state)
    const quiet = new MarketState(roomy, "quiet")
    apply(quiet, trades)
    const writer = new ImageWriter()
    let steps = 0
    for (const _ of quiet.image(writer)) {
      steps++
      if (steps % 20 === 0) {
        answersOf(quiet)
      }
    }
    writer.end()
    assert.isAbove(steps, 60)
    assert.deepStrictEqual(answersOf(readFrom(writer, roomy)), expected)
  })

  it("is refused when it is cut or larger than its bound", () => {
    const state = new MarketState(roomy, "state")
    apply(state, tapeOf(4, 300, 20))
    const writer = writtenBy(state)
    const cut = new ImageReader()
    cut.add((writer.parts[0] ?? new Uint8Array(0)).subarray(0, writer.size - 9))
    assert.throws(() => Array.from(new MarketState(roomy, "cut").image(cut)), ImageMismatch)
    assert.throws(() => Array.from(state.image(new ImageWriter(writer.size - 1))), ImageTooLarge)
  })
})

/** Counts the entries that were looked at. */
class LookedAt extends Map<number, number> {
  count = 0;

  override *entries(): MapIterator<[number, number]> {
    for (const entry of super.entries()) {
      this.count++
      yield entry
    }
  }

  override [Symbol.iterator](): MapIterator<[number, number]> {
    return this.entries()
  }
}

describe("the steps of an image", () => {
  it("look at a few entries of a large map each", () => {
    const map = new LookedAt(Array.from({ length: 1000 }, (_, n) => [n, n * n]))
    const writer = new ImageWriter()
    map.count = 0
    const steps = imageEntries(writer, map, 8, (key = 0, value = 0) => [writer.number(key), writer.number(value)])
    for (let step = 1; step <= 125; step++) {
      assert.isFalse(steps.next().done)
      assert.strictEqual(map.count, 8 * step)
    }
  })

  it("write and read a long list piece by piece", () => {
    const list = Array.from({ length: 100_000 }, (_, n) => (n * 2_654_435_761) % 2 ** 32)
    const [writer, reader] = [new ImageWriter(), new ImageReader()]
    const sizes = Array.from(imageList(writer, list), () => writer.size)
    sizes.forEach((size, step) => assert.isAtMost(size - (sizes[step - 1] ?? 0), 40_000))
    writer.end()
    writer.parts.forEach((part) => reader.add(part))
    const read = [1, 2, 3]
    assert.lengthOf(Array.from(imageList(reader, read)), sizes.length)
    assert.deepStrictEqual(read, list)
  })

  it("keep texts of any length and alphabet", () => {
    const texts = ["", "SOL", "\u00e9\u{1f600}", "x".repeat(85), "\u4e2d".repeat(86), "y".repeat(5000)]
    const [writer, reader] = [new ImageWriter(), new ImageReader()]
    texts.forEach((text) => writer.text(text))
    writer.end()
    writer.parts.forEach((part) => reader.add(part))
    assert.deepStrictEqual(
      texts.map(() => reader.text("")),
      texts
    )
  })
})
