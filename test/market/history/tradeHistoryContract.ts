import { assert, layer } from "@effect/vitest"
import { Effect, type Layer, Stream } from "effect"
import { MAX_U64 } from "../../../src/domain/Amount.ts"
import { BlockStore } from "../../../src/market/model/BlockStore.ts"
import { type MarketStorePorts, marketStores } from "../../../src/market/model/MarketStores.ts"
import type { LiquidityChange } from "../../../src/api/schemas/LiquidityEvent.ts"
import type { WalletOpening } from "../../../src/api/schemas/WalletOpening.ts"
import type { Address } from "../../../src/domain/Address.ts"
import type { Signature } from "../../../src/domain/Signature.ts"
import type { StoredBatch } from "../../../src/market/model/StoredBatch.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import type { OlderRequest, TradesRequest } from "../../../src/market/model/TradesRequest.ts"
import type { OpeningsRequest } from "../../../src/market/model/WalletOpenings.ts"
import { address, mintOf, MONDAY, trade, walletOf } from "../tape/tape.ts"
import { storedBlock } from "./storedBlock.ts"

const open = (genesis: string) => BlockStore.use((store) => store.open({ genesis, isSandbox: false }))
const append = (...batches: ReadonlyArray<StoredBatch>) => BlockStore.use((store) => store.append(batches))

const unfiltered = { side: null, wallet: null, pool: null, minUsdNanos: null, fromMs: null, toMs: null, before: null }

/** The newest swaps of a mint. */
export const ofMint = (mint: number, limit: number, given: Partial<TradesRequest> = {}): TradesRequest => ({
  ...unfiltered,
  mint: mintOf(mint),
  limit,
  ...given
})

const [A, B] = [mintOf(1), mintOf(2)]
/** More than a signed 64-bit number. */
const MANY = 2n ** 64n - 1n

const changed = (second: number, change: bigint) =>
  storedBlock(second, [], {
    supply: [
      { mint: A, change },
      { mint: B, change: 7n }
    ]
  })

const provided = (given: Partial<LiquidityChange> = {}): LiquidityChange => ({
  signature: "s1",
  index: 1024,
  kind: "added",
  pool: address(5, 1),
  dex: "raydium-cpmm",
  provider: walletOf(3),
  sides: [
    { mint: A, amount: MANY, decimals: 6 },
    { mint: B, amount: 0n, decimals: null }
  ],
  opens: false,
  includesFees: false,
  ...given
})

const ofSecond = (change: LiquidityChange, second: number) => ({
  ...change,
  slot: 1000 + second,
  timeMs: (MONDAY + second) * 1000
})

const ofLiquidity = { mint: null, pool: null, kind: null, fromMs: null, toMs: null, before: null, limit: 10 }

/** Seconds and places of trades. */
const places = (found: ReadonlyArray<TapeTrade>) => found.map(({ index, slot }) => [slot - 1000, index])

const stored = (most: number) =>
  BlockStore.use((store) => Stream.runCollect(store.since({ second: MONDAY, after: 0, most })))

/** The contract of every trade history. Each test has its own chain. */
export const tradeHistoryContract = <E>(name: string, store: Layer.Layer<MarketStorePorts, E>) =>
  layer(store, { timeout: "1 minute", excludeTestServices: true })(name, (it) => {
    it.effect("returns a wallet's own trades, newest first", () =>
      Effect.gen(function* () {
        yield* open("wallet")
        const mine = { wallet: walletOf(7) }
        yield* append(
          storedBlock(1, [mine, { ...mine, role: "pool" }, {}]),
          storedBlock(86_400, [{ ...mine, role: "wallet", mint: mintOf(2) }]),
          storedBlock(86_401, [
            { ...mine, mint: mintOf(1) },
            { ...mine, mint: mintOf(2) }
          ])
        )
        const trades = yield* marketStores
        const keys = (limit: number) =>
          Effect.map(trades.trades.ofWallet(walletOf(7), limit), (list) =>
            list.map(({ index, slot }) => [slot - 1000, index])
          )
        assert.deepStrictEqual(yield* keys(10), [
          [86_401, 1],
          [86_401, 0],
          [86_400, 0],
          [1, 0]
        ])
        assert.deepStrictEqual(yield* keys(2), [
          [86_401, 1],
          [86_401, 0]
        ])
        const [newest] = yield* trades.trades.ofWallet(walletOf(7), 1)
        assert.deepStrictEqual(newest, storedBlock(86_401, [mine, { ...mine, mint: mintOf(2) }]).trades[1])
        assert.deepStrictEqual(yield* trades.trades.ofWallet(walletOf(8), 10), [])
      })
    )

    it.effect("finds the rows of a wallet before a place, of one kind, token, side and time", () =>
      Effect.gen(function* () {
        const store = yield* marketStores
        yield* store.blocks.open({ genesis: "older", isSandbox: false })
        const mine = { wallet: walletOf(7), role: "both", mint: mintOf(1), side: "buy" } as const
        const moved = (second: number, index: number): TapeTrade => {
          const { slot, timeMs } = storedBlock(second)
          const none = { lamports: null, priceUsd: null, volumeUsdNanos: null, pool: null, dex: null }
          return trade({ ...mine, ...none, slot, timeMs, index, role: "transfer", counterparty: walletOf(9) })
        }
        yield* store.blocks.append([
          storedBlock(1, [mine, { ...mine, role: "pool" }, { wallet: walletOf(8) }]),
          storedBlock(40, [{ ...mine, mint: mintOf(2), role: "wallet" }], { transfers: [moved(40, 1)] }),
          storedBlock(86_400, [{ ...mine, side: "sell" }], { transfers: [moved(86_400, 1)] }),
          storedBlock(86_401, [mine, mine])
        ])
        const last = { slot: 1000 + 86_401, index: 1 }
        const rows = (given: Partial<OlderRequest>) =>
          Effect.map(
            store.trades.olderOf({
              wallet: walletOf(7),
              kind: "trades",
              mint: null,
              side: null,
              fromMs: null,
              toMs: null,
              before: last,
              limit: 10,
              ...given
            }),
            ({ searchedTo, trades }) => {
              assert.isNull(searchedTo)
              return trades.map(({ index, slot }) => [slot - 1000, index])
            }
          )
        const [first, second, third] = [
          [86_401, 0],
          [86_400, 0],
          [40, 0]
        ]
        assert.deepStrictEqual(yield* rows({}), [first, second, third, [1, 0]])
        assert.deepStrictEqual(yield* rows({ limit: 2 }), [first, second])
        assert.deepStrictEqual(yield* rows({ before: { slot: 1000 + 86_400, index: 0 } }), [third, [1, 0]])
        assert.deepStrictEqual(yield* rows({ kind: "transfers" }), [
          [86_400, 1],
          [40, 1]
        ])
        assert.deepStrictEqual(yield* rows({ mint: mintOf(2) }), [third])
        assert.deepStrictEqual(yield* rows({ side: "sell" }), [second])
        assert.deepStrictEqual(yield* rows({ toMs: storedBlock(86_400).timeMs }), [third, [1, 0]])
        assert.deepStrictEqual(yield* rows({ fromMs: storedBlock(40).timeMs, toMs: storedBlock(86_401).timeMs }), [
          second,
          third
        ])
        assert.deepStrictEqual(yield* rows({ fromMs: storedBlock(50).timeMs, toMs: storedBlock(60).timeMs }), [])
        const sales = (yield* store.trades.ofWallet(walletOf(7), 10)).filter(({ side }) => side === "sell")
        const request = {
          wallet: walletOf(7),
          kind: "trades",
          mint: null,
          side: "sell",
          fromMs: null,
          toMs: null
        } as const
        assert.deepStrictEqual((yield* store.trades.olderOf({ ...request, before: last, limit: 1 })).trades, sales)
      })
    )

    it.effect("keeps transfers beside the trades, for their wallets alone", () =>
      Effect.gen(function* () {
        const store = yield* marketStores
        yield* store.blocks.open({ genesis: "transfers", isSandbox: false })
        const block = storedBlock(1, [{ role: "both", priceUsd: 2 }])
        const [bought] = block.trades
        const given = {
          role: "transfer",
          index: 255,
          side: "sell",
          lamports: null,
          priceUsd: null,
          volumeUsdNanos: null,
          held: { before: 9n, after: 2n },
          counterparty: walletOf(9),
          pool: null,
          dex: null
        } as const
        const transfer = trade({ slot: block.slot, timeMs: block.timeMs, ...given })
        yield* store.blocks.append([
          { ...block, transfers: [transfer] },
          storedBlock(2, [{ role: "pool", priceUsd: 3 }])
        ])
        assert.deepStrictEqual(Array.from(yield* store.trades.ofWallet(transfer.wallet, 10)), [transfer, bought])
        const everything = {
          side: null,
          wallet: null,
          pool: null,
          minUsdNanos: null,
          fromMs: null,
          toMs: null,
          before: null
        }
        const swaps = yield* store.trades.swapsOf({ ...everything, mint: transfer.mint, limit: 10 })
        assert.deepStrictEqual(
          swaps.trades.map(({ slot }) => slot),
          [1002, 1001],
          "transfers are no swaps"
        )
        assert.deepStrictEqual(
          Array.from(yield* stored(100), ({ trades }) => trades.length),
          [1, 1]
        )
        assert.deepStrictEqual(
          Array.from(yield* stored(2), ({ slot }) => slot),
          [1001, 1002],
          "transfers do not count among the newest trades"
        )
        const prints = { mint: transfer.mint, denom: "usd", from: MONDAY, before: MONDAY + 60, limit: 10 } as const
        assert.strictEqual((yield* store.candles.prints(prints)).length, 2)
      })
    )

    it.effect("pages through the pool swaps of a mint, newest first", () =>
      Effect.gen(function* () {
        yield* open("swaps of a mint")
        const trades = yield* marketStores
        const first = storedBlock(1, [{}, { role: "wallet" }, { mint: mintOf(2) }, {}])
        const second = storedBlock(2, [{ role: "pool" }, {}])
        yield* append(first, second)
        const places = (given: Partial<TradesRequest>, limit = 10) =>
          Effect.map(trades.trades.swapsOf(ofMint(1, limit, given)), ({ searchedTo, trades }) => {
            assert.isNull(searchedTo)
            return trades.map(({ index, slot }) => `${slot}.${index}`)
          })
        assert.deepStrictEqual(yield* places({}), ["1002.1", "1002.0", "1001.3", "1001.0"])
        assert.deepStrictEqual(yield* places({}, 2), ["1002.1", "1002.0"])
        assert.deepStrictEqual(yield* places({ before: { slot: 1002, index: 0 } }), ["1001.3", "1001.0"])
        assert.deepStrictEqual(yield* places({ fromMs: (MONDAY + 2) * 1000 }), ["1002.1", "1002.0"])
        assert.deepStrictEqual(yield* places({ toMs: (MONDAY + 2) * 1000 }), ["1001.3", "1001.0"])
        const { trades: newest } = yield* trades.trades.swapsOf(ofMint(1, 1))
        assert.deepStrictEqual(newest, second.trades.slice(1))
        assert.deepStrictEqual((yield* trades.trades.swapsOf(ofMint(7, 1))).trades, [])
      })
    )

    it.effect("filters the swaps of a mint by side, wallet, pool and value", () =>
      Effect.gen(function* () {
        yield* open("filtered swaps")
        const trades = yield* marketStores
        const dollars = [1n, 2n].map((dollar) => dollar * 1_000_000_000n)
        yield* append(
          storedBlock(1, [
            { side: "sell", volumeUsdNanos: dollars[0] ?? null, pool: mintOf(8) },
            { wallet: walletOf(2), volumeUsdNanos: dollars[1] ?? null, pool: mintOf(9) },
            { volumeUsdNanos: null },
            { volumeUsdNanos: 9_250_000_000_000_000_000n }
          ])
        )
        const found = (given: Partial<TradesRequest>) =>
          Effect.map(trades.trades.swapsOf(ofMint(1, 10, given)), ({ trades }) => trades.map(({ index }) => index))
        assert.deepStrictEqual(yield* found({ side: "sell" }), [0])
        assert.deepStrictEqual(yield* found({ side: "buy" }), [3, 2, 1])
        assert.deepStrictEqual(yield* found({ wallet: walletOf(2) }), [1])
        assert.deepStrictEqual(yield* found({ pool: mintOf(8) }), [0])
        assert.deepStrictEqual(yield* found({ pool: mintOf(7) }), [])
        assert.deepStrictEqual(yield* found({ minUsdNanos: dollars[1] ?? 0n }), [3, 1])
        // Beyond 2^63 nano-dollars, in the upper half of what a stored integer can hold.
        assert.deepStrictEqual(yield* found({ minUsdNanos: 9_300_000_000_000_000_000n }), [])
        assert.deepStrictEqual(yield* found({ minUsdNanos: 9_250_000_000_000_000_000n }), [3])
      })
    )

    it.effect("finds the largest pool swap of a mint in each span", () =>
      Effect.gen(function* () {
        yield* open("largest swaps")
        const trades = yield* marketStores
        const largest = (seconds: ReadonlyArray<number>, toSlot = 2000) =>
          Effect.map(
            trades.trades.largestOf({
              mint: mintOf(1),
              startsMs: seconds.map((second) => (MONDAY + second) * 1000),
              toSlot
            }),
            (found) => {
              assert.isNull(found.clippedAtMs)
              return found.trades.map(({ index, slot }) => `${slot}.${index}`).toSorted()
            }
          )
        yield* append(
          storedBlock(1, [{ volumeUsdNanos: 90n }, { volumeUsdNanos: 5n }]),
          storedBlock(2, [{ volumeUsdNanos: 7n }, { volumeUsdNanos: 8n, role: "wallet" }, { volumeUsdNanos: null }]),
          storedBlock(3, [{ volumeUsdNanos: 7n }, { volumeUsdNanos: 9n, mint: mintOf(2) }]),
          // Beyond 2^63, in the upper half of what a stored integer can hold.
          storedBlock(4, [
            { volumeUsdNanos: 9_250_000_000_000_000_000n },
            { volumeUsdNanos: 9_000_000_000_000_000_000n }
          ]),
          storedBlock(5, [{ volumeUsdNanos: null }])
        )
        assert.deepStrictEqual(yield* largest([0]), ["1004.0"])
        assert.deepStrictEqual(yield* largest([0, 2, 4, 5]), ["1001.0", "1003.0", "1004.0"])
        assert.deepStrictEqual(yield* largest([2], 1002), ["1002.0"])
        assert.deepStrictEqual(yield* largest([5]), [])
        assert.deepStrictEqual(yield* largest([]), [])
      })
    )

    it.effect("finds the swaps that price tokens, and the swaps of two tokens that they price", () =>
      Effect.gen(function* () {
        const trades = yield* marketStores
        yield* trades.blocks.open({ genesis: "tokens", isSandbox: false })
        const [a, b, c] = [mintOf(1), mintOf(2), mintOf(3)]
        const otherToken = { mint: b, amount: MAX_U64, decimals: null }
        const dollars = { lamports: null, volumeUsdNanos: 1_000_000n }
        const ofTwo = { ...dollars, mint: a, otherToken }
        const [first, second, third, fourth] = [
          storedBlock(1, [{ mint: a }, { mint: b, ...dollars }, { mint: c, role: "wallet" }]),
          storedBlock(200, [{ mint: a }, ofTwo, { mint: b, lamports: null, volumeUsdNanos: null }]),
          storedBlock(300, [
            { mint: a, role: "both" },
            { ...ofTwo, role: "wallet", mint: c }
          ]),
          storedBlock(400, [{ mint: b }, { ...ofTwo, mint: c, otherToken: { ...otherToken, mint: a, decimals: 9 } }])
        ]
        const blocks = [first, second, third, fourth]
        yield* trades.blocks.append(blocks)
        const kept = yield* Stream.runCollect(trades.blocks.since({ second: MONDAY, after: 0, most: 100 }))
        assert.deepStrictEqual(Array.from(kept), blocks)
        assert.deepStrictEqual(places(yield* trades.trades.moneySwaps(1300, 600_000, 2)), [
          [1, 1],
          [200, 0],
          [300, 0]
        ])
        assert.deepStrictEqual(places(yield* trades.trades.moneySwaps(1300, 100_000, 9)), [
          [200, 0],
          [300, 0]
        ])
        const of = (fromSecond: number, most: number, ...asked: ReadonlyArray<readonly [typeof a, number]>) =>
          Effect.map(
            trades.trades.moneySwapsOf({
              places: asked.map(([mint, slot]) => ({ mint, slot: 1000 + slot })),
              fromMs: (MONDAY + fromSecond) * 1000,
              most
            }),
            places
          )
        assert.deepStrictEqual(yield* of(0, 1, [a, 299], [a, 300], [b, 399], [c, 999], [mintOf(77), 999]), [
          [1, 1],
          [200, 0],
          [300, 0]
        ])
        assert.deepStrictEqual(yield* of(2, 9, [a, 400], [b, 399]), [
          [200, 0],
          [300, 0]
        ])
        const after = (slot: number, toSecond: number, most: number, ...mints: ReadonlyArray<typeof a>) =>
          Effect.map(
            trades.trades.tokenSwapsAfter({
              after: 1000 + slot,
              fromMs: MONDAY * 1000,
              toMs: (MONDAY + toSecond) * 1000,
              mints,
              most
            }),
            places
          )
        assert.deepStrictEqual(yield* after(1, 999, 3, a), [
          [200, 1],
          [400, 1]
        ])
        assert.deepStrictEqual(yield* after(1, 399, 3, a), [[200, 1]])
        assert.deepStrictEqual(yield* after(200, 999, 1, b), [[300, 1]])
        assert.deepStrictEqual(yield* after(1, 999, 2, a, b), [
          [200, 1],
          [300, 1]
        ])
        assert.deepStrictEqual(yield* after(1, 999, 3), [])
        // More tokens than one statement names.
        const many = Array.from({ length: 2500 }, (_, n) => mintOf(1000 + n))
        assert.deepStrictEqual(yield* after(1, 999, 2, a, ...many, b), [
          [200, 1],
          [300, 1]
        ])
        const asked = [a, ...many, b].map((mint): [typeof a, number] => [mint, mint === a ? 400 : 399])
        assert.deepStrictEqual(yield* of(2, 9, ...asked), [
          [200, 0],
          [300, 0]
        ])
      })
    )

    it.effect("keeps changes of supply by block, each once, including those of blocks that were read late", () =>
      Effect.gen(function* () {
        const { blocks, trades } = yield* marketStores
        yield* open("supplies")
        yield* append(changed(1, MANY), storedBlock(2), changed(9, -4n))
        yield* append(changed(9, -4n))
        yield* blocks.repair({
          batches: [changed(5, -MANY)],
          repriced: [],
          gap: { fromSlot: 1003, left: [] },
          first: null,
          found: []
        })
        const all = [
          { slot: 1001, second: MONDAY + 1, change: MANY },
          { slot: 1005, second: MONDAY + 5, change: -MANY },
          { slot: 1009, second: MONDAY + 9, change: -4n }
        ]
        const found = yield* trades.supplyOf({ mint: A, from: 0, most: 10 })
        assert.deepStrictEqual(found.changes, all)
        assert.strictEqual(found.toSlot, 1009)
        assert.isBelow(found.from, MONDAY)
        const later = yield* trades.supplyOf({ mint: A, from: MONDAY + 5, most: 10 })
        assert.deepStrictEqual(later.changes, all.slice(1))
      })
    )

    it.effect("returns the newest of many changes of supply, and the second from which they are complete", () =>
      Effect.gen(function* () {
        const { trades } = yield* marketStores
        yield* open("many supplies")
        yield* append(changed(1, 1n), changed(2, 2n), changed(3, 3n))
        const { changes, from } = yield* trades.supplyOf({ mint: A, from: 0, most: 2 })
        assert.deepStrictEqual(
          changes.map(({ change }) => change),
          [2n, 3n]
        )
        assert.strictEqual(from, MONDAY + 3)
        assert.deepStrictEqual((yield* trades.supplyOf({ mint: mintOf(3), from: 0, most: 2 })).changes, [])
      })
    )

    it.effect("keeps changes of liquidity, found by either mint and by pool, each once, also of blocks read late", () =>
      Effect.gen(function* () {
        const { blocks, trades } = yield* marketStores
        yield* open("liquidity")
        const opening = provided({ index: 0, opens: true, provider: null })
        const taken = provided({ index: 2048, kind: "removed", pool: address(5, 2), includesFees: true })
        const oneSided = provided({ index: 7, sides: [{ mint: B, amount: 4n, decimals: 9 }] })
        yield* append(storedBlock(1, [], { liquidity: [opening, provided(), taken] }), storedBlock(2))
        yield* append(storedBlock(1, [], { liquidity: [opening, provided(), taken] }))
        yield* blocks.repair({
          batches: [storedBlock(5, [], { liquidity: [oneSided] })],
          repriced: [],
          gap: { fromSlot: 1003, left: [] },
          first: null,
          found: []
        })
        const newest = [ofSecond(oneSided, 5), ofSecond(taken, 1), ofSecond(provided(), 1), ofSecond(opening, 1)]
        const found = yield* trades.liquidityOf({ ...ofLiquidity, mint: B })
        assert.deepStrictEqual(found.events, newest)
        assert.isBelow(found.from, MONDAY)
        const placesOf = (given: object) =>
          Effect.map(trades.liquidityOf({ ...ofLiquidity, ...given }), ({ events }) => events.map(({ index }) => index))
        assert.deepStrictEqual(yield* placesOf({ mint: A }), [2048, 1024, 0])
        assert.deepStrictEqual(yield* placesOf({ pool: address(5, 2) }), [2048])
        assert.deepStrictEqual(yield* placesOf({ mint: A, pool: address(5, 1) }), [1024, 0])
        assert.deepStrictEqual(yield* placesOf({ mint: A, kind: "added" }), [1024, 0])
        assert.deepStrictEqual(yield* placesOf({ mint: B, fromMs: (MONDAY + 5) * 1000 }), [7])
        assert.deepStrictEqual(yield* placesOf({ mint: B, toMs: (MONDAY + 5) * 1000, limit: 2 }), [2048, 1024])
        assert.deepStrictEqual(yield* placesOf({ mint: B, before: { slot: 1001, index: 2048 } }), [1024, 0])
        const openedSince = (second: number, most: number) =>
          Effect.map(trades.poolsOpened((MONDAY + second) * 1000, most), ({ events }) =>
            events.map(({ index }) => index)
          )
        yield* append(storedBlock(9, [], { liquidity: [provided({ index: 3, opens: true })] }))
        assert.deepStrictEqual(yield* openedSince(0, 10), [3, 0])
        assert.deepStrictEqual(yield* openedSince(0, 1), [3])
        assert.deepStrictEqual(yield* openedSince(2, 10), [3])
        yield* open("other liquidity")
        assert.deepStrictEqual(yield* placesOf({ mint: B }), [])
      })
    )

    it.effect(
      "keeps the earliest opening of each wallet, in whatever order blocks come, and counts those of a funder",
      () =>
        Effect.gen(function* () {
          const { blocks, trades } = yield* marketStores
          yield* open("openings")
          const [funder, other] = [address(6, 1), address(6, 2)]
          const opened = (wallet: number, index: number, given: Partial<WalletOpening> = {}): WalletOpening => ({
            signature: `opening_${wallet}` as Signature,
            index,
            wallet: address(7, wallet),
            funder,
            lamports: 2n ** 63n + BigInt(wallet),
            ...given
          })
          yield* append(
            storedBlock(5, [], { openings: [opened(1, 64), opened(2, 65), opened(3, 128, { funder: other })] })
          )
          yield* append(storedBlock(6, [], { openings: [opened(1, 64, { funder: other }), opened(4, 0)] }))
          yield* blocks.repair({
            batches: [storedBlock(2, [], { openings: [opened(3, 7), opened(2, 8, { lamports: 5n })] })],
            repriced: [],
            gap: { fromSlot: 1003, left: [] },
            first: null,
            found: []
          })
          const { from, opening, toMs } = yield* trades.openingOf(address(7, 2))
          assert.deepStrictEqual(opening, {
            ...opened(2, 8, { lamports: 5n }),
            slot: 1002,
            timeMs: (MONDAY + 2) * 1000
          })
          assert.isBelow(from, MONDAY)
          assert.strictEqual(toMs, (MONDAY + 6) * 1000)
          assert.isNull((yield* trades.openingOf(address(7, 9))).opening)
          const fundedBy = (wallet: Address, given: Partial<OpeningsRequest> = {}) =>
            trades.openingsOf({ wallet, relation: "funded", before: null, limit: 10, ...given })
          const all = yield* fundedBy(funder)
          assert.deepStrictEqual(
            all.opened.openings.map(({ index, slot, wallet }) => [slot, index, wallet]),
            [
              [1006, 0, address(7, 4)],
              [1005, 64, address(7, 1)],
              [1002, 8, address(7, 2)],
              [1002, 7, address(7, 3)]
            ]
          )
          assert.deepStrictEqual([all.opened.count, all.opening, all.toMs, all.from], [4, null, toMs, from])
          assert.deepStrictEqual((yield* fundedBy(other)).opened, { openings: [], count: 0 })
          const rest = (yield* fundedBy(funder, { before: { slot: 1005, index: 64 }, limit: 1 })).opened
          assert.deepStrictEqual([rest.openings.map(({ index }) => index), rest.count], [[8], 4])
          // The count does not depend on the page.
          const end = (yield* fundedBy(funder, { before: { slot: 1002, index: 7 } })).opened
          assert.deepStrictEqual([end.openings, end.count], [[], 4])
          const siblings = yield* fundedBy(address(7, 2), { relation: "shared_funder", limit: 2 })
          assert.deepStrictEqual(siblings.opening, opening)
          assert.deepStrictEqual(siblings.opened, { openings: all.opened.openings.slice(0, 2), count: 4 })
          const unknown = yield* fundedBy(address(7, 9), { relation: "shared_funder" })
          assert.deepStrictEqual([unknown.opening, unknown.opened], [null, { openings: [], count: 0 }])
          yield* open("other openings")
          assert.strictEqual((yield* fundedBy(funder)).opened.count, 0)
        })
    )

    it.effect("keeps the first snapshot of the holders of a token in each hour, by chain", () =>
      Effect.gen(function* () {
        const { holders } = yield* marketStores
        yield* open("holders")
        const snapshot = (hour: number, count: number, mint = A) => ({
          mint,
          hourMs: MONDAY * 1000 + hour * 3_600_000,
          atMs: MONDAY * 1000 + hour * 3_600_000 + 7,
          slot: 1000 + hour,
          holders: count,
          held: MANY * MANY,
          top10: MANY,
          top50: MANY + 1n,
          excluded: 0n,
          poolsKnown: hour % 2 === 0
        })
        yield* holders.keep([snapshot(0, 5), snapshot(0, 9, B), snapshot(3, 6)])
        yield* holders.keep([snapshot(3, 7), snapshot(4, 8)])
        yield* holders.keep([])
        const all = [snapshot(4, 8), snapshot(3, 6), snapshot(0, 5)]
        const ofA = { mint: A, fromMs: null, toMs: null, limit: 10 }
        assert.deepStrictEqual(yield* holders.of(ofA), all)
        assert.deepStrictEqual(yield* holders.of({ ...ofA, limit: 1 }), all.slice(0, 1))
        const [newest, middle] = all
        const between = { ...ofA, fromMs: middle?.hourMs ?? 0, toMs: newest?.hourMs ?? 0 }
        assert.deepStrictEqual(yield* holders.of(between), all.slice(1, 2))
        yield* open("holders elsewhere")
        assert.deepStrictEqual(yield* holders.of(ofA), [])
      })
    )

    it.effect("does not mix the changes of supply of two chains", () =>
      Effect.gen(function* () {
        const { trades } = yield* marketStores
        yield* open("one supply")
        yield* append(changed(1, 1n))
        yield* open("another supply")
        yield* append(changed(2, 2n))
        const { changes } = yield* trades.supplyOf({ mint: A, from: 0, most: 10 })
        assert.deepStrictEqual(
          changes.map(({ slot }) => slot),
          [1002]
        )
      })
    )
  })
