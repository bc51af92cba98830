import { assert, layer } from "@effect/vitest"
import { Effect, type Layer, Stream } from "effect"
import { TradeStore } from "../../../src/market/store/TradeStore.ts"
import { MONDAY, trade } from "../tape/tape.ts"
import { storedBlock } from "./tradeStoreContract.ts"

const stored = (most: number) =>
  TradeStore.use((store) => Stream.runCollect(store.since({ second: MONDAY, after: 0, most })))

/** The contract of every trade store about transfers. */
export const transferContract = <E>(name: string, store: Layer.Layer<TradeStore, E>) =>
  layer(store, { timeout: "1 minute", excludeTestServices: true })(name, (it) => {
    it.effect("keeps transfers beside the trades: for their wallets alone", () =>
      Effect.gen(function* () {
        const store = yield* TradeStore
        yield* store.open({ genesis: "transfers", isSandbox: false })
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
          pool: null,
          dex: null
        } as const
        const transfer = trade({ slot: block.slot, timeMs: block.timeMs, ...given })
        yield* store.append([{ ...block, transfers: [transfer] }, storedBlock(2, [{ role: "pool", priceUsd: 3 }])])
        assert.deepStrictEqual(Array.from(yield* store.ofWallet(transfer.wallet, 10)), [transfer, bought])
        const everything = {
          side: null,
          wallet: null,
          pool: null,
          minUsdNanos: null,
          fromMs: null,
          toMs: null,
          before: null
        }
        const swaps = yield* store.swapsOf({ ...everything, mint: transfer.mint, limit: 10 })
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
        assert.strictEqual((yield* store.prints(prints)).length, 2)
      })
    )
  })
