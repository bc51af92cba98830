import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Schema } from "effect"
import { parse } from "node:querystring"
import { QuoteQuery } from "../../../src/api/Spot.ts"
import { SOL, USDC } from "../../../src/domain/Address.ts"
import { quoteRequest } from "../../../src/http/handlers/spotRequests.ts"
import { plainQuoteQuery } from "../../../src/http/server/plainQuoteQuery.ts"

const decode = Schema.decodeUnknownExit(QuoteQuery, { onExcessProperty: "error" })

/** The request as the default handler reads it; undefined when it is answered with a 400. */
const byContract = (query: string) => {
  const decoded = decode(parse(query))
  const request = Exit.isSuccess(decoded) ? Effect.runSyncExit(quoteRequest(decoded.value)) : undefined
  return request !== undefined && Exit.isSuccess(request) ? { outputDecimals: undefined, ...request.value } : undefined
}

const mints = [SOL, USDC, `${SOL}1`, SOL.slice(0, 31), "", "0".repeat(43), `${USDC} `]
const numbers = ["0", "1", "18", "19", "1000", "1001", "00", "01", "+1", "-1", "1.0", "1e2", " 1", "", "99999", "%31"]
const amounts = [...numbers, "18446744073709551615", "18446744073709551616", "9".repeat(20), "9".repeat(129), "0x10"]

const valid = [`inputMint=${USDC}`, `outputMint=${SOL}`, "amount=5"]
const odd = [
  ...mints.flatMap((mint) => [`inputMint=${mint}`, `outputMint=${mint}`]),
  ...amounts.map((amount) => `amount=${amount}`),
  ...numbers.flatMap((number) => [`slippageBps=${number}`, `outputDecimals=${number}`]),
  "",
  "=",
  "&",
  "amount",
  "amount=1=2",
  "slippageBps",
  "Amount=1",
  "toString=1",
  "%61mount=1",
  "maxHops=1"
]

describe("a plain quote query", () => {
  it("is read as the contract's schema reads it, or not at all", () => {
    const lists = [valid, ...valid.map((_, i) => valid.toSpliced(i, 1))]
    const queries = lists.flatMap((list) =>
      odd.flatMap((part) => [
        [...list, part],
        [part, ...list]
      ])
    )
    const read = queries.flatMap((parts) => {
      const query = parts.join("&")
      const request = plainQuoteQuery(query)
      return request === undefined ? [] : [{ request, query }]
    })
    assert.isAbove(read.length, 20)
    for (const { query, request } of read) {
      assert.deepStrictEqual(request, byContract(query), query)
    }
  })

  it("is read with its parameters in any order", () => {
    const parts = [...valid, "slippageBps=1000", "outputDecimals=0"]
    for (const query of [parts.join("&"), parts.toReversed().join("&"), valid.join("&")]) {
      const read = plainQuoteQuery(query)
      assert.isDefined(read)
      assert.deepStrictEqual(read, byContract(query))
    }
  })

  it.each([
    [valid.slice(1).join("&")],
    [`${valid.join("&")}&amount=5`],
    [`${valid.join("&")}&${"x".repeat(5)}=1`],
    [`${valid.join("&")}&`],
    [`${valid.join("&")}&slippageBps`],
    [`${valid.join("&")}&amount=${"&".repeat(1000)}foo=1`],
    [`inputMint=${SOL}&outputMint=${SOL}&amount=5`],
    [`inputMint=${USDC}&outputMint=${SOL}&amount=18446744073709551616`],
    [""]
  ])("leaves %s to the schema", (query) => {
    assert.isUndefined(plainQuoteQuery(query))
  })
})
