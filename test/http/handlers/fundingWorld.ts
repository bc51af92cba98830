/** The service over the simulated funding service, and how its answers are judged. */
import { NodeHttpClient } from "@effect/platform-node"
import { assert } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import * as FundingClientHttp from "../../../src/funding/FundingClientHttp.ts"
import { FundingService } from "../../../src/simulator/venues/FundingService.ts"
import { OWNER, scriptedFunding, type Service } from "../../funding/scriptedFunding.ts"
import { type Answer, call, keyOf, running } from "../../support/http.ts"

/** Keys `a` to `f` of the first owner, `n` of another, `o` of an owner without wallets, `m` without the scope. */
const keys = Array.from("abcdef", (letter) => keyOf(letter, { accountId: "welcome", scopes: ["account.read"] })).concat(
  keyOf("n", { accountId: "neighbour", scopes: ["account.read"] }),
  keyOf("o", { accountId: "unknown", scopes: ["account.read"] }),
  keyOf("m", { accountId: "welcome", scopes: ["md.read", "tracker.read", "perps.read"] })
)

/** The service under test, which shares its desk with the test. */
export const serving = (timeout: Duration.Duration = Duration.seconds(10)) =>
  Layer.unwrap(
    Effect.map(FundingService, ({ token, url }) =>
      running({
        keys,
        funding: FundingClientHttp.layer({ token, url, timeout }).pipe(
          Layer.provide(NodeHttpClient.layerUndici),
          Layer.orDie
        )
      })
    )
  ).pipe(Layer.provideMerge(FundingService.layer()), Layer.orDie)

/** Answers of the scripted service, and the requests that it has received. */
export const scripted: { say: Service["say"]; asked: () => Service["asked"] } = {
  say: () => undefined,
  asked: () => []
}

/** The service under test, key `a` of the scripted owner, over whatever a test makes the funding service say. */
export const servingAScript = Layer.unwrap(
  Effect.map(scriptedFunding, ({ asked, say, url }) => {
    scripted.say = say
    scripted.asked = () => asked
    return running({
      keys: [keyOf("a", { accountId: OWNER, scopes: ["account.read"] })],
      funding: FundingClientHttp.layer({ url, token: null, timeout: Duration.seconds(10) }).pipe(
        Layer.provide(NodeHttpClient.layerUndici),
        Layer.orDie
      )
    })
  })
).pipe(Layer.orDie)

/** Asserts on a refusal: its status and code, and that it carries the envelope and its headers. */
export const assertRefused = (answer: Answer, status: number, code: string) => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.strictEqual(answer.json("error.code"), code)
  assert.match(String(answer.json("error.message")), /\.$/u)
  assert.strictEqual(answer.json("requestId"), answer.headers.get("x-request-id"))
  assert.strictEqual(answer.headers.get("cache-control"), "no-store")
}

/** Asserts on the one detail of a refused parameter. */
export const assertInvalid = (answer: Answer, field: string, issue: string) => {
  assertRefused(answer, 400, "invalid_request")
  assert.deepStrictEqual(answer.json("error.details"), [{ in: "query", field, issue }])
}

/** The body without values that differ every time. */
export const bodyOf = (answer: Answer): unknown => ({ ...JSON.parse(answer.text), requestId: null })

/** The items of a list. */
export const itemsOf = (answer: Answer): ReadonlyArray<Readonly<Record<string, unknown>>> => {
  assert.strictEqual(answer.status, 200, answer.text)
  return JSON.parse(answer.text).data
}

/** The reads that answer with lists. */
export const lists = ["wallets", "funding-catalog", "balances"] as const

/** Reads one of them, or whatever else stands below the account. */
export const read = (what: string, query: Record<string, string> = {}, key = "a") =>
  call(`/api/v1/account/${what}?${new URLSearchParams(query)}`, { key })
