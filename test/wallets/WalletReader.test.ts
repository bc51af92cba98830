import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { Address } from "../../src/domain/Address.ts"
import { IdentityStoreUnavailable } from "../../src/api/schemas/WalletIdentity.ts"
import { IdentityStore } from "../../src/wallets/IdentityStore.ts"
import { NOT_BEGUN } from "../../src/wallets/historyProgress.ts"
import { emptyPosition } from "../../src/wallets/ledger.ts"
import { LedgerProjection, LedgerUnavailable } from "../../src/wallets/LedgerReader.ts"
import { NO_LOTS } from "../../src/wallets/lots.ts"
import { WalletIndexUnavailable } from "../../src/wallets/WalletIndex.ts"
import type { WalletPlace, WalletRowsPage, WalletRowsRequest } from "../../src/wallets/walletTrades.ts"
import { marketStores } from "../../src/market/model/MarketStores.ts"
import { Market } from "../../src/market/tape/Market.ts"
import { Tape } from "../../src/market/tape/Tape.ts"
import { WatchedWallets } from "../../src/market/tape/WatchedWallets.ts"
import * as MemoryStores from "../../src/testing/MemoryStores.ts"
import { WalletReader } from "../../src/wallets/WalletReader.ts"
import { FULL, UNKNOWN_WALLET, recordOf } from "./identities.ts"
import { type Findings, indexOf, readerOver } from "./readers.ts"
import { blockOf, MINT, MINT_2, OTHER, START, tradeOf, usd, WALLET, walletOf } from "./trades.ts"

const rowsOf = (findings: Findings, ...wallets: ReadonlyArray<Address>) =>
  WalletReader.use((reader) => reader.rowsOf(wallets)).pipe(Effect.provide(readerOver(findings)))

/** Ten tokens bought for ten dollars and four of them sold for eight, newest first. */
const traded = [
  tradeOf({ slot: 2, side: "sell", amount: 4_000_000n, volumeUsdNanos: usd(8) }),
  tradeOf({ slot: 1, amount: 10_000_000n, volumeUsdNanos: usd(10) })
]

const projection = LedgerProjection.make({
  wallet: WALLET,
  fromMs: 0,
  throughMs: 0,
  events: 2,
  positions: [
    {
      ...emptyPosition(MINT),
      decimals: 6,
      held: 6_000_000n,
      lots: { ...NO_LOTS, known: 6_000_000n, costNanos: usd(6.06) },
      boughtUnits: 10_000_000n,
      soldUnits: 4_000_000n,
      boughtNanos: usd(10.1),
      proceedsNanos: usd(7.9),
      realizedNanos: usd(3.86),
      buys: 1,
      sells: 1,
      firstAtMs: 0,
      lastAtMs: 0
    }
  ]
})

const native = () => Effect.succeed(projection)
const unavailable = () => Effect.fail(new LedgerUnavailable({ cause: new Error("gone") }))

const known = { marks: { [MINT]: 3n }, trades: { [WALLET]: traded } }

/** An index that never answers about one wallet, and has nothing of any other. */
const silentAboutOther: Findings["index"] = (wallet) => (wallet === OTHER ? Effect.never : Effect.succeed(null))

describe("rows of wallets", () => {
  it.effect("come in request order, each with the data of its wallet", () =>
    Effect.gen(function* () {
      const identities = [recordOf({ wallet: OTHER, labels: ["Other"] })]
      const { complete, wallets } = yield* rowsOf({ ...known, identities }, UNKNOWN_WALLET, OTHER, WALLET)
      assert.isFalse(complete)
      assert.deepStrictEqual(
        wallets.map(({ identity, status, summary, wallet }) => [wallet, status, identity?.labels, summary?.wallet]),
        [
          [UNKNOWN_WALLET, "unavailable", undefined, undefined],
          [OTHER, "partial", ["Other"], undefined],
          [WALLET, "partial", undefined, { realized: "4", unrealized: "12", total: "16" }]
        ]
      )
      assert.isTrue((yield* rowsOf(known, WALLET)).complete)
    })
  )

  it.effect("state the coverage of a summary in every field of the contract", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(START + 5_000_000)
      const [row] = (yield* rowsOf({ ...known, identities: [FULL] }, WALLET)).wallets
      const exclusions = ["transfers", "fees", "pre_window_inventory", "unobserved_assets"]
      const index = {
        backfillDaysDone: 0,
        backfillDaysTarget: 0,
        coveredFromMs: START,
        coveredUntilMs: START + 1_000_000,
        error: null,
        eventCap: 10_000,
        eventCount: 2,
        exclusions,
        historyTransport: "confirmed_blocks",
        liveSinceMs: START,
        scannedTransactions: 2,
        source: "wallet-trade-index",
        status: "partial",
        truncated: false,
        unfetchedTransactions: 0,
        unpricedTransactions: 0,
        unprovableTransactions: null
      }
      assert.deepStrictEqual<unknown>(row?.summary, {
        asOf: START + 5_000_000,
        complete: false,
        coverage: "observed_swaps_only",
        historyCoverage: {
          solana: {
            chain: "solana",
            complete: false,
            status: "partial",
            reason: "observed_swaps_only",
            orphanedEvents: null,
            transfersIncluded: false,
            scope: "observed_swaps",
            source: "wallet-trade-index:observed-average-cost",
            fromMs: START,
            throughMs: START + 1_000_000,
            observedFromMs: START + 400,
            observedThroughMs: START + 800,
            observedEvents: 2,
            undatedEvents: 0,
            exclusions,
            holdings: { complete: true, known: 1, status: "known", total: 1 },
            costBasis: { complete: true, known: 1, status: "known", total: 1 },
            valuation: { complete: true, known: 1, status: "known", total: 1 },
            fees: { complete: false, known: 0, status: "unavailable", total: 2 },
            history: { complete: false, known: 2, status: "partial", total: null },
            index
          }
        },
        index,
        pnlMode: "unknown-basis-null",
        source: "wallet-trade-index:observed-average-cost",
        token: null,
        wallet: { realized: "4", unrealized: "12", total: "16" },
        known: {
          realized: "4",
          unrealized: "12",
          total: "16",
          cost: "10",
          volumeShare: "1",
          openValueShare: "1",
          unpricedTrades: 0,
          unmarkedPositions: 0
        },
        marks: { poolMedian: 1, lastTrade: 0, oldestAtMs: START + 5_000_000 }
      })
    })
  )

  it.effect("give null for an unknown basis, an unknown mark or a stale one", () =>
    Effect.gen(function* () {
      const pnlOf = (findings: Findings) =>
        Effect.map(rowsOf(findings, WALLET), ({ wallets }) => wallets[0]?.summary?.wallet)
      const oversold = tradeOf({ slot: 3, side: "sell", amount: 99_000_000n, mint: MINT_2 })
      const trades = { [WALLET]: [oversold, ...traded] }
      assert.deepStrictEqual(yield* pnlOf({ ...known, trades }), { realized: null, unrealized: null, total: null })
      const unmarked = { realized: "4", unrealized: null, total: null }
      assert.deepStrictEqual(yield* pnlOf({ trades: known.trades }), unmarked)
      assert.deepStrictEqual(yield* pnlOf({ ...known, stalePrices: true }), unmarked)
      const [row] = (yield* rowsOf({ trades }, WALLET)).wallets
      const { costBasis, valuation } = row?.summary?.historyCoverage.solana ?? {}
      assert.deepStrictEqual(costBasis, { complete: false, known: 1, status: "partial", total: 2 })
      assert.deepStrictEqual(valuation, { complete: false, known: 0, status: "unavailable", total: 2 })
    })
  )

  it.effect("share ten thousand events, and mark wallets at their share as truncated", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 100 }, (_, n) => walletOf(n))
      const trades = Object.fromEntries(
        many.map((wallet, n) => [
          wallet,
          Array.from({ length: n === 0 ? 150 : 99 }, (_, slot) => tradeOf({ slot: 200 - slot, wallet }))
        ])
      )
      const { wallets } = yield* rowsOf({ trades, marks: known.marks }, ...many)
      const indexes = wallets.map(({ summary }) => summary?.index)
      assert.deepInclude(indexes[0], { eventCap: 100, eventCount: 100, truncated: true })
      assert.isTrue(indexes.slice(1).every((index) => index?.eventCount === 99 && !index.truncated))
    })
  )

  it.effect("take four reads at a time, and one read of the prices of 64 open mints", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 20 }, (_, n) => walletOf(n))
      const reading = { now: 0, most: 0 }
      const held = indexOf(
        Object.fromEntries(
          many.map((wallet, n) => [
            wallet,
            Array.from({ length: 5 }, (_, i) => tradeOf({ wallet, mint: walletOf(1000 + 5 * n + i), index: i }))
          ])
        )
      )
      const asked = { lookups: 0, mints: [] }
      const index: Findings["index"] = (wallet, share) =>
        Effect.gen(function* () {
          reading.most = Math.max(reading.most, ++reading.now)
          yield* Effect.yieldNow
          reading.now--
          return yield* held(wallet, share)
        })
      const { wallets } = yield* rowsOf({ index, asked }, ...many)
      assert.strictEqual(reading.most, 4)
      assert.strictEqual(asked.lookups, 1)
      assert.deepStrictEqual(
        new Set(asked.mints),
        new Set(Array.from({ length: 64 }, (_, i) => walletOf(1000 + i))),
        "those of the first rows"
      )
      assert.isTrue(wallets.every(({ summary }) => summary !== null))
    })
  )

  it.effect("lack a summary that takes longer than a second and a half, and keep the identity", () =>
    Effect.gen(function* () {
      const held = indexOf(known.trades)
      const index: Findings["index"] = (wallet, share) => (wallet === OTHER ? Effect.never : held(wallet, share))
      const identities = [recordOf({ wallet: OTHER, labels: ["Slow"] })]
      const fiber = yield* Effect.forkChild(rowsOf({ ...known, index, identities }, OTHER, WALLET))
      yield* TestClock.adjust("1499 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      const { complete, wallets } = yield* Fiber.join(fiber)
      assert.isFalse(complete)
      assert.deepStrictEqual(
        wallets.map(({ identity, reason, summary }) => [identity?.labels, reason, summary?.wallet.realized]),
        [
          [["Slow"], "unavailable", undefined],
          [undefined, null, "4"]
        ]
      )
    })
  )

  it.effect("distinguish a wallet without trades from a wallet that was not read in time", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(rowsOf({ index: silentAboutOther }, OTHER, WALLET))
      yield* TestClock.adjust("1500 millis")
      const { wallets } = yield* Fiber.join(fiber)
      assert.deepStrictEqual(
        wallets.map(({ reason, status }) => [status, reason]),
        [
          ["unavailable", "unavailable"],
          ["unavailable", "not_captured"]
        ]
      )
    })
  )

  it.effect("fail when no wallet was read in time, whatever its identity", () =>
    Effect.gen(function* () {
      const identities = [recordOf({ wallet: OTHER, labels: ["Slow"] })]
      const fiber = yield* Effect.forkChild(Effect.flip(rowsOf({ index: () => Effect.never, identities }, OTHER)))
      yield* TestClock.adjust("1500 millis")
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "WalletsUnavailable")
    })
  )

  it.effect("lack a summary when the index fails for one wallet only", () =>
    Effect.gen(function* () {
      const held = indexOf(known.trades)
      const index: Findings["index"] = (wallet, share) =>
        wallet === OTHER ? Effect.fail(new WalletIndexUnavailable({ cause: "slow" })) : held(wallet, share)
      const { complete, wallets } = yield* rowsOf({ ...known, index }, OTHER, WALLET)
      assert.isFalse(complete)
      assert.deepStrictEqual(
        wallets.map(({ status, summary }) => [status, summary?.wallet.total]),
        [
          ["unavailable", undefined],
          ["partial", "16"]
        ]
      )
    })
  )

  it.effect("fail while the index or the identities cannot be read", () =>
    Effect.gen(function* () {
      const cause = new Error("gone")
      const index = () => Effect.fail(new WalletIndexUnavailable({ cause }))
      assert.strictEqual((yield* Effect.flip(rowsOf({ index }, WALLET)))._tag, "WalletsUnavailable")
      const gone = Effect.fail(new IdentityStoreUnavailable({ cause }))
      const store = Layer.succeed(IdentityStore, { of: () => gone, linkedTo: () => gone, replace: () => gone })
      assert.strictEqual((yield* Effect.flip(rowsOf({ ...known, store }, WALLET)))._tag, "WalletsUnavailable")
    })
  )
})

describe("a native ledger", () => {
  it.effect("replaces the observed swaps, with its fees", () =>
    Effect.gen(function* () {
      const [row] = (yield* rowsOf({ ...known, ledger: native }, WALLET)).wallets
      const { historyCoverage, index, source, wallet } = row?.summary ?? {}
      const coverage = historyCoverage?.solana
      assert.deepStrictEqual(wallet, { realized: "3.86", unrealized: "11.94", total: "15.8" })
      assert.strictEqual(source, "wallet-trade-ledger:fee-inclusive-average-cost")
      assert.deepStrictEqual(
        [coverage?.source, coverage?.observedEvents, coverage?.scope],
        [source, 2, "native_ledger"]
      )
      assert.deepStrictEqual(coverage?.fees, { complete: true, known: 2, status: "known", total: 2 })
      assert.strictEqual(index?.eventCount, 2, "the index coverage counts its trades all the same")
      const [alone] = (yield* rowsOf({ marks: known.marks, ledger: native }, WALLET)).wallets
      assert.strictEqual(alone?.summary?.index.status, "unavailable")
    })
  )

  const [entry] = projection.positions
  const wrong: ReadonlyArray<readonly [string, LedgerProjection]> = [
    ["is of another wallet", { ...projection, wallet: OTHER }],
    ["ends before it begins", { ...projection, fromMs: 1 }],
    ["reaches into the future", { ...projection, throughMs: 1 }],
    ["lists a mint twice", { ...projection, positions: [...projection.positions, ...projection.positions] }],
    ["is not of the shape", { ...projection, events: -1 }],
    ...(entry === undefined
      ? []
      : ([
          ["holds what was never bought", { ...projection, positions: [{ ...entry, held: 7_000_000n }] }],
          ["does not add up", { ...projection, positions: [{ ...entry, realizedNanos: usd(4) }] }],
          ["bought without a buy", { ...projection, positions: [{ ...entry, buys: 0 }] }]
        ] as const))
  ]
  it.effect.each(wrong)("is rejected when it %s", ([, broken]) =>
    Effect.gen(function* () {
      const [row] = (yield* rowsOf({ ...known, ledger: () => Effect.succeed(broken) }, WALLET)).wallets
      assert.strictEqual(row?.summary?.source, "wallet-trade-index:observed-average-cost")
      assert.strictEqual(row?.summary?.wallet.total, "16")
    })
  )

  it.effect("is ignored while it is unavailable", () =>
    Effect.gen(function* () {
      const [row] = (yield* rowsOf({ ...known, ledger: unavailable }, WALLET)).wallets
      assert.strictEqual(row?.summary?.wallet.total, "16")
    })
  )
})

describe("pages of a wallet with more rows than are held", () => {
  const HELD = 5
  const slots = Array.from({ length: 23 }, (_, n) => 23 - n)
  const rows = slots.flatMap((slot) => [
    tradeOf({ slot, index: 1, role: "transfer", signature: `moved_${slot}` }),
    tradeOf({ slot, side: slot % 3 === 0 ? "sell" : "buy" })
  ])
  const stored = Layer.effectDiscard(
    Effect.gen(function* () {
      const stores = yield* marketStores
      yield* stores.blocks.open({ genesis: "large", isSandbox: true })
      const blocks = slots.toReversed().map((slot) => {
        const [moved, swap] = rows.filter((row) => row.slot === slot)
        return blockOf(swap === undefined ? [] : [swap], { transfers: moved === undefined ? [] : [moved] })
      })
      yield* stores.blocks.append(blocks)
      ;(yield* Tape).keep(stores)
    })
  ).pipe(Layer.provideMerge(MemoryStores.layer), Layer.provideMerge(Market.layerManual()), Layer.orDie)
  const holding = (given: Findings = {}) =>
    readerOver({
      tape: stored,
      index: (wallet, share) =>
        Effect.map(indexOf({ [WALLET]: rows })(wallet, { ...share, events: HELD }), (held) => {
          const oldest = held?.trades.at(-1)
          return held === null || oldest === undefined
            ? null
            : { ...held, coveredFromMs: oldest.timeMs, liveSinceMs: null }
        }),
      ...given
    })
  const request = { mint: null, side: null, fromMs: null, toMs: null, before: null, limit: 4 }

  /** The slots of all pages, and the reasons that they give. */
  const walk = Effect.fnUntraced(function* (kind: "tradesOf" | "transfersOf", given: Partial<WalletRowsRequest> = {}) {
    const reader = yield* WalletReader
    const [found, reasons] = [[] as Array<number>, new Set<string | null>()]
    let oldestMs: number | null = null
    for (let before: WalletPlace | null = null, pages = 0; pages === 0 || before !== null; pages++) {
      const page: WalletRowsPage<{ readonly slot: number }> = yield* reader[kind](WALLET, {
        ...request,
        ...given,
        before
      })
      found.push(...page.rows.map(({ slot }) => slot))
      reasons.add(page.coverage.reason)
      oldestMs = page.coveredFromMs
      before = page.next
      assert.isBelow(pages, 30)
    }
    return { found, reasons: [...reasons], oldestMs }
  })

  it.effect("go on in the store, and cover what they show", () =>
    Effect.gen(function* () {
      const all = { found: slots, reasons: ["observed_swaps_only"], oldestMs: START + 400 }
      assert.deepStrictEqual(yield* walk("tradesOf"), all)
      // The second page ends where the held rows end.
      assert.deepStrictEqual(yield* walk("tradesOf", { limit: 1 }), all)
      assert.deepStrictEqual((yield* walk("tradesOf", { side: "sell" })).found, [21, 18, 15, 12, 9, 6, 3])
      const middle = { fromMs: START + 7 * 400, toMs: START + 10 * 400 }
      assert.deepStrictEqual((yield* walk("tradesOf", middle)).found, [9, 8, 7])
      assert.deepStrictEqual((yield* walk("tradesOf", { fromMs: START + 22 * 400 })).found, [23, 22])
    }).pipe(Effect.provide(holding()))
  )

  it.effect("end with the held rows when only these are asked for, or the wallet's transactions were read", () =>
    Effect.gen(function* () {
      const held = yield* Effect.provide(walk("tradesOf", { isHeldOnly: true }), holding())
      assert.deepStrictEqual([held.found, held.reasons], [[23, 22], ["limit_clipped"]])
      const read = holding({ history: () => Effect.succeed({ progress: NOT_BEGUN, trades: [] }) })
      assert.deepStrictEqual((yield* Effect.provide(walk("tradesOf"), read)).found, [23, 22])
    })
  )

  it.effect("have older transfers of watched wallets alone", () =>
    Effect.gen(function* () {
      const others = yield* Effect.provide(walk("transfersOf"), holding())
      assert.deepStrictEqual([others.found, others.reasons], [[23, 22, 21], ["limit_clipped"]])
      const watching = Layer.succeed(WatchedWallets, { has: (wallet) => wallet === WALLET })
      const watched = yield* Effect.provide(walk("transfersOf"), Layer.provide(Layer.fresh(holding()), watching))
      assert.deepStrictEqual([watched.found, watched.reasons], [slots, ["observed_swaps_only"]])
    })
  )
})
