import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Address, SOL } from "../../src/domain/Address.ts"
import type { Fill } from "../../src/past/FillBook.ts"
import { ReplayFills } from "../../src/past/ReplayFills.ts"
import { fillTradesOf, layerPriced, layerWithFills } from "../../src/wallets/fillTrades.ts"
import { TradeHistory } from "../../src/market/model/TradeHistory.ts"
import { LedgerReader } from "../../src/wallets/LedgerReader.ts"
import { positionsOf } from "../../src/wallets/ledger.ts"

const WALLET = Address.make("7YttLkHDoNj9wyDur5pM1ejNaAvT9X4eqaYcHQqtj2G5")
const MINT = Address.make("EWn7dE93GeQJu72WEkEmC5MZpm5FhiJzkcJEf1xpRdWP")

const fill = (
  number: number,
  swap: Pick<Fill, "amount" | "amountOut" | "inputMint" | "outputMint" | "slot">
): Fill => ({
  ...swap,
  id: `swap ${number}`,
  number,
  signature: "2ZywFaCZsqaTJUKMxVkFNCrAQdqfc7K6Emu1WhLoVAeuTW7Q7P6VA8vR1iS1ADHH6EfyAGAL1ZZRf4ZEk8mnADtz",
  wallet: WALLET,
  pools: [MINT],
  minOut: 1n,
  quotedOut: 1n,
  model: "recorded",
  postedSlot: swap.slot - 1,
  status: "filled",
  reason: null,
  hops: [],
  rank: 0,
  atMs: 1_790_000_000_000 + swap.slot * 1000
})

it("fills become positions and realized profit through the ledger, at the SOL price of their time", () => {
  const bought = fill(1, { slot: 5, inputMint: SOL, outputMint: MINT, amount: 2_000_000_000n, amountOut: 1000n })
  const sold = {
    ...fill(2, { slot: 9, inputMint: MINT, outputMint: SOL, amount: 400n, amountOut: 1_000_000_000n }),
    signature: "3ZywFaCZsqaTJUKMxVkFNCrAQdqfc7K6Emu1WhLoVAeuTW7Q7P6VA8vR1iS1ADHH6EfyAGAL1ZZRf4ZEk8mnADtz"
  }
  // 150 dollars for a SOL, then 160.
  const prices = [
    { numerator: 150n, denominator: 1000n },
    { numerator: 160n, denominator: 1000n }
  ]
  const trades = fillTradesOf([bought, sold], prices).flat()
  assert.deepStrictEqual(
    trades.map(({ amount, lamports, role, side }) => [role, side, amount, lamports]),
    [
      ["wallet", "buy", 1000n, 2_000_000_000n],
      ["wallet", "sell", 400n, 1_000_000_000n]
    ]
  )
  const { boughtNanos, held, proceedsNanos, realizedNanos } =
    positionsOf(trades).get(MINT) ?? assert.fail("no position")
  assert.deepStrictEqual(
    [held, boughtNanos, proceedsNanos, realizedNanos],
    [600n, 300_000_000_000n, 160_000_000_000n, 40_000_000_000n]
  )
  // Without a price nothing is known of the profit.
  const unpriced = positionsOf(fillTradesOf([bought, sold], [null, null]).flat()).get(MINT)
  assert.deepStrictEqual([unpriced?.held, unpriced?.realizedNanos], [600n, null])
})

it.effect("the price of SOL is looked up once for a slot, also when there is none", () =>
  Effect.gen(function* () {
    const swap = { inputMint: SOL, outputMint: MINT, amount: 2_000_000_000n, amountOut: 1000n }
    const fills = [5, 5, 5, 9].map((slot, at) => ({ ...fill(at + 1, { ...swap, slot }), rank: at % 3 }))
    const asked: Array<number> = []
    const store = Layer.mock(TradeHistory, {
      solSwaps: (slot) => Effect.sync(() => (asked.push(slot), []))
    })
    const live = yield* ReplayFills
    const layer = layerWithFills.pipe(
      Layer.provide([
        LedgerReader.layerNone,
        layerPriced.pipe(Layer.provide(store)),
        Layer.succeed(ReplayFills, { ...live, filledBy: () => fills })
      ])
    )
    yield* TestClock.setTime(1_790_000_200_000)
    const trades = yield* Effect.gen(function* () {
      const ledger = yield* LedgerReader
      const all = yield* ledger.historyOf(WALLET, 100)
      const newest = yield* ledger.historyOf(WALLET, 2)
      return [all?.trades, newest?.trades]
    }).pipe(Effect.provide(layer))
    assert.deepStrictEqual(asked, [5, 9])
    // A trade keeps its place when fewer are asked for.
    assert.deepStrictEqual(trades[1], trades[0]?.slice(0, 2))
  })
)
