/**
 * A program that runs the tapes of some chains on a store until it is killed. Chains are scripted: every slot has a block,
 * with the same three trades. It prints, with the chain's name before it, the number of trades on a tape at a new
 * block once all are restored, and the stored progress.
 */
import { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Layer, Schedule, Stream } from "effect"
import { writeSync } from "node:fs"
import { SOL } from "../../src/domain/Address.ts"
import { TradeFeed } from "../../src/market/tape/TradeFeed.ts"
import type { TradeBatch } from "../../src/market/model/TradeBatch.ts"
import * as MarketStoresPg from "../../src/market/history/MarketStoresPg.ts"
import { Market } from "../../src/market/tape/Market.ts"
import { clientConfig } from "../../src/storage/Database.ts"
import { PriceBook } from "../../src/tokens/PriceBook.ts"
import { leg, netOf, transactionOf } from "../market/tape/decoded.ts"
import { mintOf, walletOf } from "../market/tape/tape.ts"
import { marketStores } from "../../src/market/model/MarketStores.ts"
import { layerOf, replaced } from "./marketStores.ts"

const [, , host = "", database = "", startMs = "", ...chains] = process.argv

const say = (...words: ReadonlyArray<string | number>) => Effect.sync(() => writeSync(1, `${words.join(" ")}\n`))

const blockOf = (slot: number): TradeBatch => ({
  slot,
  timeMs: Number(startMs) + slot * 400,
  transactions: [0, 1, 2].map((indexInBlock) => {
    const swap = leg({ slot, indexInBlock, wallet: walletOf(slot % 7) })
    return transactionOf({ index: indexInBlock, legs: [swap], nets: [netOf(swap, [0])] })
  }),
  launches: [],
  afterGap: false
})

const feedOf = (genesis: string) =>
  Layer.succeed(TradeFeed, {
    chain: Effect.succeed({ genesis, isSandbox: false }),
    batches: (after) =>
      Stream.iterate(after + 1, (slot) => slot + 1).pipe(
        Stream.schedule(Schedule.spaced("3 millis")),
        Stream.map(blockOf)
      ),
    again: () => Effect.succeed({ _tag: "Missing", reason: "cleaned_up" }),
    list: () => Effect.succeed([])
  })

const prices = Layer.succeed(PriceBook, {
  at: (nowMs) => ({
    of: (mint) => (mint === SOL ? { sol: null, usd: { numerator: 3n, denominator: 20n } } : null),
    lifetime: { observedAtMs: nowMs, expiresAtMs: nowMs + 10_000 },
    isStale: false,
    silentMs: 0,
    clock: { slot: 1, epoch: 0, unixTimestamp: 1 }
  }),
  warm: () => Effect.void
})

const client = PgClient.layer({
  ...clientConfig({ poolSize: 4, connectTimeout: Duration.seconds(5), statementTimeout: Duration.seconds(30) }),
  host,
  database,
  username: "postgres"
})

/** The market stores, with a line for each append that they have acknowledged. */
const telling = (genesis: string) =>
  Layer.unwrap(
    Effect.map(marketStores, (stores) => {
      const { append } = stores.blocks
      return layerOf(
        replaced(stores, {
          blocks: {
            append: (batches) => Effect.tap(append(batches), () => say(genesis, "stored", batches.at(-1)?.slot ?? 0))
          }
        })
      )
    })
  ).pipe(Layer.provide(MarketStoresPg.layer))

const follow = (genesis: string) => {
  const tape = Market.layer.pipe(Layer.provide([feedOf(genesis), prices, telling(genesis)]))
  const followed = Effect.gen(function* () {
    const tape = yield* Market
    yield* tape.applied.pipe(
      Stream.filter(() => !tape.isRestoring()),
      Stream.take(1),
      Stream.runForEach(() => say(genesis, "tape", tape.newestSlot(), tape.state.window(mintOf(1), "24h")?.trades ?? 0))
    )
    yield* Effect.never
  })
  // Each chain has a tape and a store of its own.
  return Effect.provide(followed, Layer.fresh(tape))
}

const main = Effect.forEach(chains, follow, { concurrency: "unbounded", discard: true })

await Effect.runPromise(Effect.provide(main, client))
