/** Pool swaps of raw transactions as the recomputation reads them. */
import { assert, describe, it } from "@effect/vitest"
import { legsOf, readTransaction } from "../../scripts/recompute/legs.ts"
import { SOL } from "../../src/domain/Address.ts"
import { encodeEventCall } from "../../src/programs/layout/anchorEvents.ts"
import { curvePostCompleteEvent, curveTradeEvent, encodeCurveBuyV3 } from "../../src/programs/pump/curveInstructions.ts"
import { address } from "../market/tape/tape.ts"
import { PAYER, transactionOf } from "./rawTransaction.ts"

const PUMP = "6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P"
const [A, B, C, MINT, CURVE] = [address(9, 2), address(9, 3), address(9, 4), address(9, 5), address(9, 6)] as const

const zeros = <Name extends string>(names: ReadonlyArray<Name>) =>
  Object.fromEntries(names.map((name) => [name, 0n])) as Record<Name, bigint>

describe("swaps of Pump.fun from raw transactions", () => {
  it("are two of a purchase that completes its curve", () => {
    const common = { user: PAYER, mint: MINT, bondingCurve: CURVE, quoteMint: SOL, timestamp: 1 }
    const trade = {
      mint: MINT,
      solAmount: 1000n,
      tokenAmount: 500n,
      isBuy: true,
      user: PAYER,
      fee: 9n,
      creatorFee: 3n,
      feeRecipient: A,
      creator: A
    }
    const rest = { ...common, baseOut: 70n, quoteIn: 200n, fee: 2n, creatorFee: 1n }
    const events = [
      curveTradeEvent.encode({
        ...zeros(["timestamp", "virtualSolReserves", "virtualTokenReserves", "realSolReserves", "realTokenReserves"]),
        ...zeros(["feeBasisPoints", "creatorFeeBasisPoints", "totalUnclaimedTokens", "totalClaimedTokens"]),
        ...zeros(["currentSolVolume", "lastUpdateTimestamp"]),
        trackVolume: false,
        ...trade
      }),
      curvePostCompleteEvent.encode({
        ...zeros(["feeBasisPoints", "creatorFeeBasisPoints", "buybackFee"]),
        ...zeros(["poolBaseReservesBefore", "poolQuoteReservesBefore"]),
        ...zeros(["poolBaseReservesAfter", "poolQuoteReservesAfter"]),
        ...rest
      })
    ]
    const inner = events.map((event) => ({ program: PUMP, data: encodeEventCall(event), accounts: [A] }))
    const step = {
      program: PUMP,
      data: encodeCurveBuyV3(1200n, 1n),
      accounts: [B, MINT, SOL, B, B, CURVE, C],
      inner
    }
    const legs = legsOf(readTransaction(transactionOf([step], {})))
    assert.deepStrictEqual(
      legs.map(({ input, nativeFlow, output, pool, wallet }) => [
        input.mint,
        input.amount,
        output.mint,
        output.amount,
        nativeFlow,
        pool,
        wallet
      ]),
      [
        [SOL, 1000n, MINT, 500n, -1012n, CURVE, PAYER],
        [SOL, 200n, MINT, 70n, -203n, CURVE, PAYER]
      ]
    )
  })
})
