/** A chain that grows by hand, with one trade in each block. Any number of processes read it. */
import { Effect, Layer, Option, Schedule, Stream } from "effect"
import type { TradeBatch } from "../../../src/market/model/TradeBatch.ts"
import type { TradeStoreUnavailable } from "../../../src/api/schemas/Trade.ts"
import type { MarketStores } from "../../../src/market/model/MarketStores.ts"
import { TradeFeed } from "../../../src/market/tape/TradeFeed.ts"
import { PriceBook } from "../../../src/tokens/PriceBook.ts"
import { leg, netOf, transactionOf } from "./decoded.ts"
import { mintOf, MONDAY } from "./tape.ts"

export const CHAIN = { genesis: "shared", isSandbox: false }

/** A block with one trade of a token. */
export const blockOf = (slot: number): TradeBatch => {
  const swap = leg({ slot, token: { mint: mintOf(slot % 3), amount: BigInt(slot) * 1000n, decimals: 6 } })
  return {
    slot,
    timeMs: (MONDAY + slot) * 1000,
    transactions: [transactionOf({ legs: [swap], nets: [netOf(swap, [0])] })],
    launches: [],
    afterGap: false
  }
}

export class Chain {
  readonly blocks: Array<TradeBatch> = []

  grow(count: number): void {
    const from = (this.blocks.at(-1)?.slot ?? 0) + 1
    this.blocks.push(...Array.from({ length: count }, (_, i) => blockOf(from + i)))
  }

  get feed(): Layer.Layer<TradeFeed> {
    const after = (slot: number) =>
      Effect.sync(() => this.blocks.filter((block) => block.slot > slot)).pipe(
        Effect.repeat({ until: (found) => found.length > 0, schedule: Schedule.spaced("5 millis") })
      )
    return Layer.succeed(TradeFeed, {
      chain: Effect.succeed(CHAIN),
      batches: (from) =>
        Stream.paginate(from, (slot) =>
          Effect.map(after(slot), (found) => [found, Option.some(found.at(-1)?.slot ?? slot)] as const)
        ),
      again: (slot) =>
        Effect.sync(() => {
          const batch = this.blocks.find((block) => block.slot === slot)
          return batch === undefined
            ? { _tag: "Missing", reason: "missing" }
            : { _tag: "Block", batch, parentSlot: slot - 1 }
        }),
      list: (from, limit) =>
        Effect.sync(() =>
          this.blocks
            .map(({ slot }) => slot)
            .filter((slot) => slot >= from)
            .slice(0, limit)
        )
    })
  }
}

export const noPrices = Layer.succeed(PriceBook, {
  at: () => ({
    of: () => null,
    lifetime: null,
    isStale: true,
    silentMs: 0,
    clock: { slot: 1, epoch: 0, unixTimestamp: MONDAY }
  }),
  warm: () => Effect.void
})

/** Waits until it is true. */
export const becomes = (what: () => boolean) =>
  Effect.repeat(Effect.sync(what), { until: (isTrue) => isTrue, schedule: Schedule.spaced("5 millis") })

/** Slot, index and amount of each stored trade. */
export const storedTrades = ({ blocks }: MarketStores): Effect.Effect<Array<string>, TradeStoreUnavailable> =>
  Effect.map(Stream.runCollect(blocks.since({ second: 0, after: 0, most: 100_000 })), (batches) =>
    Array.from(batches).flatMap(({ trades }) => trades.map(({ amount, index, slot }) => `${slot} ${index} ${amount}`))
  )

export const slotsTo = (slot: number): ReadonlyArray<number> => Array.from({ length: slot }, (_, i) => i + 1)

/** The trades of these slots as the store gives them back. */
export const tradesOf = (slots: ReadonlyArray<number>): Array<string> => slots.map((slot) => `${slot} 0 ${slot * 1000}`)
