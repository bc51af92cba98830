/** A scripted chain and processes that read it, for tests of repairs. */
import { Clock, ConfigProvider, Context, Effect, Exit, Layer, Queue, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { type Address, type Mint, SOL, USDC } from "../../../src/domain/Address.ts"
import type { GapReason } from "../../../src/chain/blocks/BlockFeed.ts"
import type { TradeBatch } from "../../../src/market/model/TradeBatch.ts"
import { type ReadAgain, TradeFeed } from "../../../src/market/tape/TradeFeed.ts"
import { Market } from "../../../src/market/tape/Market.ts"
import { windowNames } from "../../../src/market/model/windows.ts"
import { PriceBook } from "../../../src/tokens/PriceBook.ts"
import { leg, netOf, transactionOf } from "./decoded.ts"
import { mintOf, MONDAY, seededRandom, walletOf } from "./tape.ts"
import { type MarketStores } from "../../../src/market/model/MarketStores.ts"
import { layerOf } from "../../support/marketStores.ts"

export const FIRST = 1000
/** The slot in which a wallet trades for the only time, and the slot in which it receives more of the token. */
export const TRADED_AT = FIRST + 30
export const RECEIVED_AT = FIRST + 46
export const RECEIVER = walletOf(50)
const MINTS = 5
const WALLETS = 7

/** Seconds a slot, unless given. */
const PACE = 2

/** Every slot has a block, except every eleventh. */
export const hasBlock = (slot: number): boolean => slot % 11 !== 0
export const timeOf = (slot: number, pace = PACE): number => (MONDAY + pace * (slot - FIRST)) * 1000
const parentOf = (slot: number): number => (hasBlock(slot - 1) ? slot - 1 : slot - 2)

/**
 * The block of a slot: some trades of tokens for SOL, one between two tokens, one for dollars, often one of SOL for
 * dollars at a moving price, and now and then a launch.
 */
export const blockOf = (slot: number, pace = PACE): TradeBatch => {
  const roll = seededRandom(slot)
  const pick = (most: number) => Math.floor(roll() * most)
  const sol = leg({
    slot,
    indexInBlock: 9,
    token: { mint: SOL, amount: 1_000_000_000n, decimals: 9 },
    quote: { mint: USDC, amount: 150_000_000n + BigInt(slot - FIRST) * 100_003n + BigInt(pick(9_000_000)), decimals: 6 }
  })
  const dollars = leg({
    slot,
    indexInBlock: 8,
    token: { mint: mintOf(pick(MINTS)), amount: BigInt(1 + pick(1_000_000)), decimals: 6 },
    quote: { mint: USDC, amount: BigInt(1 + pick(50_000_000)), decimals: 6 }
  })
  const [given, received] = [pick(MINTS), 1 + pick(MINTS - 1)]
  // Earlier swaps of one of its tokens give it a value.
  const ofTwo = leg({
    slot,
    indexInBlock: 7,
    wallet: walletOf(pick(WALLETS)),
    token: { mint: mintOf((given + received) % MINTS), amount: BigInt(1 + pick(1_000_000)), decimals: 6 },
    quote: { mint: mintOf(given), amount: BigInt(1 + pick(1_000_000)), decimals: 6 }
  })
  const fee = { mint: SOL, amount: BigInt(1 + pick(90_000)), decimals: 9, recipient: walletOf(WALLETS), outer: 1 }
  const swaps = Array.from({ length: 1 + pick(3) }, (_, indexInBlock) =>
    leg({
      slot,
      indexInBlock,
      wallet: walletOf(pick(WALLETS)),
      side: roll() < 0.5 ? "buy" : "sell",
      token: { mint: mintOf(pick(MINTS)), amount: BigInt(1 + pick(1_000_000)), decimals: 6 },
      quote: { mint: SOL, amount: BigInt(1 + pick(1_000_000_000)), decimals: 9 },
      dex: roll() < 0.5 ? "raydium-cpmm" : "pumpswap"
    })
  )
  const own = leg({ slot, indexInBlock: 10, wallet: RECEIVER, token: { mint: mintOf(0), amount: 9n, decimals: 6 } })
  const move = {
    owner: RECEIVER,
    mint: mintOf(0),
    before: 9n,
    after: 12n,
    delta: 3n,
    decimals: 6,
    native: false,
    cause: "transfer" as const
  }
  const each = [...swaps, ofTwo, dollars, ...(slot % 3 === 1 ? [sol] : []), ...(slot === TRADED_AT ? [own] : [])]
  return {
    slot,
    timeMs: timeOf(slot, pace),
    transactions: each.map((swap, index) =>
      transactionOf({
        index,
        legs: [swap],
        moves: slot === RECEIVED_AT && index === 0 ? [move] : [],
        nets: [{ ...netOf(swap, [0]), fees: [{ ...fee, kind: "front-end", included: false, inner: null }] }]
      })
    ),
    launches:
      slot % 20 === 1 ? [{ event: "created", mint: mintOf(pick(MINTS)), launchpad: "pump-fun", pool: null }] : [],
    afterGap: false
  }
}

/** By the pools, SOL has a different price each time. */
const prices = Layer.succeed(PriceBook, {
  at: (nowMs) => ({
    of: (mint) =>
      mint === SOL ? { sol: null, usd: { numerator: BigInt(nowMs % 1_000_003), denominator: 20n } } : null,
    lifetime: { observedAtMs: nowMs, expiresAtMs: nowMs + 10_000 },
    isStale: false,
    silentMs: 0,
    clock: { slot: 1, epoch: 0, unixTimestamp: MONDAY }
  }),
  warm: () => Effect.void
})

/** Why a slot cannot be read again; null when it can. */
export type Faults = (slot: number) => GapReason | null

/** Each slot fails up to `most` times, depending on its number. */
export const failing = (most: number): Faults => {
  const asked = new Map<number, number>()
  return (slot) => {
    const times = asked.get(slot) ?? 0
    asked.set(slot, times + 1)
    return times < slot % (most + 1) ? "unreadable" : null
  }
}

/** A process on a store. `read` passes the blocks of these slots to its tape; slots that are left out make a gap. */
export const process = Effect.fnUntraced(function* (
  store: MarketStores,
  faults: Faults = () => null,
  settings: Record<string, string> = {},
  /** Lets a store in another process do its work. */
  pause: Effect.Effect<void> = Effect.void,
  pace = PACE
) {
  const scope = yield* Scope.make()
  const queue = yield* Queue.unbounded<TradeBatch>()
  const asked: Array<number> = []
  const feed = Layer.succeed(TradeFeed, {
    chain: Effect.succeed({ genesis: "repaired", isSandbox: true }),
    batches: (after) =>
      Stream.fromQueue(queue).pipe(
        Stream.mapAccum(
          () => (after === 0 ? null : after),
          (last, block) => [block.slot, [{ ...block, afterGap: last !== null && last !== parentOf(block.slot) }]]
        )
      ),
    again: (slot) =>
      Effect.sync((): ReadAgain => {
        asked.push(slot)
        const reason = faults(slot) ?? (hasBlock(slot) ? null : "missing")
        return reason === null
          ? { _tag: "Block", batch: blockOf(slot, pace), parentSlot: parentOf(slot) }
          : { _tag: "Missing", reason }
      }),
    list: (from, limit) =>
      Effect.succeed(
        Array.from({ length: 2 * limit }, (_, i) => from + i)
          .filter(hasBlock)
          .slice(0, limit)
      )
  })
  const config = ConfigProvider.layer(ConfigProvider.fromUnknown(settings))
  const layer = Market.layer.pipe(Layer.provide([feed, prices, layerOf(store), config]))
  const tape = Context.get(yield* Layer.buildWithScope(layer, scope), Market)
  const settle = Effect.repeat(Effect.andThen(TestClock.adjust("100 millis"), pause), { times: 5 })
  const read = Effect.fnUntraced(function* (slots: ReadonlyArray<number>) {
    for (const slot of slots.filter(hasBlock)) {
      yield* TestClock.setTime(Math.max(timeOf(slot, pace), yield* Clock.currentTimeMillis))
      yield* Queue.offer(queue, blockOf(slot, pace))
      yield* TestClock.adjust("300 millis")
      yield* pause
    }
    yield* settle
  })
  yield* settle
  if ((yield* Effect.orElseSucceed(store.blocks.progress, () => null)) !== null) {
    yield* Effect.repeat(settle, { until: () => tape.heardAtMs() !== null })
  }
  return { tape, read, asked, end: Scope.close(scope, Exit.void) }
})

export const slots = (from: number, to: number): ReadonlyArray<number> =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i)

/** The mints and wallets of the scripted chain, and a second after its last block. */
const scripted = {
  mints: [SOL, ...Array.from({ length: MINTS }, (_, n) => mintOf(n))],
  owners: Array.from({ length: WALLETS }, (_, n) => walletOf(n)),
  before: MONDAY + 1_000_000
}

/** Everything that a process answers, from its tape and its store. */
export const answersOf = Effect.fnUntraced(function* (
  tape: Market["Service"],
  store: MarketStores,
  { before, mints, owners }: { mints: ReadonlyArray<Mint>; owners: ReadonlyArray<Address>; before: number } = scripted
) {
  const { state } = tape
  const window = { from: null, to: null, limit: 10_000 }
  const stored = yield* Effect.forEach(mints, (mint) =>
    Effect.forEach(["1s", "1m", "1h"] as const, (resolution) =>
      store.candles.bars({ mint, resolution, from: null, before, limit: 10_000 })
    )
  )
  const wallets = yield* Effect.forEach(owners, (wallet) => store.trades.ofWallet(wallet, 100_000))
  return {
    now: state.now,
    windows: mints.map((mint) => windowNames.map((name) => state.window(mint, name))),
    bars: mints.map((mint) =>
      (["1s", "1m", "1h"] as const).map((resolution) => state.bars(mint, { ...window, resolution }))
    ),
    traders: mints.map((mint) =>
      (["1h", "24h", "all"] as const).map(
        (name) => state.topTraders({ mint, window: name, limit: 50, pin: null, nowMs: state.now * 1000 })?.rows
      )
    ),
    markets: state.markets
      .rows()
      .map(({ activity, kind, name }) => ({ kind, name, windows: [0, 1, 2, 3].map((index) => activity.read(index)) }))
      .toSorted((a, b) => (a.kind + a.name < b.kind + b.name ? -1 : 1)),
    launches: Array.from(tape.launches.all()),
    stored,
    wallets
  }
})

/** A store of its own. */

/** Waits until the store lacks nothing, and then until memory was rebuilt. Calls `look` at every step. */
export const repaired = Effect.fnUntraced(function* (tape: Market["Service"], look: () => void = () => undefined) {
  const step = Effect.tap(TestClock.adjust("2 seconds"), () => Effect.sync(look))
  const isWhole = () => tape.gaps().length === 0 && tape.readFrom(timeOf(FIRST) / 1000 + 1).complete
  yield* Effect.repeat(step, { until: isWhole, times: 600 })
  yield* Effect.repeat(step, { times: 20 })
})

/** Lets repairs run. */
export const repairing = (minutes: number) => Effect.repeat(TestClock.adjust("2 seconds"), { times: 30 * minutes })
