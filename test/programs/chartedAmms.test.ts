import { assert, describe, it } from "@effect/vitest"
import { SOL } from "../../src/domain/Address.ts"
import { closedAmmSwaps } from "../../src/programs/charted/closedAmms.ts"
import { unprovenAmmSwaps } from "../../src/programs/charted/unprovenAmms.ts"
import { programs, swapDecoderOf } from "../../src/programs/registry.ts"
import type { SwapDecoder } from "../../src/programs/interface/SwapDecoder.ts"
import { decodeTrades } from "../../src/chain/decoding/decodeTrades.ts"
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
} from "../chain/decoding/transactions.ts"

/**
 * A swap of a program: first bytes, number of accounts, and the indexes of the pool and of the vaults where they are
 * fixed.
 */
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
    ["obric", "414b3f4ceb5b5b88", 12, 0],
    ["pancakeswap-clmm", "f8c69e91e17587c8", 10, 2, [5, 6]],
    ["pancakeswap-clmm", "2b04ed0b1ac91e62", 13, 2, [5, 6]],
    ["byreal", "f8c69e91e17587c8", 10, 2, [5, 6]],
    ["byreal", "2b04ed0b1ac91e62", 13, 2, [5, 6]],
    ["raydium-launchlab", "faea0d7bd59c13ec", 18, 4, [7, 8]],
    ["raydium-launchlab", "18d3742869039938", 18, 4, [7, 8]],
    ["raydium-launchlab", "9527de9bd37c981a", 18, 4, [7, 8]],
    ["raydium-launchlab", "5fc8472208090ba6", 18, 4, [7, 8]],
    ["meteora-damm-v1", "f8c69e91e17587c8", 15, 0, [5, 6]],
    ["manifest", "04", 8, 1, [5, 6]]
  ] satisfies ReadonlyArray<Layout>
).map((layout: Layout) => ({ title: `${layout[0]} ${layout[1]}`, layout }))

/** Every AMM that is charted and not quoted. */
const charted = [...closedAmmSwaps, ...unprovenAmmSwaps]

const decoderOf = (dex: string): SwapDecoder => {
  const found = charted.find((decoder) => decoder.dex === dex)
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

describe("AMMs without proven prices", () => {
  it.each(layouts)("have a leg and a net trade of what moved: $title", ({ layout }) => {
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

  it.each(layouts)("see no trade and nothing unresolved in a price update: $title", ({ layout }) => {
    assert.deepStrictEqual(decode(callOf(layout, [])), { legs: [], nets: [], unresolved: 0 })
  })

  it("are never quoted", () => {
    assert.isTrue(charted.every(({ quotable }) => quotable === false))
    const quoted = new Set(programs.map(({ programId }) => programId))
    assert.isTrue(charted.every(({ programId }) => !quoted.has(programId) && swapDecoderOf.has(programId)))
  })
})
