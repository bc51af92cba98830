import { assert, describe, it } from "@effect/vitest"
import { makeDeriveAddress } from "../../src/chain/programAddress.ts"
import type { BlockTransaction } from "../../src/chain/decoding/TradeBlock.ts"
import { decodeBlock } from "../../src/chain/decoding/decodeBlock.ts"
import { walletAmounts } from "../../src/api/schemas/Trade.ts"
import type { Address } from "../../src/domain/Address.ts"
import type { OnChainAccount } from "../../src/domain/OnChainAccount.ts"
import { programs } from "../../src/programs/registry.ts"
import { isUnpriceable } from "../../src/programs/interface/Program.ts"
import { TOKEN_2022_PROGRAM } from "../../src/programs/layout/tokenAccount.ts"
import { isFailure } from "../../src/programs/layout/unpriceable.ts"
import { getBlock } from "../../src/simulator/node/blockMethods.ts"
import { newMarket } from "../simulator/chain/chains.ts"

const derive = makeDeriveAddress()

/** What wallets gave and got in each swap, in the order of the block. A route through one pool has its fees in it. */
const swapsOf = ({ legs, nets }: BlockTransaction) =>
  legs.map((leg) => {
    const { index } = leg
    const net = nets.find((each) => each.legs.length === 1 && each.legs[0] === index)
    const { quote, token } =
      leg.dex === "pumpswap" && net !== undefined
        ? { quote: net.quote.amount, token: net.token.amount }
        : walletAmounts(leg)
    const [amountIn, amountOut] = leg.side === "buy" ? [quote, token] : [token, quote]
    const mintIn = leg.side === "buy" ? leg.quote.mint : leg.token.mint
    return { dex: leg.dex, pool: leg.pool, amountIn, amountOut, mintIn }
  })

/** Without what a vault of Token-2022 keeps back for the owner of its mint, behind the fields of a token account. */
const bytesOf = (account: OnChainAccount | undefined) =>
  Buffer.from(account?.data.subarray(0, account.owner === TOKEN_2022_PROGRAM ? 165 : undefined) ?? []).toString("hex")

/** Executes the swaps of each block once more, from the accounts before it. Counts swaps and pools that came out the same. */
const again = (dex: string, slots: number) => {
  const { bank, market } = newMarket("after", 60)
  const program = programs.find((each) => each.dex === dex)
  const { after } = program ?? {}
  if (program === undefined || after === undefined) {
    return assert.fail(`nothing is known of ${dex} after a swap`)
  }
  market.advance()
  const tally = { swaps: 0, equalSwaps: 0, pools: 0, equalPools: 0 }
  for (let at = 0; at < slots; at++) {
    const now = new Map<Address, OnChainAccount>(Array.from(bank.accounts(), (each) => [each.address, each]))
    const { slot } = market.advance()
    const clock = bank.clock()
    const answer = getBlock(bank, [slot, { encoding: "json", maxSupportedTransactionVersion: 0 }])
    const block = decodeBlock(slot, JSON.parse(answer._tag === "Success" ? answer.success : "{}"))
    const accounts = (address: Address) => now.get(address) ?? null
    const touched = new Set<Address>()
    for (const swap of Array.from(block?.transactions ?? []).flatMap(swapsOf)) {
      const pool = now.get(swap.pool)
      const decoded = pool === undefined ? null : program.decode(pool, accounts, derive)
      // A pool that was created in this block is left out.
      if (swap.dex !== dex || pool === undefined || decoded === null || isUnpriceable(decoded)) {
        continue
      }
      const aToB = swap.mintIn === decoded.mintA
      const { amountOut } = decoded.swap(aToB, swap.amountIn, clock)
      const changed = after(pool, accounts, derive, { aToB, amountIn: swap.amountIn, amountOut }, clock)
      if (isFailure(changed)) {
        return assert.fail(`${dex}: ${changed.detail}`)
      }
      changed.forEach((account) => now.set(account.address, account))
      touched.add(swap.pool)
      tally.swaps++
      tally.equalSwaps += amountOut === swap.amountOut ? 1 : 0
    }
    for (const address of touched) {
      const pool = bank.must(address)
      const needed = [address, ...program.needs(pool, accounts, derive)]
      tally.pools++
      tally.equalPools += needed.every((each) => bytesOf(now.get(each)) === bytesOf(bank.get(each))) ? 1 : 0
    }
  }
  return tally
}

describe("the accounts of a pool after a swap", () => {
  it.each(["raydium-amm-v4", "raydium-cpmm", "raydium-clmm", "orca-whirlpool", "pumpswap"])(
    "are those of the chain, byte by byte, and price its next swaps: %s",
    (dex) => {
      const { equalPools, equalSwaps, pools, swaps } = again(dex, 25)
      assert.isAbove(swaps, 20)
      assert.deepStrictEqual([equalSwaps, equalPools], [swaps, pools])
    }
  )
})
