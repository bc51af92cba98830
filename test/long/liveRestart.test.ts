import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Exit, Layer, Queue, Schedule, Scope, Stream } from "effect"
import { type Address, type Mint, USDC } from "../../src/domain/Address.ts"
import type { BalanceChange } from "../../src/api/schemas/Trade.ts"
import type { TradeBatch } from "../../src/market/model/TradeBatch.ts"
import { TradeFeed } from "../../src/market/tape/TradeFeed.ts"
import { Market } from "../../src/market/tape/Market.ts"
import { WatchedWallets } from "../../src/market/tape/WatchedWallets.ts"
import { PriceBook } from "../../src/tokens/PriceBook.ts"
import { TokenBook } from "../../src/tokens/TokenBook.ts"
import { TrackerFeed } from "../../src/wallets/tracker/TrackerFeed.ts"
import { type Watch, WatchList } from "../../src/wallets/tracker/WatchList.ts"
import { WalletAccounts } from "../../src/wallets/WalletAccounts.ts"
import { leg, netOf, transactionOf } from "../market/tape/decoded.ts"
import { seededRandom } from "../market/tape/tape.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { layerOf, layerPg, storesOf } from "../support/marketStores.ts"
import { mintOf, named, pricesOf, signatureOf, walletOf } from "../wallets/tracker/liveScene.ts"
import { type MarketStorePorts, type MarketStores } from "../../src/market/model/MarketStores.ts"
import * as MemoryStores from "../../src/testing/MemoryStores.ts"

const BLOCKS = 320
const RESTART_AFTER = 270
const WALLETS = 4
const MINTS = 3
/** A mint that comes and goes by transfers only. */
const GIFT = mintOf(9)

const beginMs = Math.floor(Date.now() / 1000) * 1000 - 3_600_000
const timeOf = (slot: number): number => beginMs + slot * 1000

/** Blocks of trades for dollars and transfers, with the balances of each wallet. */
const chainOf = (seed: number): ReadonlyArray<TradeBatch> => {
  const roll = seededRandom(seed)
  const pick = (most: number) => Math.floor(roll() * most)
  const held = new Map<string, bigint>()
  const change = (owner: Address, mint: Mint, delta: bigint, cause: BalanceChange["cause"]): BalanceChange => {
    const before = held.get(owner + mint) ?? 0n
    held.set(owner + mint, before + delta)
    return { owner, mint, before, after: before + delta, delta, decimals: 6, native: false, cause }
  }
  const transaction = (slot: number, index: number) => {
    const wallet = walletOf(pick(WALLETS))
    const signature = signatureOf(slot * 100 + index)
    const kind = roll()
    const mint = kind < 0.15 ? GIFT : mintOf(1 + pick(MINTS))
    const balance = held.get(wallet + mint) ?? 0n
    const isOut = balance > 10n && roll() < 0.5
    const amount = isOut ? BigInt(1 + pick(Number(balance))) : BigInt(1 + pick(1_000_000))
    const moved = change(wallet, mint, isOut ? -amount : amount, kind < 0.4 ? "transfer" : "trade")
    if (kind < 0.4) {
      return transactionOf({ signature, index, changes: [moved], moves: [moved] })
    }
    const swap = leg({
      signature,
      slot,
      indexInBlock: index,
      wallet,
      side: isOut ? "sell" : "buy",
      token: { mint, amount, decimals: 6 },
      quote: { mint: USDC, amount: BigInt(1 + pick(9_000_000)), decimals: 6 }
    })
    const net = { ...netOf(swap, [0]), held: { token: { before: moved.before, after: moved.after }, quote: null } }
    return transactionOf({ signature, index, legs: [swap], nets: [net], changes: [moved] })
  }
  return Array.from({ length: BLOCKS }, (_, n) => ({
    slot: n + 1,
    timeMs: timeOf(n + 1),
    transactions: Array.from({ length: pick(9) }, (_, index) => transaction(n + 1, index)),
    launches: null,
    afterGap: false
  }))
}

const until = (isSo: () => boolean) =>
  Effect.repeat(Effect.sync(isSo), { until: (is) => is, schedule: Schedule.spaced("2 millis") })

/** A process on a store: `read` passes blocks to its tape, and returns once they are stored and tracked. */
const start = Effect.fnUntraced(function* (
  store: MarketStores,
  watches: ReadonlyArray<Watch>,
  again: TradeFeed["Service"]["again"] = () => Effect.never
) {
  const scope = yield* Scope.make()
  const queue = yield* Queue.unbounded<TradeBatch>()
  const feed = Layer.succeed(TradeFeed, {
    chain: Effect.succeed({ genesis: "restarted", isSandbox: true }),
    batches: () => Stream.fromQueue(queue),
    again,
    list: () => Effect.succeed([])
  })
  const prices = Layer.succeed(PriceBook, { at: (nowMs) => pricesOf({ usd: 2n }, nowMs), warm: () => Effect.void })
  const tokens = Layer.succeed(TokenBook, {
    read: () => named,
    named: () => [],
    commitment: "confirmed",
    warm: () => Effect.void
  })
  const watched = Layer.effect(
    WatchedWallets,
    WatchList.useSync(({ has }) => ({ has }))
  )
  const config = ConfigProvider.layer(ConfigProvider.fromUnknown({}))
  const layer = TrackerFeed.layer.pipe(
    Layer.provideMerge(Market.layer),
    Layer.provide([WalletAccounts.layerNamed, feed, prices, tokens, watched, layerOf(store), config]),
    Layer.provideMerge(WatchList.layer)
  )
  const context = yield* Layer.buildWithScope(layer, scope)
  const [tape, tracker, list] = [
    Context.get(context, Market),
    Context.get(context, TrackerFeed),
    Context.get(context, WatchList)
  ]
  const track = () => watches.forEach((watch) => list.add(watch))
  const read = Effect.fnUntraced(function* (blocks: ReadonlyArray<TradeBatch>) {
    const last = blocks.at(-1)
    for (const block of blocks) {
      yield* Queue.offer(queue, block)
    }
    yield* until(() => tape.newestSlot() === last?.slot && tracker.health(last.timeMs).ingestLagMs === 0)
    yield* Effect.repeat(store.blocks.progress, {
      until: (progress) => progress?.slot === last?.slot,
      schedule: Schedule.spaced("2 millis")
    })
  })
  return { track, read, tape, tracker, end: Scope.close(scope, Exit.void) }
})

/** Two accounts: one tracks every wallet from the beginning, one some of them later. */
const watches: ReadonlyArray<Watch> = Array.from({ length: WALLETS }, (_, n) => [
  { wallet: walletOf(n), addedAtMs: timeOf(3) + 400 },
  ...(n % 2 === 0 ? [{ wallet: walletOf(n), addedAtMs: timeOf(30) }] : [])
]).flat()

const sinces = watches.map(({ addedAtMs, wallet }) => ({ wallet, sinceMs: addedAtMs - (addedAtMs % 1000) }))

const shown = ({ newestOf, pnlSnapshotOf, tradesOf, lastEventAtMs }: TrackerFeed["Service"]) => ({
  ...pnlSnapshotOf(sinces, 1000, timeOf(BLOCKS)),
  trades: tradesOf(sinces.slice(0, 1), 500),
  newest: newestOf(sinces.slice(0, 1), 100, 100),
  last: sinces.map(({ wallet }) => lastEventAtMs(wallet))
})

const restarts = (name: string, stores: Layer.Layer<MarketStorePorts>) => {
  const service = storesOf(stores)

  describe(`tracked wallets over ${name}`, () => {
    it.live("have the same figures after a restart as without one", () =>
      Effect.gen(function* () {
        const chain = chainOf(7)
        const [whole, cut] = [yield* service, yield* service]
        const steady = yield* start(whole, watches)
        steady.track()
        yield* steady.read(chain)
        const before = yield* start(cut, watches)
        before.track()
        yield* before.read(chain.slice(0, RESTART_AFTER))
        yield* before.end
        const after = yield* start(cut, watches)
        after.track()
        yield* after.read(chain.slice(RESTART_AFTER))
        const expected = shown(steady.tracker)
        assert.isAbove(expected.pnl.length, WALLETS * MINTS)
        assert.isTrue(expected.pnl.some(({ mint }) => mint === GIFT))
        assert.deepStrictEqual(shown(after.tracker), expected)
        yield* steady.end
        yield* after.end
      }).pipe(Effect.scoped)
    )

    it.live("have the same figures once missed blocks were read again", () =>
      Effect.gen(function* () {
        const chain = chainOf(9)
        const [whole, cut] = [yield* service, yield* service]
        const steady = yield* start(whole, watches)
        steady.track()
        yield* steady.read(chain)
        const node = { isWhole: false }
        const again: TradeFeed["Service"]["again"] = (slot) =>
          Effect.sync(() => {
            const batch = node.isWhole ? chain.find((block) => block.slot === slot) : undefined
            return batch === undefined
              ? { _tag: "Missing", reason: "missing" }
              : { _tag: "Block", batch, parentSlot: slot - 1 }
          })
        const gapped = yield* start(cut, watches, again)
        gapped.track()
        const [before, after, last] = [chain.slice(0, 150), chain.slice(160, -1), chain.slice(-1)]
        yield* gapped.read(before)
        yield* gapped.read(after.map((block, at) => (at === 0 ? { ...block, afterGap: true } : block)))
        const told = gapped.tracker.pnlSnapshotOf(sinces, 1000, timeOf(BLOCKS))
        assert.isTrue(told.summaries.every(({ coverage }) => coverage.reason === "source_gap"))
        node.isWhole = true
        yield* until(() => gapped.tape.gaps().length === 0)
        yield* gapped.read(last)
        assert.deepStrictEqual(shown(gapped.tracker), shown(steady.tracker))
        yield* steady.end
        yield* gapped.end
      }).pipe(Effect.scoped)
    )

    it.live("are unknown until they are restored, even when the list of wallets comes late", () =>
      Effect.gen(function* () {
        const chain = chainOf(8)
        const store = yield* service
        const before = yield* start(store, watches)
        before.track()
        yield* before.read(chain.slice(0, RESTART_AFTER))
        const told = shown(before.tracker)
        yield* before.end
        const after = yield* start(store, watches)
        const [first] = after.tracker.pnlSnapshotOf(sinces, 1000, timeOf(BLOCKS)).summaries
        assert.deepInclude(first, {
          total: null,
          costUsd: null,
          coverage: { complete: false, reason: "backfill_running" }
        })
        const empty = (slot: number): TradeBatch => ({
          slot,
          timeMs: timeOf(slot),
          transactions: [],
          launches: null,
          afterGap: false
        })
        yield* after.read([empty(RESTART_AFTER + 1)])
        after.track()
        yield* after.read([empty(RESTART_AFTER + 2)])
        assert.deepStrictEqual(shown(after.tracker), told)
        yield* after.end
      }).pipe(Effect.scoped)
    )
  })
}

restarts("trades in memory", MemoryStores.layer)
if (TestDatabase.isAvailable) {
  restarts("trades in the database", Layer.orDie(layerPg))
}
