import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { FetchHttpClient } from "effect/http"
import type { RecordedBlocks } from "../../src/chain/blocks/RecordedBlocks.ts"
import type { TradeBlock } from "../../src/chain/decoding/TradeBlock.ts"
import { TradeBlocks } from "../../src/chain/decoding/TradeBlocks.ts"
import { Market } from "../../src/market/tape/Market.ts"
import { TradeFeed } from "../../src/market/tape/TradeFeed.ts"
import { makePast } from "../../src/simulator/past/makePast.ts"
import { recordedPast } from "../../src/simulator/past/recordedPast.ts"
import { Simulator } from "../../src/simulator/Simulator.ts"
import { slotsOf } from "../../src/simulator/traders/past.ts"
import { startOf } from "../../src/simulator/traders/startChain.ts"
import { PriceBook } from "../../src/tokens/PriceBook.ts"
import { WalletIndex } from "../../src/wallets/WalletIndex.ts"
import { answersOf } from "../market/tape/chain.ts"
import { layerOf, memory } from "../support/marketStores.ts"

const settings = { seed: "both orders", hardships: true, history: 1.2, retailWallets: 30, swapsPerSecond: 0.2 }
const LIVE_MS = startOf(Date.now())
/** The first part that is read. */
const PART_HOURS = 0.5

const prices = Layer.succeed(PriceBook, {
  at: () => ({
    of: () => null,
    lifetime: null,
    isStale: true,
    silentMs: 0,
    clock: { slot: 1, epoch: 0, unixTimestamp: 0 }
  }),
  warm: () => Effect.void
})

/** What is known of the last twenty minutes and of the whole past: the share that was seen, and why the rest is missing. */
const coverageOf = (tape: Market["Service"]) =>
  [1200, 3600 * settings.history - 120].map((seconds) => tape.readFrom(LIVE_MS / 1000 - seconds))

/** The answers of a process that reads the past of the simulated chain, and the coverage at each look meanwhile. */
const read = Effect.fnUntraced(function* (past: RecordedBlocks<TradeBlock> | null, catchUp: number) {
  const { live, mints, rpcUrl, wallets } = yield* Simulator
  const scope = yield* Scope.make()
  const store = yield* memory
  const feed = TradeFeed.layerSandbox.pipe(
    Layer.provide(TradeBlocks.layerRpc({ rpcUrl, blocks: { catchUp } }, past)),
    Layer.provide(FetchHttpClient.layer)
  )
  const layer = Market.layer.pipe(Layer.provide([feed, prices, layerOf(store)]))
  const tape = Context.get(yield* Layer.buildWithScope(layer, scope), Market)
  const looks: Array<ReturnType<typeof coverageOf>> = []
  yield* Effect.repeat(Effect.sleep("10 millis"), {
    until: () => {
      if (tape.state.now > 0) {
        looks.push(coverageOf(tape))
      }
      return tape.newestSlot() === live.slot - 1 && looks.at(-1)?.every(({ complete }) => complete) === true
    }
  })
  yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => tape.unstored().length === 0 })
  const { wallets: _, ...answers } = yield* answersOf(tape, store, {
    mints: mints().map(({ address }) => address),
    owners: [],
    before: LIVE_MS / 1000 + 1000
  })
  // Which transfers of other wallets are stored depends on the order. Readers leave out the ones that may differ.
  const index = WalletIndex.layerStored.pipe(Layer.provide([Layer.succeed(Market, tape), layerOf(store)]))
  const histories = yield* WalletIndex.use(({ read }) =>
    Effect.forEach(wallets, ({ address }) => read(address, { events: 100_000, bytes: 2 ** 30 }))
  ).pipe(Effect.provide(index))
  yield* Scope.close(scope, Exit.void)
  return { answers: { ...answers, wallets: histories.map((history) => history?.trades ?? []) }, looks }
})

describe("a market over a recorded past", () => {
  it.live(
    "reads the newest part first, says so, and ends with every answer of a market that read the oldest first",
    () =>
      Effect.gen(function* () {
        const { live, pastSlots } = yield* Simulator
        const oldestFirst = yield* read(null, 2 * pastSlots)
        // Recorded on another day, so that slots, times and signatures are moved.
        const past = recordedPast(makePast(settings, startOf(LIVE_MS - 200_000_000), 5), live)
        const newestFirst = yield* read(past, slotsOf(PART_HOURS))
        const known = newestFirst.looks.map(([part, whole]) => `${part?.complete} ${whole?.complete}`)
        assert.include(known, "true false")
        assert.notInclude(known, "false true")
        const { answers } = newestFirst
        assert.isAbove(answers.wallets.flat().length, 300)
        assert.isAbove(answers.launches.length, 4)
        for (const key of Object.keys(answers) as ReadonlyArray<keyof typeof answers>) {
          assert.deepStrictEqual(answers[key], oldestFirst.answers[key], key)
        }
      }).pipe(Effect.provide(Simulator.layer({ ...settings, speed: 0, startUnixMs: LIVE_MS, blocksKept: 100_000 })))
  )
})
