/** More real transactions from outside the project. Expected values are what the balances show. */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { existsSync, globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { type DecodedTrades, decodeTrades } from "../../../src/chain/decoding/decodeTrades.ts"
import { readTransaction } from "../../../src/chain/decoding/transaction.ts"

const folder = fileURLToPath(new URL("../../../../shared/data/transactions-more/", import.meta.url))
const isThere = existsSync(folder)
if (!isThere) {
  process.stderr.write(`Recorded transactions are not tested: there is no folder ${folder}.\n`)
}

const decode = (prefix: string): DecodedTrades => {
  const [path] = globSync(`${folder}more-${prefix}*.json`)
  const { transaction } = JSON.parse(readFileSync(path ?? "", "utf8"))
  return decodeTrades(Result.getOrThrow(readTransaction(transaction)))
}

const short = (mint: string) => mint.slice(0, 5)

const line = ({ dex, quote, side, token }: DecodedTrades["legs"][number] | DecodedTrades["nets"][number]) =>
  `${side} ${token.amount} ${short(token.mint)} for ${quote.amount} ${short(quote.mint)} on ${dex}`

const linesOf = ({ legs, nets, unresolved }: DecodedTrades) => {
  assert.strictEqual(unresolved, 0)
  return {
    legs: legs.map(line),
    nets: nets.map(line),
    fees: nets.flatMap(({ fees }) =>
      fees.map(({ amount, included, kind, mint }) => `${kind} ${amount} ${short(mint)}${included ? " included" : ""}`)
    )
  }
}

describe.skipIf(!isThere)(
  "more recorded transactions (skipped without the folder shared/data/transactions-more)",
  () => {
    it("2pfnv4dr has the net trade of a route over a curve whose event states no fees", () => {
      assert.deepStrictEqual(linesOf(decode("2pfnv4dr")), {
        legs: [
          "buy 73111 So111 for 10000 EPjFW on meteora-dlmm",
          "buy 2583728601 HaMv3 for 72380 So111 on pump-fun-curve"
        ],
        nets: ["buy 2583728601 HaMv3 for 10000 EPjFW on jupiter"],
        fees: []
      })
    })

    it("3S2vFszS has five purchases by five signers, each for what the signer's lamports show apart from fee and rent", () => {
      const decoded = decode("3S2vFszS")
      assert.deepStrictEqual(linesOf(decoded).nets, [
        "buy 134031426910 63XVR for 3804220 So111 on pump-fun-curve",
        "buy 258072669121 63XVR for 7327572 So111 on pump-fun-curve",
        "buy 77185002179 63XVR for 2192235 So111 on pump-fun-curve",
        "buy 92456837488 63XVR for 2626408 So111 on pump-fun-curve",
        "buy 217932484410 63XVR for 6192571 So111 on pump-fun-curve"
      ])
      assert.strictEqual(new Set(decoded.nets.map(({ wallet }) => wallet)).size, 5)
      assert.isTrue(decoded.legs.every(({ confirmed }) => confirmed === true))
      assert.deepStrictEqual(
        decoded.legs.map(({ quote }) => quote.amount),
        [3_766_555n, 7_255_022n, 2_170_530n, 2_600_404n, 6_131_259n]
      )
    })

    it("28rWme56 trades on Obric, and pays 0.875 % to a front end on top", () => {
      assert.deepStrictEqual(linesOf(decode("28rWme56")), {
        legs: ["buy 5903984 So111 for 991250 EPjFW on obric"],
        nets: ["buy 5903984 So111 for 991250 EPjFW on obric"],
        fees: ["front-end 8750 EPjFW"]
      })
    })

    it("2NvFMdaJ sells on Raydium, and pays 1 % of the proceeds to a bot", () => {
      assert.deepStrictEqual(linesOf(decode("2NvFMdaJ")), {
        legs: ["sell 26403150569 bF2bi for 56033717 So111 on raydium-amm-v4"],
        nets: ["sell 26403150569 bF2bi for 56033717 So111 on raydium-amm-v4"],
        fees: ["front-end 560337 So111"]
      })
    })

    it("4VhDRLUK goes through SolFi, Obric and Orca with a fee of 0.875 %", () => {
      assert.deepStrictEqual(linesOf(decode("4VhDRLUK")), {
        legs: [
          "sell 49563 6p6xg for 543506 EPjFW on solfi",
          "buy 3679489 So111 for 543506 EPjFW on obric",
          "buy 1265445 JUPyi for 3679489 So111 on orca-whirlpool"
        ],
        nets: ["buy 1265445 JUPyi for 49563 6p6xg on jupiter"],
        fees: ["front-end 437 6p6xg"]
      })
    })

    it("5LuTa5k9 trades on ZeroFi, with a fee that the router took out of the amount", () => {
      assert.deepStrictEqual(linesOf(decode("5LuTa5k9")), {
        legs: ["buy 2143812 JUPyi for 1090650 EPjFW on zerofi"],
        nets: ["buy 2143812 JUPyi for 1100000 EPjFW on zerofi"],
        fees: ["front-end 9350 EPjFW included"]
      })
    })
  }
)
