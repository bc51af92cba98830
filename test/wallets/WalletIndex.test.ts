import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { SOL } from "../../src/domain/Address.ts"
import { Market } from "../../src/market/tape/Market.ts"
import { Tape } from "../../src/market/tape/Tape.ts"
import { WatchedWallets } from "../../src/market/tape/WatchedWallets.ts"
import type { BlockTransaction } from "../../src/chain/decoding/TradeBlock.ts"
import { tradingHistory, WalletIndex } from "../../src/wallets/WalletIndex.ts"
import { WalletRings } from "../../src/wallets/WalletRings.ts"
import { bytesOf, shareOfBatch, takeShare } from "../../src/wallets/walletShare.ts"
import { EVIDENCE } from "./identities.ts"
import { blockOf, MINT, MINT_2, OTHER, START, tradeOf, WALLET, walletOf } from "./trades.ts"
import { marketStores } from "../../src/market/model/MarketStores.ts"
import * as MemoryStores from "../../src/testing/MemoryStores.ts"

const SHARE = { events: 5, bytes: 1_000_000 }
const slots = (history: { readonly trades: ReadonlyArray<{ readonly slot: number }> } | null) =>
  history?.trades.map(({ slot }) => slot)
const inSlots = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => tradeOf({ slot: from + i }))

const movedIn = (slot: number, mint = MINT) => tradeOf({ slot, index: 1, role: "transfer", mint })
const byOther = (slot: number) => [tradeOf({ slot, wallet: OTHER })]

/** A transaction of a block without a time. */
const undatedTransaction: BlockTransaction = {
  signature: EVIDENCE,
  index: 0,
  transfers: [],
  changes: [],
  moves: [],
  unresolved: 0,
  nets: [],
  legs: [
    {
      signature: EVIDENCE,
      slot: 20,
      blockTime: null,
      indexInBlock: 0,
      outer: 0,
      inner: null,
      feeLamports: 5000n,
      wallet: WALLET,
      side: "buy",
      token: { mint: MINT, amount: 1n, decimals: 6 },
      quote: { mint: SOL, amount: 1n, decimals: 9 },
      index: 0,
      pool: OTHER,
      dex: "Raydium",
      confirmed: null,
      transferFees: null
    }
  ]
}

/** Yields until the followers of the tape have caught up. */
const settled = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

describe("a share", () => {
  it("is an equal part of ten thousand events and four mebibytes", () => {
    assert.deepStrictEqual(shareOfBatch(1), { events: 10_000, bytes: 4_194_304 })
    assert.deepStrictEqual(shareOfBatch(3), { events: 3333, bytes: 1_398_101 })
    assert.deepStrictEqual(shareOfBatch(100), { events: 100, bytes: 41_943 })
  })

  it("is used up once it is reached, by events or by bytes", () => {
    const trades = inSlots(1, 4)
    const each = bytesOf(tradeOf())
    assert.deepStrictEqual(takeShare(trades, { events: 5, bytes: 4 * each }), { trades, truncated: false })
    assert.deepStrictEqual(takeShare(trades, { events: 4, bytes: 4 * each }), { trades, truncated: true })
    assert.deepStrictEqual(takeShare(trades, { events: 2, bytes: 4 * each }).trades, trades.slice(0, 2))
    assert.deepStrictEqual(takeShare(trades, { events: 5, bytes: 4 * each - 1 }), {
      trades: trades.slice(0, 3),
      truncated: true
    })
    assert.deepStrictEqual(takeShare(trades, { events: 5, bytes: 1 }), { trades: [], truncated: true })
  })
})

describe("the trades held in memory", () => {
  it("belong to wallets, newest first, without the side of pools", () => {
    const rings = new WalletRings(100)
    rings.add(blockOf([tradeOf({ slot: 1 }), tradeOf({ slot: 1, index: 1, role: "pool" })]))
    rings.add(blockOf([tradeOf({ slot: 2, wallet: OTHER }), tradeOf({ slot: 2, role: "wallet" })]))
    assert.deepStrictEqual(slots(rings.of(WALLET)), [2, 1])
    assert.deepStrictEqual(slots(rings.of(OTHER)), [2])
    assert.isNull(rings.of(MINT_2))
  })

  it("are bounded in all, and the least recently active wallets are dropped first", () => {
    const rings = new WalletRings(4)
    rings.add(blockOf([1, 2, 3].map((n) => tradeOf({ slot: 1, wallet: walletOf(n) }))))
    rings.add(blockOf([tradeOf({ slot: 2, wallet: walletOf(1) })]))
    assert.strictEqual(rings.size, 4)
    rings.add(blockOf([tradeOf({ slot: 3, wallet: walletOf(4) })]))
    assert.isNull(rings.of(walletOf(2)))
    assert.deepStrictEqual(slots(rings.of(walletOf(1))), [2, 1])
    assert.isNull(rings.of(walletOf(1))?.droppedBeforeMs)
    rings.add(blockOf([tradeOf({ slot: 9, wallet: walletOf(2) })]))
    assert.strictEqual(rings.of(walletOf(2))?.droppedBeforeMs, START + 400, "it is known to have been forgotten")
    assert.isAtMost(rings.size, 4)
  })

  it("are at most ten thousand for one wallet, with the time from which they are complete", () => {
    const rings = new WalletRings(1_000_000)
    for (let slot = 1; slot <= 20_000; slot++) {
      rings.add(blockOf([tradeOf({ slot })]))
    }
    assert.strictEqual(rings.size, 10_000)
    const held = rings.of(WALLET)
    assert.strictEqual(held?.trades.length, 10_000)
    assert.strictEqual(held?.trades.at(-1)?.slot, 10_001)
    assert.strictEqual(held?.droppedBeforeMs, START + 10_001 * 400)
  })
})

const inMemory = (settings: Record<string, string> = {}) =>
  WalletIndex.layerMemory.pipe(
    Layer.provideMerge(Market.layerManual()),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(settings)))
  )

describe("WalletIndex.layerMemory", () => {
  it.effect("returns the newest trades up to the share, and the time that they cover", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      const index = yield* WalletIndex
      assert.isNull(yield* index.read(WALLET, SHARE))
      yield* tape.apply(blockOf([], { timeMs: START }))
      for (const trade of inSlots(10, 13)) {
        yield* tape.apply(blockOf([trade]))
      }
      yield* tape.apply(blockOf([], { timeMs: START + 60_000 }))
      yield* settled
      const whole = yield* index.read(WALLET, SHARE)
      assert.deepStrictEqual(slots(whole), [13, 12, 11, 10])
      assert.deepInclude(whole, {
        truncated: false,
        coveredFromMs: START + 1000,
        coveredUntilMs: START + 60_000,
        liveSinceMs: START + 1000,
        undated: 0
      })
      const part = yield* index.read(WALLET, { ...SHARE, events: 2 })
      assert.deepStrictEqual(slots(part), [13, 12])
      assert.deepInclude(part, { truncated: true, coveredFromMs: START + 12 * 400 })
      assert.isNull(yield* index.read(OTHER, SHARE))
    }).pipe(Effect.provide(inMemory()))
  )

  it.effect("reports missing blocks, and counts trades without a block time", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      const index = yield* WalletIndex
      yield* tape.apply(blockOf([tradeOf({ slot: 10 })]))
      const undated = blockOf([tradeOf({ slot: 20 })], { afterGap: true })
      yield* tape.apply({ ...undated, transactions: [undatedTransaction] })
      yield* settled
      const history = yield* index.read(WALLET, SHARE)
      assert.deepInclude(history, { undated: 1, coveredFromMs: START + 4000, liveSinceMs: START + 9000 })
    }).pipe(Effect.provide(inMemory()))
  )

  it.effect("holds no more than WALLET_TRADES", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      const index = yield* WalletIndex
      yield* tape.apply(blockOf([tradeOf({ slot: 1 })]))
      yield* tape.apply(blockOf([tradeOf({ slot: 2, wallet: OTHER }), tradeOf({ slot: 2, index: 1, wallet: OTHER })]))
      yield* settled
      assert.isNull(yield* index.read(WALLET, SHARE))
      assert.strictEqual((yield* index.read(OTHER, SHARE))?.trades.length, 2)
    }).pipe(Effect.provide(inMemory({ WALLET_TRADES: "2" })))
  )
})

describe("WalletIndex.layerStored", () => {
  const world = WalletIndex.layerStored.pipe(
    Layer.provideMerge(MemoryStores.layer),
    Layer.provideMerge(Market.layerManual())
  )

  it.effect("returns the trades of the store, and fails with it", () =>
    Effect.gen(function* () {
      const store = yield* marketStores
      const index = yield* WalletIndex
      const tape = yield* Tape
      assert.strictEqual((yield* Effect.flip(index.read(WALLET, SHARE)))._tag, "WalletIndexUnavailable")
      yield* store.blocks.open({ genesis: "genesis", isSandbox: true })
      yield* store.blocks.append(inSlots(1, 7).map((trade) => blockOf([trade])))
      yield* tape.apply(blockOf([], { timeMs: START + 60_000 }))
      const history = yield* index.read(WALLET, SHARE)
      assert.deepStrictEqual(slots(history), [7, 6, 5, 4, 3])
      assert.deepInclude(history, { truncated: true, undated: null, coveredFromMs: START + 1200 })
      assert.deepInclude(yield* index.read(WALLET, { ...SHARE, events: 8 }), {
        truncated: false,
        coveredFromMs: START + 400,
        coveredUntilMs: START + 60_000,
        liveSinceMs: START + 61_000
      })
      assert.isNull(yield* index.read(OTHER, SHARE))
    }).pipe(Effect.provide(world))
  )

  it.effect("counts the transfers of a mint from its first trade on, and every transfer of a watched wallet", () =>
    Effect.gen(function* () {
      const store = yield* marketStores
      const read = Effect.flatMap(WalletIndex, (index) => index.read(WALLET, { ...SHARE, events: 10 }))
      yield* store.blocks.open({ genesis: "genesis", isSandbox: true })
      yield* store.blocks.append([
        blockOf(byOther(1), { transfers: [movedIn(1)] }),
        blockOf([tradeOf({ slot: 2, index: 2 })], { transfers: [movedIn(2)] }),
        blockOf(byOther(3), { transfers: [movedIn(3)] }),
        blockOf(byOther(4), { transfers: [movedIn(4, MINT_2)] })
      ])
      const watching = Effect.provide(
        read,
        Layer.provide(
          Layer.fresh(WalletIndex.layerStored),
          Layer.succeed(WatchedWallets, { has: (wallet) => wallet === WALLET })
        )
      )
      assert.deepStrictEqual(slots(yield* read), [3, 2, 2])
      assert.deepStrictEqual(slots(yield* watching), [4, 3, 2, 2, 1])
    }).pipe(Effect.provide(world))
  )

  it.effect("has the transfers of a watched wallet that does not trade, and no history to count profits from", () =>
    Effect.gen(function* () {
      const store = yield* marketStores
      yield* store.blocks.open({ genesis: "genesis", isSandbox: true })
      yield* store.blocks.append([blockOf(byOther(1), { transfers: [movedIn(1)] })])
      const read = Effect.flatMap(WalletIndex, (index) => index.read(WALLET, SHARE))
      const history = yield* Effect.provide(
        read,
        Layer.provide(Layer.fresh(WalletIndex.layerStored), Layer.succeed(WatchedWallets, { has: () => true }))
      )
      assert.deepStrictEqual(slots(history), [1])
      assert.isNull(tradingHistory(history))
      assert.isNull(yield* read)
    }).pipe(Effect.provide(world))
  )
})
