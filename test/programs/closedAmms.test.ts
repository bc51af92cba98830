import { assert, describe, it } from "@effect/vitest"
import { SOL } from "../../src/domain/Address.ts"
import { closedAmmSwaps } from "../../src/programs/closed/closedAmms.ts"
import { programs, swapDecoderOf } from "../../src/programs/registry.ts"
import type { SwapDecoder } from "../../src/programs/SwapDecoder.ts"
import { decodeTrades } from "../../src/trades/decode.ts"
import {
  accountsAt,
  bytesOf,
  type Call,
  named,
  POOL,
  swapHoldings,
  swapTransfers,
  TOKEN,
  TRADER,
  transactionOf
} from "../trades/transactions.ts"

/** A swap of a program: first bytes, count of accounts, and the places of the pool and of the vaults where they are fixed. */
type Layout = readonly [dex: string, tag: string, accounts: number, pool: number, vaults?: readonly [number, number]]

const layouts = (
  [
    ["humidifi", "a1b2c3", 9, 1, [2, 3]],
    ["solfi", "07", 8, 1, [2, 3]],
    ["solfi-v2", "07", 13, 1],
    ["solfi-v2", "0e", 13, 1],
    ["tessera", "10", 13, 1],
    ["tessera", "11", 13, 1],
    ["zerofi", "06", 10, 0],
    ["zerofi", "10", 12, 0],
    ["goonfi", "02", 10, 1],
    ["goonfi-v2", "01", 12, 1],
    ["bisonfi", "02", 9, 1],
    ["bisonfi", "07", 9, 1],
    ["alphaq", "0c", 12, 1, [5, 6]],
    ["obric", "f8c69e91e17587c8", 12, 0],
    ["obric", "414b3f4ceb5b5b88", 12, 0]
  ] satisfies ReadonlyArray<Layout>
).map((layout: Layout) => ({ title: `${layout[0]} ${layout[1]}`, layout }))

const decoderOf = (dex: string): SwapDecoder => {
  const found = closedAmmSwaps.find((decoder) => decoder.dex === dex)
  assert.isDefined(found)
  return found
}

const callOf = (
  [dex, tag, count, pool, vaults = [count - 2, count - 1]]: Layout,
  calls: ReadonlyArray<Call>
): Call => ({
  program: decoderOf(dex).programId,
  accounts: accountsAt(count, { [pool]: POOL, [vaults[0]]: named("vault sol"), [vaults[1]]: named("vault token") }),
  data: bytesOf(tag, new Uint8Array(17)),
  calls
})

const decode = (call: Call) =>
  decodeTrades(transactionOf({ signers: [TRADER], calls: [call], holdings: swapHoldings() }))

describe("AMMs without public source", () => {
  it.each(layouts)("have a leg and a net trade by what moved: $title", ({ layout }) => {
    const { legs, nets, unresolved } = decode(callOf(layout, swapTransfers()))
    assert.deepStrictEqual(
      [...legs, ...nets].map((each) => [
        each.wallet,
        each.side,
        each.token,
        each.quote.amount,
        each.quote.mint,
        each.dex
      ]),
      Array.from({ length: 2 }, () => [TRADER, "buy", { mint: TOKEN, amount: 50n, decimals: 6 }, 1000n, SOL, layout[0]])
    )
    assert.deepStrictEqual([legs[0]?.pool, legs[0]?.confirmed, unresolved], [POOL, null, 0])
  })

  it.each(layouts)("have the same leg when the pool pays first: $title", ({ layout }) => {
    const { legs } = decode(callOf(layout, swapTransfers().toReversed()))
    assert.deepStrictEqual([legs[0]?.side, legs[0]?.token.amount, legs[0]?.quote.amount], ["buy", 50n, 1000n])
  })

  it.each(layouts)("have no trade and nothing unresolved in a price update: $title", ({ layout }) => {
    assert.deepStrictEqual(decode(callOf(layout, [])), { legs: [], nets: [], unresolved: 0 })
  })

  it("are never quoted", () => {
    assert.isTrue(closedAmmSwaps.every(({ quotable }) => quotable === false))
    const quoted = new Set(programs.map(({ programId }) => programId))
    assert.isTrue(closedAmmSwaps.every(({ programId }) => !quoted.has(programId) && swapDecoderOf.has(programId)))
  })
})
