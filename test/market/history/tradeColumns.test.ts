import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { MAX_U64 } from "../../../src/domain/Amount.ts"
import { readTrade, writeTrades } from "../../../src/market/history/tradeColumns.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { readWhole, type RowReader } from "../../../src/storage/clickhouse/RowBinary.ts"
import { mintOf, trade, walletOf } from "../tape/tape.ts"

const odd: ReadonlyArray<TapeTrade> = [
  trade(),
  trade({
    amount: MAX_U64,
    lamports: null,
    decimals: null,
    priceUsd: 0.1 + 0.2,
    volumeUsdNanos: MAX_U64,
    solUsdNanos: MAX_U64,
    side: "sell",
    pool: mintOf(9),
    dex: null,
    launchpad: "pump-fun",
    index: 70_000
  }),
  trade({ priceUsd: null, volumeUsdNanos: null, dex: "", signature: "x".repeat(300) }),
  trade({ held: { before: MAX_U64, after: 0n }, feeUsdNanos: null, priorityLamports: 0n, tipLamports: 9n }),
  trade({ role: "transfer", feeUsdNanos: 7n, feeLamports: 1n }),
  trade({ role: "transfer", counterparty: walletOf(9) })
]

/** A row as it is inserted: the trade, then its price and other side in SOL, its chain and its version. */
const inserted = (row: RowReader) => {
  const found = readTrade(row)
  row.nullable(() => row.float64())
  row.nullable(() => row.uint64())
  return { trade: found, chain: row.text(), version: row.uint64() }
}

describe("rows of trades", () => {
  it.effect("keep every amount to the unit, and every unknown value", () =>
    Effect.gen(function* () {
      const { rest, rows } = readWhole(yield* writeTrades(odd, { chain: "main", version: 3n }), inserted)
      assert.lengthOf(rest, 0)
      assert.deepStrictEqual(
        rows,
        odd.map((trade) => ({ trade, chain: "main", version: 3n }))
      )
    })
  )

  it.effect("are read from pieces that end anywhere", () =>
    Effect.gen(function* () {
      const bytes = yield* writeTrades(odd, { chain: "main", version: 0n })
      for (const size of [1, 7, 100, 333]) {
        const found: Array<TapeTrade> = []
        let held = new Uint8Array()
        for (let at = 0; at < bytes.length; at += size) {
          const { rest, rows } = readWhole(Buffer.concat([held, bytes.subarray(at, at + size)]), inserted)
          found.push(...rows.map(({ trade }) => trade))
          held = Uint8Array.from(rest)
        }
        assert.deepStrictEqual(found, odd, `pieces of ${size}`)
      }
    })
  )

  it.effect("are written in turns of the loop", () =>
    Effect.gen(function* () {
      const turns = { count: 0 }
      const monotonicTimeNanosUnsafe = () => BigInt(1e6 * turns.count++)
      const clock: Clock.Clock = Object.assign(Object.create(yield* Clock.Clock), { monotonicTimeNanosUnsafe })
      const writing = writeTrades([...odd, ...odd], { chain: "main", version: 0n })
      const fiber = yield* Effect.forkChild(Effect.provideService(writing, Clock.Clock, clock), {
        startImmediately: true
      })
      assert.isUndefined(fiber.pollUnsafe())
      assert.deepStrictEqual(yield* Fiber.join(fiber), yield* writing)
    })
  )
})
