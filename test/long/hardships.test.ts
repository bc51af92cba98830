import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schedule, Stream } from "effect"
import { Market, type Mint, QuoteEngine, SOL } from "../../src/index.ts"
import type { TapeTrade } from "../../src/market/model/TapeTrade.ts"
import { MarketReader } from "../../src/market/reads/MarketReader.ts"
import { Simulator } from "../../src/simulator/Simulator.ts"
import * as SimulatedMarket from "../../src/testing/SimulatedMarket.ts"
import { ActivityReader } from "../../src/tokens/ActivityReader.ts"
import { AuditReader } from "../../src/tokens/AuditReader.ts"
import { PriceBook } from "../../src/tokens/PriceBook.ts"
import { RiskReader } from "../../src/tokens/risk/RiskReader.ts"
import { TokenBook } from "../../src/tokens/TokenBook.ts"
import { TokenReader } from "../../src/tokens/TokenReader.ts"
import { at, call, connect } from "../simulator/node/client.ts"

const eventually = Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 3_000 })

const named = (symbol: string) =>
  Effect.map(
    Simulator,
    ({ mints }) => mints().find((mint) => mint.symbol === symbol)?.address ?? assert.fail(`no ${symbol}`)
  )

const riskOf = (mint: Mint) =>
  Effect.flatMap(RiskReader, (risks) => risks.riskOf(mint)).pipe(
    Effect.map(({ facts }) => facts.freeze_authority_active),
    Effect.filterOrFail((fact) => fact !== null),
    eventually
  )

const readers = Layer.mergeAll(TokenReader.layer, RiskReader.layer.pipe(Layer.provide(AuditReader.layer))).pipe(
  Layer.provide([TokenBook.layer, PriceBook.layer, ActivityReader.layerUnknown]),
  Layer.provideMerge(SimulatedMarket.layer({ seed: "readers", swapsPerSecond: 0, hardships: true }))
)

layer(readers, { excludeTestServices: true, timeout: "4 minutes" })("a reader of a market with hardships", (it) => {
  it.effect("sees who can freeze accounts, and which extensions a mint has", () =>
    Effect.gen(function* () {
      const tokens = yield* TokenReader
      assert.isTrue(yield* riskOf(yield* named("CUSTODY")))
      assert.isFalse(yield* riskOf(yield* named("LEASH")))
      const { data } = yield* tokens.factsOf(yield* named("LEASH")).pipe(eventually)
      assert.deepStrictEqual(data.extensions, ["permanent_delegate"])
    })
  )

  it.effect("gets no quote of a mint with a transfer hook, is told why, and is not told that its pools are empty", () =>
    Effect.gen(function* () {
      const mint = yield* named("SNARE")
      const { quote } = yield* QuoteEngine
      const refusal = yield* Effect.flip(
        quote({ inputMint: mint, outputMint: SOL, amount: 1_000_000n, slippageBps: 50 })
      ).pipe(
        Effect.filterOrFail(({ _tag }) => _tag !== "StateCold"),
        eventually
      )
      assert.strictEqual(refusal._tag, "RouteNotSupported")
      assert.include(Reflect.get(refusal, "detail"), `mint ${mint} has a transfer hook`)
      const tokens = yield* TokenReader
      const { data } = yield* tokens.liquidityOf(mint, 10).pipe(eventually)
      assert.deepInclude(data.totalLiquidityUsd, {
        value: null,
        status: "unavailable",
        coverage: { complete: false, reason: "not_captured" }
      })
    })
  )

  it.effect("gets quotes of tokens with 0 and with 12 decimals, and of a pair with USDT", () =>
    Effect.gen(function* () {
      const { quote } = yield* QuoteEngine
      for (const [symbol, amount] of [
        ["ABACUS", 10n],
        ["ATOM12", 10n ** 12n],
        ["USDT", 1_000_000n]
      ] as const) {
        const inputMint = yield* named(symbol)
        const { outAmount } = yield* quote({ inputMint, outputMint: SOL, amount, slippageBps: 50 }).pipe(eventually)
        assert.isTrue(outAmount > 1_000_000n, symbol)
      }
    })
  )
})

const SLOTS = 200
const STARTED_MS = Date.now() - 90_000

const forked = SimulatedMarket.layerWithTrades({
  // Blocks of this seed are dropped after 48 and 189 slots, and slots are missed after 87, 135 and 167.
  seed: "rough 1",
  speed: 0,
  swapsPerSecond: 4,
  blocksKept: 2 * SLOTS,
  startUnixMs: STARTED_MS,
  hardships: true
})

layer(forked, { excludeTestServices: true, timeout: "4 minutes" })("a market with forks and missed slots", (it) => {
  it.effect("counts no trade of a dropped block, and every trade around it and around missed slots", () =>
    Effect.gen(function* () {
      const { advance, rpcUrl, wsUrl } = yield* Simulator
      const market = yield* Market
      const socketOf = Effect.fnUntraced(function* (commitment: string) {
        const socket = yield* connect(wsUrl)
        yield* socket.ask("logsSubscribe", "all", { commitment })
        return Effect.map(
          Effect.flatMap(socket.pending, (count) => Effect.all(Array.from({ length: count }, () => socket.next))),
          (frames) => new Set(frames.map((frame) => String(at(frame, "params", "result", "value", "signature"))))
        )
      })
      const [processed, confirmed] = [yield* socketOf("processed"), yield* socketOf("confirmed")]
      yield* Effect.sync(() => market.heardAtMs()).pipe(
        Effect.filterOrFail((heard) => heard !== null),
        eventually
      )
      const slotOf = Effect.map(call(rpcUrl, "getSlot"), (answer) => Number(at(answer, "result")))
      const before = yield* slotOf
      const trades: Array<TapeTrade> = []
      const applied = { slot: before }
      yield* market.applied.pipe(
        Stream.runForEach((batch) =>
          Effect.sync(() => {
            trades.push(...batch.trades)
            applied.slot = batch.slot
          })
        ),
        Effect.forkChild({ startImmediately: true })
      )
      yield* advance(SLOTS)
      const tip = yield* slotOf
      // A slot without a block passes too: otherwise block times would run ahead of the clock.
      assert.isTrue(tip > before + SLOTS - 5 && tip <= before + SLOTS, `${tip - before} slots`)
      yield* Effect.sync(() => applied.slot).pipe(
        Effect.filterOrFail((slot) => slot >= tip),
        eventually
      )
      const blocks = Number(at(yield* call(rpcUrl, "getBlocks", before + 1, tip), "result", "length"))
      const [seen, kept] = [yield* processed, yield* confirmed]
      const dropped = Array.from(seen).filter((signature) => !kept.has(signature))
      assert.isAtLeast(dropped.length, 3)
      assert.isTrue(blocks < tip - before - 4 && blocks > SLOTS - 25, `${blocks} blocks`)
      const counted = new Set(trades.map(({ signature }) => signature))
      assert.isEmpty(dropped.filter((signature) => counted.has(signature)))
      assert.isTrue(Array.from(counted).every((signature) => kept.has(signature)))

      const swaps = () => trades.filter(({ role }) => role === "pool" || role === "both")
      const [busiest] = Array.from(Map.groupBy(swaps(), ({ mint }) => mint)).toSorted(
        (a, b) => b[1].length - a[1].length
      )
      const [mint] = busiest ?? assert.fail("nothing was traded")
      // Windows are known while the newest block is recent, so the chain catches up with the clock.
      const caughtUp = Effect.gen(function* () {
        const late = Math.floor((Date.now() - STARTED_MS) / 400) - ((yield* slotOf) - before)
        yield* advance(Math.max(0, late))
        const { data } = yield* Effect.flatMap(MarketReader, (reader) => reader.tokenStats(mint, null))
        const [window] = data.windows
        return Number(window?.trades.value ?? Number.NaN) === swaps().filter((trade) => trade.mint === mint).length
      })
      yield* caughtUp.pipe(
        Effect.filterOrFail((isEqual) => isEqual),
        eventually
      )
    })
  )
})
