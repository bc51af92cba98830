/** Fills of a replay in the tracker: its stream and snapshots agree with the reads of the wallet. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { PnlBody } from "../../../src/api/schemas/LiveFrame.ts"
import { type Address, SOL } from "../../../src/domain/Address.ts"
import { Market } from "../../../src/market/tape/Market.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import type { Fill } from "../../../src/past/FillBook.ts"
import { bySlot, ReplayFills } from "../../../src/past/ReplayFills.ts"
import { accountsWithFills, layerPriced, layerWithFills } from "../../../src/wallets/fillTrades.ts"
import { TradeHistory } from "../../../src/market/model/TradeHistory.ts"
import { LedgerReader } from "../../../src/wallets/LedgerReader.ts"
import { WalletAccounts } from "../../../src/wallets/WalletAccounts.ts"
import { WalletReader } from "../../../src/wallets/WalletReader.ts"
import { allPositions } from "../../../src/wallets/positionPages.ts"
import { secondOf } from "../../../src/wallets/tracker/overview.ts"
import { TrackerFeed } from "../../../src/wallets/tracker/TrackerFeed.ts"
import { TrackerHub } from "../../../src/wallets/tracker/TrackerHub.ts"
import { WatchList } from "../../../src/wallets/tracker/WatchList.ts"
import { renewableTape } from "../../support/renewableTape.ts"
import { readerOver } from "../readers.ts"
import { FakeWire, tracked } from "./hubScene.ts"
import { blockOf, feedOver, mintOf, signatureOf, START, timeOf, walletOf } from "./liveScene.ts"

const BOT = walletOf(1)
const OTHER = walletOf(2)
const MINT = mintOf(1)

/** What a replay has decided, in that order. */
class Decided {
  readonly fills: Array<Fill> = []
  hasEnded = false
  isSolKnown = true
  /** Blocks up to here come. */
  lastBlock = Number.POSITIVE_INFINITY

  fill(slot: number, lamports: bigint, units: bigint, swap: Partial<Fill> & { readonly isSale?: boolean } = {}): void {
    const { isSale = false, ...rest } = swap
    const number = this.fills.length + 1
    this.fills.push({
      id: `swap ${number}`,
      number,
      signature: signatureOf(900_000 + number),
      wallet: BOT,
      pools: [MINT],
      minOut: 1n,
      quotedOut: 1n,
      model: "recorded",
      postedSlot: slot - 1,
      slot,
      status: "filled",
      reason: null,
      hops: [],
      rank: 0,
      // The chain's clock is behind the time at which the slot arrives.
      atMs: timeOf(slot) - 2000,
      ...(isSale
        ? { inputMint: MINT, outputMint: SOL, amount: units, amountOut: lamports }
        : { inputMint: SOL, outputMint: MINT, amount: lamports, amountOut: units }),
      ...rest
    })
  }

  get layer() {
    const solSwaps = (to: number) =>
      Effect.sync(() => {
        const swap = { wallet: OTHER, mint: SOL, amount: 1_000_000_000n, usd: 150, role: "pool" } as const
        return this.isSolKnown ? blockOf(to, [swap]).trades : []
      })
    const fills = Layer.effect(
      ReplayFills,
      Effect.map(ReplayFills, (live) => ({
        ...live,
        filledBy: (wallet: Address) => this.fills.filter((fill) => fill.wallet === wallet).toSorted(bySlot),
        filledAfter: (count: number) => this.fills.slice(count),
        endsBy: (slot: number) => this.hasEnded && slot >= this.lastBlock
      }))
    )
    return layerPriced.pipe(Layer.provide(Layer.mock(TradeHistory, { solSwaps })), Layer.merge(fills))
  }
}

const pass = (ms: number) => TestClock.adjust(ms)

/** A tracker beside the reads of wallets. */
const sceneOf = Effect.fnUntraced(function* (
  tape = Market.layerManual(),
  accounts: Layer.Layer<WalletAccounts> = WalletAccounts.layerNamed
) {
  yield* TestClock.setTime(START)
  const decided = new Decided()
  const context = yield* Layer.build(
    Layer.provideMerge(
      Layer.merge(feedOver({ usd: 1n }, tape, accounts), layerWithFills.pipe(Layer.provide(LedgerReader.layerNone))),
      decided.layer
    )
  )
  const { feed, ledger, list, market } = yield* Effect.provideContext(
    Effect.all({ feed: TrackerFeed, ledger: LedgerReader, list: WatchList, market: Tape }),
    context
  )
  const reader = readerOver({
    history: ledger.historyOf,
    marks: { [MINT]: 1n },
    accounts: accountsWithFills.pipe(Layer.provide(accounts), Layer.provide(decided.layer))
  })
  const hub = new TrackerHub(feed, { sockets: 9, replayBytes: 1_000_000 })
  yield* feed.follow({
    wants: (wallet) => hub.wants(wallet),
    take: (events, nowMs) => hub.take(events, nowMs),
    lost: (gap) => hub.lost(gap)
  })
  let streams = 0
  return {
    decided,
    feed,
    list,
    /** Tracks wallets from a time on, and opens a stream. */
    open: Effect.fnUntraced(function* (addedAtMs: number, ...wallets: ReadonlyArray<Address>) {
      wallets.forEach((wallet) => list.add({ wallet, addedAtMs }))
      const wire = new FakeWire()
      const grant = { keyId: "k", session: null, accountId: "a", wallets, group: null, control: false }
      const items = wallets.map((wallet) => tracked(wallet, { addedAtMs }))
      hub.open({ ...grant, streamId: `str_${++streams}` }, items, wire, addedAtMs)
      return wire
    }),
    happen: Effect.fnUntraced(function* (...slots: ReadonlyArray<number>) {
      for (const slot of slots) {
        yield* market.apply(blockOf(slot, [{ wallet: OTHER }]))
        yield* pass(1)
      }
    }),
    /** The wallet's positions and trades by its reads. */
    read: WalletReader.use((wallets) =>
      Effect.all({
        positions: Effect.map(wallets.positionsOf(BOT, allPositions(100)), ({ positions }) => positions.map(figuresOf)),
        trades: Effect.map(wallets.tradesOf(BOT, ALL_ROWS), ({ rows }) => rows.map(({ signature }) => signature))
      })
    ).pipe(Effect.provide(reader)),
    /** The same by the tracker, for an account that tracks the wallet from a time on. */
    tracked: (addedAtMs = START) => {
      const since = [{ wallet: BOT, sinceMs: secondOf(addedAtMs) }]
      return {
        positions: feed.pnlSnapshotOf(since, 100, START).pnl.map(figuresOf),
        trades: feed.newestOf(since, 500, 500).map(({ signature }) => signature)
      }
    }
  }
})

const ALL_ROWS = { mint: null, side: null, fromMs: null, toMs: null, before: null, limit: 500 }

/** The figures of a position that reads and frames have in common. */
const figuresOf = (position: Pick<PnlBody, (typeof FIGURES)[number]>) =>
  Object.fromEntries(FIGURES.map((name) => [name, position[name]]))
const FIGURES = [
  "mint",
  "holding",
  "buys",
  "sells",
  "open",
  "quantities",
  "known",
  "realized",
  "unrealized",
  "total",
  "costUsd",
  "proceedsUsd",
  "avgCostUsd"
] as const

const ofType = ({ frames }: FakeWire, type: string) => frames.filter((frame) => frame.type === type)
/** The slots of the trades of a wallet that a stream has sent. */
const slotsOf = (wire: FakeWire, wallet: Address = BOT) =>
  ofType(wire, "trade").flatMap((frame) => (frame["wallet"] === wallet ? [frame["slot"]] : []))

describe("fills of a replay in the tracker", () => {
  it.effect("are sent once and in the order of their slots, and equal the reads of the wallet", () =>
    Effect.gen(function* () {
      const { decided, happen, open, read, tracked: shown } = yield* sceneOf()
      const wire = yield* open(START, BOT, OTHER)
      yield* happen(1)
      decided.fill(3, 2_000_000_000n, 1000n)
      yield* happen(2)
      assert.deepStrictEqual(slotsOf(wire), [])
      yield* happen(3)
      // The first transaction of its slot.
      const trades = ofType(wire, "trade").map((frame) => [frame["slot"], frame["wallet"]])
      assert.deepStrictEqual(trades.slice(-3), [
        [2, OTHER],
        [3, BOT],
        [3, OTHER]
      ])
      // Known only once the blocks before it have come.
      decided.fill(6, 1_000_000_000n, 400n, { isSale: true })
      yield* happen(4)
      decided.fill(5, 3_000_000_000n, 1000n, { model: "replayed" })
      yield* happen(5, 6, 7)
      yield* pass(5000)
      assert.deepStrictEqual(slotsOf(wire), [3, 5, 6])
      const balances = ofType(wire, "balance_update").map((frame) => [frame["mint"], frame["delta"], frame["balance"]])
      assert.deepStrictEqual(balances, [
        [MINT, "1000", "1000"],
        [MINT, "1000", "2000"],
        [MINT, "-400", "1600"]
      ])
      const reads = yield* read
      assert.deepInclude(reads.positions[0], { holding: 1600n, costUsd: "750", realized: "0" })
      assert.deepStrictEqual(shown(), reads)
      const last = ofType(wire, "pnl").findLast((frame) => frame["wallet"] === BOT)
      assert.deepInclude(last, { holding: "1600", costUsd: "750", realized: "0", buys: 2, sells: 1 })
      assert.deepInclude(last?.["coverage"], { reason: "observed_swaps_only" })
    })
  )

  it.effect("count in the order of their slots, in whatever order they become known", () =>
    Effect.gen(function* () {
      const { decided, happen, open, read, tracked: shown } = yield* sceneOf()
      const wire = yield* open(START, BOT)
      yield* happen(1)
      decided.fill(4, 1_000_000_000n, 700n, { isSale: true })
      decided.fill(3, 2_000_000_000n, 1000n)
      yield* happen(5)
      assert.deepStrictEqual(slotsOf(wire), [3, 4])
      // A block may come before the accounts of its slot.
      decided.fill(7, 1_000_000_000n, 300n, { isSale: true })
      yield* happen(7)
      decided.fill(6, 2_000_000_000n, 500n)
      yield* happen(8)
      yield* pass(2000)
      assert.deepStrictEqual(slotsOf(wire), [3, 4, 7, 6])
      assert.deepStrictEqual(shown(), yield* read)
      assert.deepInclude(ofType(wire, "pnl").at(-1), { holding: "500", buys: 2, sells: 2 })
    })
  )

  it.effect("are in the snapshot of a wallet that is tracked later, or again, however many they are", () =>
    Effect.gen(function* () {
      const { decided, happen, list, open, read, tracked: shown } = yield* sceneOf()
      for (let slot = 1; slot <= 300; slot++) {
        decided.fill(slot, 1_000_000_000n, 10n)
      }
      yield* happen(1, 299, 300)
      const addedAtMs = timeOf(301)
      const wire = yield* open(addedAtMs, BOT)
      assert.deepStrictEqual(shown(addedAtMs), yield* read)
      assert.deepInclude(shown(addedAtMs).positions[0], { holding: 3000n, buys: 300 })
      assert.lengthOf(shown(addedAtMs).trades, 300)
      decided.fill(302, 1_000_000_000n, 1000n, { isSale: true })
      yield* happen(301, 302)
      assert.deepStrictEqual(slotsOf(wire), [302])
      yield* open(timeOf(303), BOT)
      assert.deepStrictEqual(shown(timeOf(303)), yield* read)

      list.replace([], list.mark())
      yield* pass(30_000)
      decided.fill(400, 1_000_000_000n, 500n)
      yield* happen(400)
      const again = yield* open(timeOf(401), BOT)
      assert.deepStrictEqual(shown(timeOf(401)), yield* read)
      assert.deepInclude(shown(timeOf(401)).positions[0], { holding: 2500n, buys: 301, sells: 1 })
      assert.deepStrictEqual(slotsOf(again), [])
      yield* happen(401)
      assert.deepStrictEqual(shown(timeOf(401)), yield* read)
    })
  )

  it.effect("come without a block once the replay has ended, after its last block", () =>
    Effect.gen(function* () {
      const { decided, happen, open, read, tracked: shown } = yield* sceneOf()
      const wire = yield* open(START, BOT)
      yield* happen(1)
      decided.fill(9, 1_000_000_000n, 10n)
      decided.lastBlock = 7
      decided.hasEnded = true
      yield* pass(1000)
      assert.deepStrictEqual(slotsOf(wire), [])
      yield* happen(7)
      yield* pass(1000)
      assert.deepStrictEqual(slotsOf(wire), [9])
      assert.deepStrictEqual(shown(), yield* read)
    })
  )

  it.effect("have no value while the price of SOL is not known, and are valued again once it is", () =>
    Effect.gen(function* () {
      const { decided, happen, open, read, tracked: shown } = yield* sceneOf()
      const wire = yield* open(START, BOT)
      decided.isSolKnown = false
      decided.fill(1, 1_000_000_000n, 10n)
      yield* happen(1)
      yield* pass(2000)
      assert.deepInclude(ofType(wire, "trade")[0], { volume_usd: null, volume_sol: 1 })
      assert.deepInclude(ofType(wire, "pnl").at(-1), { costUsd: null, holding: "10" })
      assert.deepStrictEqual(shown(), yield* read)
      decided.isSolKnown = true
      yield* pass(6000)
      assert.deepInclude(ofType(wire, "pnl").at(-1), { costUsd: "150", holding: "10", trigger: "resync" })
      assert.lengthOf(ofType(wire, "trade"), 1)
      assert.deepStrictEqual(shown(), yield* read)
    })
  )

  it.effect("need no token accounts of the wallet, and stay when another chain follows", () =>
    Effect.gen(function* () {
      const tape = renewableTape()
      const waiting = Layer.succeed(WalletAccounts, {
        of: () => "waiting",
        ask: () => undefined,
        again: () => undefined,
        againFirst: () => undefined,
        withdraw: () => undefined,
        startAnew: () => undefined
      })
      const { decided, happen, open, read, tracked: shown } = yield* sceneOf(tape.layer, waiting)
      const wire = yield* open(START, BOT)
      yield* happen(1)
      decided.fill(2, 1_000_000_000n, 10n)
      yield* happen(2)
      yield* tape.renew
      yield* happen(3)
      yield* pass(2000)
      assert.deepStrictEqual(slotsOf(wire), [2])
      assert.deepStrictEqual(shown(), yield* read)
      assert.deepInclude(shown().positions[0], { holding: 10n, costUsd: "150" })
    })
  )
})
