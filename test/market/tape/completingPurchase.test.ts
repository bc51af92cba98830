/**
 * A purchase that completes a pump.fun curve and goes on beyond it, and the migration after it, through the simulated
 * chain. Launches, charts, windows and wallets must agree: two swaps of the pool, and one trade of the wallet.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import { TestClock } from "effect/testing"
import { decodeBlock } from "../../../src/chain/decoding/decodeBlock.ts"
import { SOL, USDC } from "../../../src/domain/Address.ts"
import { Market } from "../../../src/market/tape/Market.ts"
import { makeBatches } from "../../../src/market/tape/blockBatches.ts"
import { makeBlockPricing } from "../../../src/market/tape/priceBlocks.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import type { PricedBatch } from "../../../src/market/model/TradeBatch.ts"
import { tradeDeed } from "../../../src/simulator/chain/transactions.ts"
import { sell } from "../../../src/simulator/chain/trade.ts"
import { makeRandom } from "../../../src/simulator/chain/Random.ts"
import { makeWorld } from "../../../src/simulator/chain/World.ts"
import { getBlock } from "../../../src/simulator/node/blockMethods.ts"
import { castOf, fundCast } from "../../../src/simulator/traders/cast.ts"
import { makeLaunches } from "../../../src/simulator/traders/Launches.ts"
import { PriceBook } from "../../../src/tokens/PriceBook.ts"
import { newBank } from "../../simulator/chain/chains.ts"
import { noPrices } from "./growingChain.ts"

const KIND = "pump-fun"

/** A coin that is launched, bought until its curve is complete, and migrated; each step with its block. */
const coinToTheEnd = () => {
  const bank = newBank(KIND)
  const world = makeWorld(KIND, bank)
  const { cast } = castOf(KIND)
  const all = makeLaunches({ world, random: makeRandom(KIND), cast })
  const whale = cast.whales[0] ?? cast.treasury
  const coin = () => all.all().find((launched) => launched.kind === KIND) ?? assert.fail("not launched")
  const newest = () => {
    const { slot } = bank.newest()
    const config = { encoding: "json", maxSupportedTransactionVersion: 0, rewards: false }
    const block = decodeBlock(slot, JSON.parse(Result.getOrThrow(getBlock(bank, [slot, config]))))
    return block ?? assert.fail("not a block")
  }
  bank.produce(() => {
    for (const [address, decimals] of [
      [SOL, 9],
      [USDC, 6]
    ] as const) {
      world.newMint({ address, decimals, authority: null, freezeAuthority: null, transferFee: null })
    }
    fundCast(world, cast)
    return []
  })
  bank.produce(() => {
    const deeds = []
    while (!all.all().some((launched) => launched.kind === KIND)) {
      deeds.push(all.launch())
    }
    return deeds
  })
  const blocks = [newest()]
  const { curve, mint } = coin()
  while (!curve.complete()) {
    bank.produce(() => {
      const bought = sell(world, whale, curve, SOL, 10_000_000_000n)
      return bought === null ? [] : [tradeDeed(world, { wallet: whale, validator: cast.validator }, [bought])]
    })
    blocks.push(newest())
  }
  bank.produce(() => all.graduate())
  blocks.push(newest())
  return { blocks, curve, mint: mint.address, pool: coin().pool?.address ?? null }
}

const sumOf = (trades: PricedBatch["trades"], amount: (trade: PricedBatch["trades"][number]) => bigint | null) =>
  trades.reduce((sum, trade) => sum + (amount(trade) ?? 0n), 0n)

it.effect("a completing purchase and its migration are the same coin and one trade in every view", () =>
  Effect.gen(function* () {
    const { blocks, curve, mint, pool } = coinToTheEnd()
    const tape = yield* Tape
    const market = yield* Market
    const pricing = makeBlockPricing(yield* PriceBook)
    const batchesOf = makeBatches()
    const priced: Array<PricedBatch> = []
    yield* TestClock.setTime(blocks.at(-1)?.blockTimeMs ?? 0)
    for (const block of blocks) {
      const [batch] = yield* Stream.runCollect(batchesOf({ _tag: "Block", block }))
      const each = yield* pricing.price(batch ?? assert.fail("no batch"))
      yield* tape.apply(each)
      priced.push(each)
    }

    const migration = priced.at(-1) ?? assert.fail("no migration")
    const completing = priced.at(-2) ?? assert.fail("no purchase")
    const own = completing.trades.filter((trade) => trade.mint === mint)
    const swaps = own.filter(({ role }) => role === "pool" || role === "both")
    const wallets = own.filter(({ role }) => role !== "pool")
    // Charts and windows have both parts at their own prices.
    assert.deepStrictEqual(
      swaps.map((trade) => [trade.pool, trade.dex, trade.side]),
      [
        [curve.address, "pump-fun-curve", "buy"],
        [curve.address, "pump-fun-curve", "buy"]
      ]
    )
    // Tracker, alerts, profit and top traders read the wallet's trade: one, of both parts, with all fees.
    assert.lengthOf(wallets, 1)
    assert.strictEqual(
      wallets[0]?.amount,
      sumOf(swaps, ({ amount }) => amount)
    )
    assert.isTrue((wallets[0]?.lamports ?? 0n) > sumOf(swaps, ({ lamports }) => lamports))
    assert.deepStrictEqual(
      (completing.transfers ?? []).filter((transfer) => transfer.mint === mint),
      []
    )

    // The migration is no trade, moves nothing of the buyer, and the launch goes on as the same one.
    assert.deepStrictEqual(
      migration.trades.filter((trade) => trade.mint === mint),
      []
    )
    assert.deepStrictEqual(
      (migration.transfers ?? []).filter((transfer) => transfer.wallet === wallets[0]?.wallet),
      []
    )
    assert.deepInclude(market.launches.of(mint), {
      launchpad: "pump-fun",
      curve: curve.address,
      pool,
      graduatedAtMs: migration.timeMs
    })

    const bought = priced.slice(0, -1).flatMap(({ trades }) => trades.filter((trade) => trade.mint === mint))
    const pooled = bought.filter(({ role }) => role === "pool" || role === "both")
    const window = market.state.window(mint, "24h")
    assert.strictEqual(window?.trades, pooled.length)
    assert.isTrue(
      priced.flatMap(({ checks }) => checks ?? []).every(({ counts }) => Object.keys(counts).join() === "confirmed")
    )
  }).pipe(Effect.provide(Market.layerManual()), Effect.provide(noPrices))
)
