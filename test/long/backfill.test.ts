import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Address, SOL } from "../../src/domain/Address.ts"
import type { Signature } from "../../src/domain/Signature.ts"
import * as MarketStoresPg from "../../src/market/history/MarketStoresPg.ts"
import type { TapeTrade } from "../../src/market/model/TapeTrade.ts"
import { tapeTradesOf } from "../../src/market/model/tapeTrades.ts"
import { Simulator } from "../../src/simulator/Simulator.ts"
import { ChainUnavailable } from "../../src/chain/ChainUnavailable.ts"
import { TransactionHistory } from "../../src/chain/rpc/TransactionHistory.ts"
import * as TransactionHistoryRpc from "../../src/chain/rpc/TransactionHistoryRpc.ts"
import { decodeBlock } from "../../src/chain/decoding/decodeBlock.ts"
import { makeBackfill } from "../../src/wallets/backfill.ts"
import { HistoryStore } from "../../src/wallets/HistoryStore.ts"
import * as HistoryStorePg from "../../src/wallets/HistoryStorePg.ts"
import { at, call } from "../simulator/node/client.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { BlockStore } from "../../src/market/model/BlockStore.ts"

const full = { encoding: "json", maxSupportedTransactionVersion: 0, rewards: false }

type Node = TransactionHistory["Service"]

/** A simulated chain with some trades, its node, and a store in which the chain is known. */
const scene = Effect.gen(function* () {
  const { advance, rpcUrl } = yield* Simulator
  yield* advance(60)
  const node = Context.get(
    yield* Layer.build(TransactionHistoryRpc.layer({ rpcUrl }).pipe(Layer.provide(NodeHttpClient.layerUndici))),
    TransactionHistory
  )
  const address = yield* TestDatabase.create
  const database = yield* Layer.build(
    Layer.mergeAll(MarketStoresPg.layer, HistoryStorePg.layer).pipe(Layer.provideMerge(TestDatabase.connect(address)))
  )
  const genesis = yield* node.genesis
  yield* Context.get(database, BlockStore).open({ genesis, isSandbox: true })
  const store = Context.get(database, HistoryStore)
  yield* store.open(genesis)
  return { node, store, address, rpcUrl, advance, genesis, sql: Context.get(database, SqlClient.SqlClient) }
})

/** The trades of every wallet by the blocks of the node, without prices. */
const tradesByWallet = Effect.fnUntraced(function* (rpcUrl: string) {
  const newest = Number(at(yield* call(rpcUrl, "getSlot"), "result"))
  const oldest = Number(at(yield* call(rpcUrl, "getFirstAvailableBlock"), "result"))
  const trades: Array<TapeTrade> = []
  for (let slot = oldest; slot <= newest; slot++) {
    const block = decodeBlock(slot, at(yield* call(rpcUrl, "getBlock", slot, full), "result"))
    for (const { legs, nets, unresolved } of block?.transactions ?? []) {
      const price = { timeMs: block?.blockTimeMs ?? 0, microPerLamport: null }
      trades.push(...tapeTradesOf({ legs, nets, unresolved }, price).filter(({ role }) => role !== "pool"))
    }
  }
  return Map.groupBy(trades, ({ wallet }) => wallet)
})

const settings = { most: 1000, rate: 1000, kept: Duration.days(30) }

/** Steps until no wallet waits. */
const finish = Effect.fnUntraced(function* ({ step }: { readonly step: Effect.Effect<Duration.Duration> }) {
  for (let steps = 0; steps < 50; steps++) {
    if (Duration.toMillis(yield* step) === 1000) {
      return
    }
  }
})

const plain = (trades: ReadonlyArray<TapeTrade>) =>
  trades.map(({ amount, held, index, mint, side, signature, slot, timeMs }) => ({
    amount,
    held,
    index,
    mint,
    side,
    signature,
    slot,
    timeMs
  }))

const busiest = (trades: ReadonlyMap<Address, ReadonlyArray<TapeTrade>>, rank: number): Address => {
  const sorted = Array.from(trades).toSorted(([, a], [, b]) => b.length - a.length)
  const [wallet] = sorted[rank] ?? []
  if (wallet === undefined) {
    throw new Error("too few wallets traded")
  }
  return wallet
}

const simulated = Simulator.layer({
  seed: "wallet history",
  speed: 0,
  swapsPerSecond: 60,
  startUnixMs: 1_790_000_000_000
})

const refusing =
  (failure: ChainUnavailable): Node["list"] =>
  () =>
    Effect.fail(failure)

describe.runIf(TestDatabase.isAvailable)("the history of a wallet", { concurrent: true }, () => {
  it.live(
    "holds the trades that blocks show, in their order, and begins with the wallet's first transaction",
    () =>
      Effect.gen(function* () {
        const { node, rpcUrl, store } = yield* scene
        const byBlocks = yield* tradesByWallet(rpcUrl)
        const wallet = busiest(byBlocks, 0)
        const backfill = yield* makeBackfill(node, store, settings)
        yield* backfill.step
        yield* backfill.ask([wallet], "key_a")
        assert.strictEqual(backfill.progressOf(wallet, Date.now())?.state, "running")
        yield* finish(backfill)
        assert.deepInclude(backfill.progressOf(wallet, Date.now()), { state: "done", isWhole: true, missing: 0 })
        const expected = (byBlocks.get(wallet) ?? []).toReversed()
        assert.isAbove(expected.length, 3)
        assert.deepStrictEqual(plain(yield* store.ofWallet(wallet, 1000)), plain(expected))
      }).pipe(Effect.provide(simulated)),
    120_000
  )

  it.live(
    "takes turns by caller, and tells how much there is before any of it is read",
    () =>
      Effect.gen(function* () {
        const { node, rpcUrl, store } = yield* scene
        const byBlocks = yield* tradesByWallet(rpcUrl)
        const [a, b, c, d] = [busiest(byBlocks, 0), busiest(byBlocks, 1), busiest(byBlocks, 2), busiest(byBlocks, 3)]
        const read: Array<Address> = []
        const noting: Node = {
          ...node,
          list: (request) =>
            Effect.andThen(
              Effect.sync(() => read.push(request.address)),
              node.list(request)
            )
        }
        const backfill = yield* makeBackfill(noting, store, { ...settings, most: 5 })
        yield* backfill.step
        yield* backfill.ask([a, b, c], "key_many")
        yield* backfill.step
        yield* backfill.ask([d], "key_one")
        yield* backfill.step
        assert.strictEqual(read[1], d, "the wallet of the other caller comes before the two that waited longer")
        assert.deepInclude(backfill.progressOf(d, Date.now()), { state: "running", read: 0, expected: 5, isHuge: true })
        yield* finish(backfill)
        assert.deepInclude(backfill.progressOf(a, Date.now()), { state: "done", read: 5 })
      }).pipe(Effect.provide(simulated)),
    120_000
  )

  it.live(
    "is priced by earlier minute candles of SOL when swaps of SOL are no longer stored",
    () =>
      Effect.gen(function* () {
        const { node, rpcUrl, sql, store } = yield* scene
        const byBlocks = yield* tradesByWallet(rpcUrl)
        const wallet = busiest(byBlocks, 0)
        const fromMs = Math.min(...(byBlocks.get(wallet) ?? []).map(({ timeMs }) => timeMs))
        yield* sql`create table minute_bars_all partition of minute_bars default`
        // Candles up to the first trade, and one that had not ended by then.
        yield* sql`
          insert into bars (mint, chain, width, at, open, high, low, close, trades, volume_usd_nanos)
          select ${SOL}, id, 60, to_timestamp(${fromMs / 1000}::float8) - make_interval(secs => age), 1, 1, 1, price, 1, 1
          from chains, (values (400, 1.0), (299, 2.0), (60, 123.5), (59, 3.0)) as bar (age, price)
        `
        const backfill = yield* makeBackfill(node, store, settings)
        yield* store.ask([wallet], "key_a")
        yield* finish(backfill)
        const first = (yield* store.ofWallet(wallet, 1000)).filter(({ timeMs }) => timeMs === fromMs)
        const paid = first.filter(({ lamports }) => lamports !== null)
        assert.isAbove(paid.length, 0)
        assert.deepStrictEqual(
          paid.map(({ volumeUsdNanos }) => volumeUsdNanos),
          paid.map(({ lamports }) => ((lamports ?? 0n) * 1235n) / 10n)
        )
      }).pipe(Effect.provide(simulated)),
    120_000
  )

  it.live(
    "goes on after a restart, stores nothing twice and continues with newer transactions when requested again",
    () =>
      Effect.gen(function* () {
        const { advance, node, rpcUrl, sql, store } = yield* scene
        const before = yield* tradesByWallet(rpcUrl)
        const wallet = busiest(before, 0)
        const first = yield* makeBackfill(node, store, settings)
        yield* store.ask([wallet], "key_a")
        const job = yield* store.next
        if (job === null) {
          return assert.fail("no wallet waits")
        }
        yield* first.step
        // Another process that took the same job stores neither trades nor progress.
        assert.isFalse(yield* store.save(job, { ...job.progress, read: 99 }, before.get(wallet) ?? []))
        const second = yield* makeBackfill(node, store, settings)
        yield* finish(second)
        const stored = yield* store.ofWallet(wallet, 1000)
        assert.strictEqual(stored.length, before.get(wallet)?.length)

        yield* advance(40)
        yield* sql`
          update wallet_backfills set
            progress = jsonb_set(progress, '{throughMs}', '0'), changed_at = changed_at + interval '1 second'
        `
        yield* second.ask([wallet], "key_a")
        yield* finish(second)
        const after = yield* tradesByWallet(rpcUrl)
        assert.isAbove(after.get(wallet)?.length ?? 0, stored.length, "the wallet traded since")
        assert.deepStrictEqual(
          plain(yield* store.ofWallet(wallet, 1000)),
          plain((after.get(wallet) ?? []).toReversed())
        )
      }).pipe(Effect.provide(simulated)),
    120_000
  )

  it.live(
    "takes turns with other wallets and stops at the bound",
    () =>
      Effect.gen(function* () {
        const { node, rpcUrl, store } = yield* scene
        const byBlocks = yield* tradesByWallet(rpcUrl)
        const wallets = [busiest(byBlocks, 0), busiest(byBlocks, 1)]
        const backfill = yield* makeBackfill(node, store, { ...settings, most: 3 })
        yield* store.ask(wallets, "key_a")
        const first = yield* store.next
        assert.isNotNull(first)
        yield* Effect.sleep("5 millis")
        yield* first === null ? Effect.void : store.save(first, first.progress, [])
        assert.notStrictEqual((yield* store.next)?.wallet, first?.wallet, "it is the other's turn")
        yield* finish(backfill)
        for (const wallet of wallets) {
          assert.deepInclude(backfill.progressOf(wallet, Date.now()), { state: "done", read: 3, isWhole: false })
        }
      }).pipe(Effect.provide(simulated)),
    120_000
  )

  it.live(
    "is refused by name when the node has no histories, and waits while the node is unreachable",
    () =>
      Effect.gen(function* () {
        const { node, rpcUrl, store } = yield* scene
        const wallet = busiest(yield* tradesByWallet(rpcUrl), 0)
        yield* store.ask([wallet], "key_a")
        const away = new ChainUnavailable({ reason: "unreachable", detail: "gone" })
        const waiting = yield* makeBackfill({ ...node, list: refusing(away) }, store, settings)
        assert.strictEqual(Duration.toMillis(yield* waiting.step), 5000)
        assert.strictEqual((yield* store.next)?.progress.tries, 0)

        const without = new ChainUnavailable({ reason: "invalid", detail: "Method not found", rpcCode: -32601 })
        const refusedBy = yield* makeBackfill({ ...node, list: refusing(without) }, store, settings)
        yield* refusedBy.step
        assert.deepInclude(refusedBy.progressOf(wallet, Date.now()), {
          state: "failed",
          error: "The node does not serve the history of wallets: Method not found"
        })
        assert.isNull(yield* store.next)
      }).pipe(Effect.provide(simulated)),
    120_000
  )

  it.live(
    "counts transactions that the node cannot give",
    () =>
      Effect.gen(function* () {
        const { node, rpcUrl, store } = yield* scene
        const byBlocks = yield* tradesByWallet(rpcUrl)
        const wallet = busiest(byBlocks, 0)
        const lost = byBlocks.get(wallet)?.[0]?.signature
        const read: Node["read"] = (signature: Signature) =>
          signature === lost ? Effect.succeed(null) : node.read(signature)
        const backfill = yield* makeBackfill({ ...node, read }, store, settings)
        yield* store.ask([wallet], "key_a")
        yield* finish(backfill)
        assert.deepInclude(backfill.progressOf(wallet, Date.now()), { state: "done", missing: 1 })
        const signatures = (yield* store.ofWallet(wallet, 1000)).map(({ signature }) => signature)
        assert.notInclude(signatures, lost)
      }).pipe(Effect.provide(simulated)),
    120_000
  )
})
