/** The figures of the tape against a decoder that shares no code with it, on a simulated chain. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type MinuteBar, sided, withTrade } from "../../scripts/recompute/bars.ts"
import { blocksOf, call, type RawBlock, slotsBetween } from "../../scripts/recompute/chain.ts"
import { legsOf } from "../../scripts/recompute/legs.ts"
import type { Mint } from "../../src/domain/Address.ts"
import { TradeTape } from "../../src/market/tape/TradeTape.ts"
import { layerWithTrades, Simulator } from "../../src/testing/SimulatedMarket.ts"

const SLOTS = 600
const MINUTE = 60_000

const readAll = (rpcUrl: string) =>
  Effect.promise(async (): Promise<ReadonlyArray<RawBlock>> => {
    const newest = Number(await call(rpcUrl, "getSlot", []))
    const blocks: Array<RawBlock> = []
    for await (const block of blocksOf(rpcUrl, await slotsBetween(rpcUrl, newest - SLOTS + 1, newest))) {
      blocks.push(block)
    }
    return blocks
  })

/** Minute bars of every mint. */
const barsOf = (blocks: ReadonlyArray<RawBlock>, decimalsOf: (mint: string) => number) => {
  const bars = new Map<string, Map<number, MinuteBar>>()
  for (const { blockTime, transactions } of blocks) {
    const timeMs = blockTime * 1000
    for (const leg of transactions.flatMap((transaction) => legsOf(transaction)).map(sided)) {
      const minutes = bars.get(leg.mint) ?? new Map<number, MinuteBar>()
      const start = timeMs - (timeMs % MINUTE)
      minutes.set(start, withTrade(minutes.get(start), leg, { decimals: decimalsOf(leg.mint), timeMs }))
      bars.set(leg.mint, minutes)
    }
  }
  return bars
}

// Blocks of the future are not accepted, so the chain begins ten minutes ago.
const startUnixMs = Date.now() - 10 * MINUTE

layer(layerWithTrades({ seed: "recompute", speed: 0, swapsPerSecond: 20, startUnixMs }), {
  timeout: "2 minutes",
  excludeTestServices: true
})("an independent recomputation", (it) => {
  it.effect("finds the minute candles of the tape, in SOL to the last digit", () =>
    Effect.gen(function* () {
      const [simulator, tape] = [yield* Simulator, yield* TradeTape]
      yield* simulator.advance(SLOTS)
      const newest = Number(yield* Effect.promise(() => call(simulator.rpcUrl, "getSlot", [])))
      const blocks = yield* readAll(simulator.rpcUrl)
      const last = blocks.at(-1)
      assert.strictEqual(last?.slot, newest)
      yield* Effect.sleep("50 millis").pipe(
        Effect.repeat({ until: () => tape.state.now >= (last?.blockTime ?? 0), times: 2000 })
      )
      const bars = barsOf(blocks, (mint) => tape.decimalsOf(mint as Mint) ?? 0)
      let [compared, native] = [0, 0]
      for (const [mint, minutes] of bars) {
        // The first minute may have begun before the blocks that were read.
        for (const bar of Array.from(minutes.values()).slice(1)) {
          const page = tape.state.bars(mint as Mint, {
            resolution: "1m",
            from: bar.startMs / 1000,
            to: bar.startMs / 1000 + 60,
            limit: 1,
            denom: "sol" as const
          })
          const found = page?.bars[0]
          assert.strictEqual(found?.trades, bar.trades, `${mint} ${bar.startMs}`)
          assert.strictEqual(found?.buys, bar.buys)
          compared++
          if (bar.isNative) {
            native++
            assert.deepStrictEqual(
              [found?.open, found?.high, found?.low, found?.close, Number(found?.volume)],
              [bar.open, bar.high, bar.low, bar.close, Number(bar.lamports) / 1e9],
              `${mint} ${bar.startMs}`
            )
          }
        }
      }
      assert.isAbove(compared, 30)
      assert.isAbove(native, 20)
    })
  )
})
