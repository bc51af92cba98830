/**
 * Transactions made for this project and executed by the mainnet programs. Expected amounts were computed from
 * accounts, without the decoder.
 */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { globSync, readFileSync } from "node:fs"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import type { Leg, NetTrade, Quantity } from "../../../src/api/schemas/Trade.ts"
import { swapDecoders } from "../../../src/programs/registry.ts"
import { decodeTrades } from "../../../src/chain/decoding/decodeTrades.ts"
import { decodeTransaction } from "../../../src/chain/decoding/decodeBlock.ts"
import { readTransaction } from "../../../src/chain/decoding/transaction.ts"
import { readWireTransaction } from "../../../src/chain/decoding/wireTransaction.ts"
import { infoOf, type JsonTransaction } from "./wireForm.ts"

interface ExpectedSwap {
  readonly inputMint: string
  readonly outputMint: string
  readonly amountIn: string
  readonly amountOut: string
}

interface ExpectedFee {
  readonly side: "input" | "output"
  readonly amount: string
}

interface Vector {
  readonly expect: {
    readonly legs: ReadonlyArray<
      ExpectedSwap & { readonly program: string; readonly pool: string; readonly transferFee?: ExpectedFee }
    >
    readonly net: (ExpectedSwap & { readonly wallet: string }) | null
  }
  readonly transaction: JsonTransaction & { readonly slot: number; readonly blockTime: number | null }
}

const files = globSync(fileURLToPath(new URL("../../vectors/transactions/*.json", import.meta.url))).toSorted()

/** Total change by the wallet's trades. Mints that it gave have negative amounts; mints that came back are left out. */
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

/** The transfer fee of a leg that has one. No vector has a fee on both sides. */
const feesOf = ({ side, transferFees }: Leg): ExpectedFee | null => {
  if (transferFees === null) {
    return null
  }
  const [input, output] =
    side === "buy" ? [transferFees.quote, transferFees.token] : [transferFees.token, transferFees.quote]
  return input > 0n ? { side: "input", amount: String(input) } : { side: "output", amount: String(output) }
}

const programOf = (dex: string) => swapDecoders.find((decoder) => decoder.dex === dex)?.programId

describe("transactions executed by the real programs", () => {
  it.each(files.map((path) => [basename(path, ".json"), path] as const))(
    "have the legs that the vaults show and the wallet's net trade: %s",
    (_name, path) => {
      const { expect, transaction }: Vector = JSON.parse(readFileSync(path, "utf8"))
      const read = Result.getOrThrow(readTransaction(transaction))
      const { legs, nets } = decodeTrades(read)
      // The same from the bytes that a Geyser sends.
      const { blockTime, slot } = transaction
      const place = { slot, blockTime, indexInBlock: read.indexInBlock }
      const fromBytes = Result.getOrThrow(readWireTransaction(infoOf(transaction), place))
      assert.deepStrictEqual(decodeTransaction(fromBytes, 0).kept, decodeTransaction(read, 0).kept)
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
      assert.deepStrictEqual(found, expected)
      assert.deepStrictEqual(
        legs.map(feesOf),
        expect.legs.map(({ transferFee }) => transferFee ?? null)
      )
      // The executed version of Whirlpool writes no event.
      assert.isTrue(legs.every(({ confirmed, dex }) => confirmed === (dex === "orca-whirlpool" ? null : true)))
    }
  )

  it("are complete", () => {
    assert.strictEqual(files.length, 53)
  })
})
