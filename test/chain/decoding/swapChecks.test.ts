import { assert, describe, it } from "@effect/vitest"
import { Address, SOL } from "../../../src/domain/Address.ts"
import { poolSwapsOf } from "../../../src/chain/decoding/poolSwaps.ts"
import { sumChecks } from "../../../src/chain/decoding/swapChecks.ts"
import { bought, CURVE, TRADE_EVENT, tokenHoldings, tradeEvent } from "./pumpEvents.ts"
import {
  accountsAt,
  bytesOf,
  type Call,
  event,
  type Holding,
  little,
  named,
  POOL,
  swapHoldings,
  swapTransfers,
  TOKEN,
  TRADER,
  transactionOf,
  transfer,
  transferChecked
} from "./transactions.ts"

const LAUNCHLAB = Address.make("LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj")
const DLMM = Address.make("LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo")
const AMM_V4 = Address.make("675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8")

const checksOf = (calls: ReadonlyArray<Call>, holdings: ReadonlyArray<Holding>, logs?: ReadonlyArray<string>) =>
  poolSwapsOf(transactionOf({ signers: [TRADER], calls, holdings, ...(logs !== undefined && { logs }) })).checks.map(
    ({ dex, outcome, tag }) => [dex, outcome, tag]
  )

/** A call whose vaults are the tenth and eleventh account, or the places that are given. */
const poolCall = (
  program: Address,
  tag: string,
  calls: ReadonlyArray<Call>,
  [pool, a, b] = [4, 7, 8] as const
): Call => ({
  program,
  accounts: accountsAt(18, { [pool]: POOL, [a]: named("vault token"), [b]: named("vault sol") }),
  data: bytesOf(tag, little(1000n, 8), little(1n, 8)),
  calls
})

const BUY = "faea0d7bd59c13ec"
const NEW = "0102030405060708"

const curveCall = (tag: string, calls: ReadonlyArray<Call>): Call => ({
  program: CURVE,
  accounts: accountsAt(17, { 1: TOKEN, 2: SOL, 5: POOL, 6: named("curve token"), 7: named("curve quote"), 8: TRADER }),
  data: bytesOf(tag, little(50n, 8), little(2000n, 8)),
  calls
})
const curveTrade = (tokens: bigint) =>
  event(CURVE, TRADE_EVENT, tradeEvent({ sol: 1000n, tokens, isBuy: true, fees: [9n, 3n] }))

describe("a check of a swap", () => {
  it("confirms amounts that the event states, and contradicts others", () => {
    assert.deepStrictEqual(checksOf([curveCall("07051dc4f5176550", [bought, curveTrade(50n)])], tokenHoldings(50n)), [
      ["pump-fun-curve", "confirmed", null]
    ])
    assert.deepStrictEqual(checksOf([curveCall("07051dc4f5176550", [bought, curveTrade(51n)])], tokenHoldings(50n)), [
      ["pump-fun-curve", "contradicted", null]
    ])
  })

  it("without an event, confirms amounts that the vaults' balances show", () => {
    assert.deepStrictEqual(checksOf([poolCall(LAUNCHLAB, BUY, swapTransfers())], swapHoldings()), [
      ["raydium-launchlab", "confirmed", null]
    ])
  })

  it("without an event, is contradicted by a vault that changed by another amount", () => {
    assert.deepStrictEqual(checksOf([poolCall(LAUNCHLAB, BUY, swapTransfers())], swapHoldings(1000n, 51n)), [
      ["raydium-launchlab", "contradicted", null]
    ])
  })

  it("sums up the swaps of one pool before it compares balances", () => {
    const calls = [poolCall(LAUNCHLAB, BUY, swapTransfers()), poolCall(LAUNCHLAB, BUY, swapTransfers())]
    assert.deepStrictEqual(checksOf(calls, swapHoldings(2000n, 100n)), [
      ["raydium-launchlab", "confirmed", null],
      ["raydium-launchlab", "confirmed", null]
    ])
  })

  it("knows nothing without an event and without balances", () => {
    const own = swapHoldings().filter(({ address }) => address !== named("vault token"))
    const transfers = [
      transferChecked(named("trader sol"), named("vault sol"), TRADER, SOL, 1000n),
      transferChecked(named("vault token"), named("trader token"), POOL, TOKEN, 50n)
    ]
    assert.deepStrictEqual(checksOf([poolCall(LAUNCHLAB, BUY, transfers)], own), [
      ["raydium-launchlab", "no_evidence", null]
    ])
  })

  it("says why a swap instruction is in no trade", () => {
    const [paid] = swapTransfers()
    assert.deepStrictEqual(
      checksOf([poolCall(LAUNCHLAB, BUY, paid === undefined ? [] : [paid])], swapHoldings(1000n, 0n)),
      [["raydium-launchlab", "one_sided", null]]
    )
    assert.deepStrictEqual(checksOf([curveCall("07051dc4f5176550", [])], []), [["pump-fun-curve", "unmoved", null]])
  })
})

describe("a swap by an unknown instruction", () => {
  it("is found by the program's swap event", () => {
    assert.deepStrictEqual(checksOf([curveCall(NEW, [bought, curveTrade(50n)])], tokenHoldings(50n)), [
      ["pump-fun-curve", "unknown", NEW]
    ])
  })

  it("is found by what its pool and its trader exchanged", () => {
    assert.deepStrictEqual(checksOf([poolCall(LAUNCHLAB, NEW, swapTransfers())], swapHoldings()), [
      ["raydium-launchlab", "unknown", NEW]
    ])
  })

  it("is found by an event in the log", () => {
    const amounts = [1000n, 1n, 1n, 5000n, 900n, 7000n, 50n]
    const payload = Buffer.from(bytesOf("03", ...amounts.map((amount) => little(amount, 8)))).toString("base64")
    const logs = [`Program ${AMM_V4} invoke [1]`, `Program log: ray_log: ${payload}`, `Program ${AMM_V4} success`]
    assert.deepStrictEqual(checksOf([poolCall(AMM_V4, "63", [])], [], logs), [["raydium-amm-v4", "unknown", "63"]])
  })

  it("is no deposit, which gives two mints and gets none of another", () => {
    const calls = [
      transfer(named("trader sol"), named("vault sol"), TRADER, 1000n),
      transfer(named("trader token"), named("vault token"), TRADER, 50n)
    ]
    assert.deepStrictEqual(checksOf([poolCall(LAUNCHLAB, NEW, calls)], swapHoldings(1000n, -50n)), [])
  })

  it("is no rebalanced position, which may put one mint in and take the other out", () => {
    assert.deepStrictEqual(checksOf([poolCall(DLMM, "5c04b0c177b95309", swapTransfers())], swapHoldings()), [])
  })
})

describe("the checks of a block", () => {
  it("are counted by program, outcome and instruction", () => {
    const confirmed = { dex: "a", outcome: "confirmed" as const, tag: null }
    const unknown = { dex: "a", outcome: "unknown" as const, tag: "01" }
    assert.deepStrictEqual(sumChecks([confirmed, unknown, confirmed, unknown, { ...confirmed, dex: "b" }]), [
      { dex: "a", counts: { confirmed: 2, unknown: 2 }, tags: { "01": 2 } },
      { dex: "b", counts: { confirmed: 1 } }
    ])
  })
})
