import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SOL } from "../../../src/domain/Address.ts"
import { fromAtomic } from "../../../src/domain/decimal.ts"
import { isAvailable, sharedEngine } from "../../support/clickhouse/engine.ts"
import { ask } from "../../support/clickhouse/engineProcess.ts"
import { placeOf, storeOf } from "../../support/clickhouse/places.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { mintOf, MONDAY, trade, walletOf } from "../tape/tape.ts"
import { storedBlock } from "./storedBlock.ts"

const MANY = 2n ** 64n - 1n

describe.runIf(isAvailable && TestDatabase.isAvailable)("the views of ClickHouse", () => {
  const engine = sharedEngine()

  it.live("have names, base58 text and exact amounts, and the sums of what was stored", () =>
    Effect.gen(function* () {
      const here = yield* placeOf(engine(), "views")
      const store = yield* storeOf(here, yield* Effect.scope, { CLICKHOUSE_TRADES_KEPT: "20000 days" })
      yield* store.blocks.open(here.chain)
      const { signature, wallet } = trade()
      const mint = mintOf(1)
      const other = { mint: SOL, amount: 7n, decimals: 9 }
      yield* store.blocks.append([
        storedBlock(1, [
          {
            role: "both",
            mint,
            signature,
            wallet,
            amount: MANY,
            lamports: MANY,
            volumeUsdNanos: MANY,
            pool: mintOf(2)
          },
          { role: "pool", mint, volumeUsdNanos: null, pool: null, decimals: null, otherToken: other },
          { role: "wallet", mint, held: { before: 3n, after: MANY }, feeUsdNanos: null },
          { role: "transfer", mint, wallet: walletOf(9), counterparty: walletOf(8) },
          { role: "transfer", mint, wallet: walletOf(9), counterparty: SOL },
          { role: "transfer", mint, wallet: walletOf(9) }
        ])
      ])
      const rows = (query: string) => ask(here.engine, query)
      const at = new Date((MONDAY + 1) * 1000).toISOString().slice(0, 19).replace("T", " ")
      assert.deepStrictEqual(
        yield* rows(`
          SELECT index, toString(time), signature, wallet, mint, side, toString(amount), toString(volume_usd), pool,
            other_mint, toString(other_amount), decimals
          FROM fathom_trades ORDER BY slot, index
        `),
        [
          [
            0,
            `${at}.000`,
            signature,
            wallet,
            mint,
            trade().side,
            `${MANY}`,
            fromAtomic(MANY, 9),
            mintOf(2),
            null,
            null,
            6
          ],
          [
            1,
            `${at}.000`,
            trade().signature,
            trade().wallet,
            mint,
            trade().side,
            `${trade().amount}`,
            null,
            null,
            SOL,
            "7",
            null
          ]
        ]
      )
      assert.deepStrictEqual(
        yield* rows(
          "SELECT index, is_transfer, toString(held_after), toString(fee_usd), counterparty FROM fathom_wallets ORDER BY index"
        ),
        [
          [0, false, null, "0", null],
          [2, false, `${MANY}`, null, null],
          [3, true, null, "0", walletOf(8)],
          [4, true, null, "0", SOL],
          [5, true, null, "0", null]
        ]
      )
      for (const width of ["1m", "1h", "1d"]) {
        assert.deepStrictEqual(
          yield* rows(
            `SELECT mint, toString(trades), toString(volume_usd), traders IS NULL FROM fathom_bars WHERE width = '${width}'`
          ),
          [[mint, "2", fromAtomic(MANY, 9), width === "1m" ? 0 : 1]]
        )
      }
    }).pipe(Effect.scoped)
  )
})
