import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { Scalar } from "../../../src/domain/Scalar.ts"
import { EvmCandles } from "../../../src/market/reads/EvmCandles.ts"
import { makeCharts } from "../../../src/market/reads/makeCharts.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { Market } from "../../../src/market/tape/Market.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { discoveryView } from "../../../src/market/reads/discovery.ts"
import { screenView } from "../../../src/market/reads/screenView.ts"
import { HolderReader } from "../../../src/tokens/HolderReader.ts"
import { movementView } from "../../../src/market/reads/movement.ts"
import { mintOf, MONDAY, trade, walletOf } from "../tape/tape.ts"
import { bareViews, tokens } from "./bareViews.ts"
import { memory, replaced } from "../../support/marketStores.ts"

/** More than are measured between two yields. */
const TOKENS = 100

/** A block with a trade of every token. */
const block = (slot: number, second: number, given: Partial<TapeTrade>) => {
  const timeMs = (MONDAY + second) * 1000
  return {
    slot,
    timeMs,
    transactions: [],
    launches: [],
    afterGap: false,
    trades: Array.from({ length: TOKENS }, (_, n) => trade({ slot, timeMs, index: n, mint: mintOf(n), ...given }))
  }
}

/** A tape with an hour of blocks. The newest is from second 4000 and has doubled every price. */
const world = Effect.gen(function* () {
  const context = yield* Layer.build(Market.layerManual())
  const market = Context.get(context, Market)
  const { apply } = Context.get(context, Tape)
  yield* TestClock.setTime((MONDAY + 4000) * 1000)
  yield* apply(block(1, 0, { priceUsd: 1 }))
  yield* apply(block(2, 4000, { priceUsd: 2 }))
  const { sources, views } = bareViews(market)
  /** One more block of the same second, with half of the first price and another wallet. */
  const next = apply(block(4, 4000, { priceUsd: 0.5, wallet: walletOf(2) }))
  return { apply, market, views, sources, next, nowMs: (MONDAY + 4000) * 1000 }
})

const valuesOf = (rows: ReadonlyArray<Readonly<Record<"priceUsd" | "trades" | "traders", Scalar>>>) =>
  Array.from(new Set(rows.map(({ priceUsd, traders, trades }) => `${priceUsd.value} ${trades.value} ${traders.value}`)))

/** Runs a view, and applies a block once it has yielded. */
const meanwhile = Effect.fnUntraced(function* <A>(view: Effect.Effect<A>, apply: Effect.Effect<unknown>) {
  const fiber = yield* Effect.forkChild(view, { startImmediately: true })
  assert.isUndefined(fiber.pollUnsafe())
  yield* apply
  return yield* Fiber.join(fiber)
})

describe("a view of the market", () => {
  it.effect("has the breadth of its own slot, although another block has the same second", () =>
    Effect.gen(function* () {
      const { next, nowMs, views } = yield* world
      const read = () => {
        const { data } = views.overview("5m", nowMs)
        return [data.activity.trades.value, data.breadth.advancing.value, data.breadth.declining.value]
      }
      assert.deepStrictEqual(read(), ["100", "100", "0"])
      yield* next
      assert.deepStrictEqual(read(), ["200", "0", "100"])
    })
  )

  it.effect("shows every row of a ranking at one slot, although a block comes while rows are measured", () =>
    Effect.gen(function* () {
      const { next, nowMs, sources, views } = yield* world
      const nothing = { numerator: 0n, denominator: 1n }
      const selectors = { window: "5m", rank: "volume", minLiquidityUsd: nothing, minVolumeUsd: nothing } as const
      const view = Effect.suspend(() =>
        movementView(sources, views.ranking("5m"), selectors, views.contextAt(nowMs), views.coverage("5m", nowMs))
      )
      const { rows } = yield* meanwhile(view, next)
      assert.lengthOf(rows, TOKENS)
      assert.deepStrictEqual(valuesOf(rows), ["2 1 1"])
      assert.deepStrictEqual(valuesOf((yield* view).rows), ["0.5 2 2"])
    })
  )

  it.effect("shows every discovered token at one slot", () =>
    Effect.gen(function* () {
      const { next, nowMs, sources, views } = yield* world
      const selectors = {
        stage: "trending",
        window: "5m",
        launchpads: null,
        platforms: null,
        minLiquidityUsd: null,
        minHolders: null
      } as const
      const view = Effect.suspend(() =>
        discoveryView(sources, selectors, views.contextAt(nowMs), views.coverage("5m", nowMs))
      )
      const { rows } = yield* meanwhile(view, next)
      assert.lengthOf(rows, TOKENS)
      assert.deepStrictEqual(valuesOf(rows), ["2 1 1"])
    })
  )

  it.effect("shows every screened token at one slot", () =>
    Effect.gen(function* () {
      const { next, nowMs, sources, views } = yield* world
      const selectors = {
        ranges: [],
        mints: null,
        launchpads: null,
        platforms: null,
        venues: null,
        creator: null,
        graduated: null,
        mintAuthority: null,
        freezeAuthority: null,
        sort: { statistic: "trades.5m", direction: "desc" },
        show: ["priceUsd", "traders.5m"]
      } as const
      const screened = { ...sources, holders: Context.get(Context.empty(), HolderReader) }
      const view = Effect.suspend(() =>
        screenView(screened, selectors, views.contextAt(nowMs), views.coverage("24h", nowMs))
      )
      const { rows } = yield* meanwhile(view, next)
      assert.lengthOf(rows, TOKENS)
      const seen = new Set(
        rows.map(({ values }) =>
          Object.values(values)
            .map(({ value }) => value)
            .join(" ")
        )
      )
      assert.deepStrictEqual(Array.from(seen), ["1 2 1"])
    })
  )

  it.effect("has a chart at the slot of everything that is read with it", () =>
    Effect.gen(function* () {
      const { apply, market, next } = yield* world
      yield* apply(block(3, 4000, { priceUsd: 100 }))
      const evm = Context.get(yield* Layer.build(EvmCandles.layerNone), EvmCandles)
      const stores = yield* memory
      yield* stores.blocks.open({ genesis: "charted", isSandbox: true })
      // A block comes while the trades of a bar with widely spread prices are read.
      const prints = () =>
        Effect.as(
          Effect.andThen(
            next,
            Effect.sync(() => read.prints++)
          ),
          []
        )
      const read = { prints: 0 }
      const stored: Market["Service"] = Object.create(market, {
        stored: { value: () => replaced(stores, { candles: { prints } }) }
      })
      const { chartWith } = makeCharts(stored, tokens, evm)
      const request = { resolution: "1m", denom: "usd", mode: "price", from: null, to: null, limit: 9 } as const
      const { chart, value } = yield* chartWith(
        mintOf(1),
        request,
        () => market.state.window(mintOf(1), "5m")?.lastPrice
      )
      assert.strictEqual(read.prints, 1)
      assert.strictEqual(chart.data.bars.at(-1)?.c, 0.5)
      assert.strictEqual(value, 0.5)
    })
  )
})
