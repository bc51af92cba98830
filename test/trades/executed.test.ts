/** Own transactions, executed by the mainnet programs. What is expected was computed from accounts, without the decoder. */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { globSync, readFileSync } from "node:fs"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import type { NetTrade, Quantity } from "../../src/domain/market/Trade.ts"
import { swapDecoders } from "../../src/programs/registry.ts"
import { decodeTrades } from "../../src/trades/decode.ts"
import { readTransaction } from "../../src/trades/transaction.ts"

interface ExpectedSwap {
  readonly inputMint: string
  readonly outputMint: string
  readonly amountIn: string
  readonly amountOut: string
}

interface Vector {
  readonly expect: {
    readonly legs: ReadonlyArray<ExpectedSwap & { readonly program: string; readonly pool: string }>
    readonly net: (ExpectedSwap & { readonly wallet: string }) | null
  }
  readonly transaction: unknown
}

const files = globSync(fileURLToPath(new URL("../vectors/transactions/*.json", import.meta.url))).toSorted()

/**
 * The amounts of these legs differ from the vaults': a referrer's share counts as the trader's output, and legs of a mint
 * with a transfer fee hold what the wallet sent. Their net trades are right.
 */
const LEGS_DIFFER: ReadonlySet<string> = new Set([
  "meteora-damm-v2-referral-fee-sol-in",
  "meteora-damm-v2-transfer-fee-exact-in-ava6-usdc",
  "meteora-dlmm--raydium-cpmm-two-hop-b4rg-sol-73ed",
  "meteora-dlmm-exact-in-v2-b4rg-sol-B5Ei",
  "meteora-dlmm-exact-out-v2-b4rg-sol-B5Ei",
  "orca-whirlpool-transfer-fee-exact-in-7xkx-usdc",
  "raydium-cpmm-transfer-fee-exact-in-73ed-sol",
  "raydium-cpmm-transfer-fee-exact-out-73ed-sol"
])

/** Total change by the wallet's trades: mints that it gave have negative amounts, and those that came back are left out. */
const totalOf = (nets: ReadonlyArray<NetTrade>): Readonly<Record<string, string>> => {
  const total = new Map<string, bigint>()
  const add = ({ mint, amount }: Quantity, sign: bigint) => total.set(mint, (total.get(mint) ?? 0n) + sign * amount)
  for (const { quote, side, token } of nets) {
    add(token, side === "buy" ? 1n : -1n)
    add(quote, side === "buy" ? -1n : 1n)
  }
  return Object.fromEntries(
    Array.from(total, ([mint, amount]) => [mint, String(amount)]).filter(([, sum]) => sum !== "0")
  )
}

const swapOf = (side: "buy" | "sell", token: Quantity, quote: Quantity): ExpectedSwap => {
  const [gave, got] = side === "buy" ? [quote, token] : [token, quote]
  return {
    inputMint: gave.mint,
    outputMint: got.mint,
    amountIn: String(gave.amount),
    amountOut: String(got.amount)
  }
}

const programOf = (dex: string) => swapDecoders.find((decoder) => decoder.dex === dex)?.programId

describe("transactions executed by the real programs", () => {
  it.each(files.map((path) => [basename(path, ".json"), path] as const))(
    "have the legs of the vaults and the net trade of the wallet: %s",
    (name, path) => {
      const { expect, transaction }: Vector = JSON.parse(readFileSync(path, "utf8"))
      const { legs, nets } = decodeTrades(Result.getOrThrow(readTransaction(transaction)))
      if (expect.net === null) {
        assert.isAtMost(Object.keys(totalOf(nets)).length, 1)
      } else {
        const { amountIn, amountOut, inputMint, outputMint, wallet } = expect.net
        assert.deepStrictEqual(totalOf(nets), { [inputMint]: `-${amountIn}`, [outputMint]: amountOut })
        assert.isTrue(nets.every((net) => net.wallet === wallet))
      }
      const found = legs.map(({ dex, pool, quote, side, token }) => ({
        program: String(programOf(dex)),
        pool: String(pool),
        ...swapOf(side, token, quote)
      }))
      const expected = expect.legs.map(({ amountIn, amountOut, inputMint, outputMint, pool, program }) => ({
        program,
        pool,
        inputMint,
        outputMint,
        amountIn,
        amountOut
      }))
      if (LEGS_DIFFER.has(name)) {
        assert.notDeepEqual(found, expected)
      } else {
        assert.deepStrictEqual(found, expected)
      }
    }
  )

  it("are all there", () => {
    assert.strictEqual(files.length, 53)
  })
})
