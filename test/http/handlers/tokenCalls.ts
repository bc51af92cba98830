/** Calls of the token endpoints, and what every refusal of theirs has to look like. */
import { assert } from "@effect/vitest"
import { type Answer, call, keyOf } from "../../support/http.ts"

type Options = Parameters<typeof call>[1]

export const facts = (mint: string, options: Options = {}) => call(`/api/v1/tokens/solana/${mint}`, options)
export const risk = (mint: string, options: Options = {}) => call(`/api/v1/tokens/solana/${mint}/risk`, options)
export const liquidity = (mint: string, query = "", key = "a") =>
  call(`/api/v1/tokens/solana/${mint}/liquidity${query}`, { key })
export const post = (body: string, key = "a", contentType = "application/json") =>
  call("/api/v1/prices", { method: "POST", key, body, headers: { "content-type": contentType } })

export const prices = (mints: unknown, key = "a") => post(JSON.stringify({ mints }), key)

export const assertRefused = (answer: Answer, status: number, code: string) => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.strictEqual(answer.json("error.code"), code)
  assert.match(String(answer.json("error.message")), /\.$/u)
  assert.strictEqual(answer.json("requestId"), answer.headers.get("x-request-id"))
  assert.strictEqual(answer.headers.get("cache-control"), "no-store")
}

export const assertInvalid = (answer: Answer, where: "body" | "path" | "query", field: string, issue: string) => {
  assertRefused(answer, 400, "invalid_request")
  assert.deepInclude([answer.json("error.details")].flat(), { in: where, field, issue })
}

export const answered = ({ status }: Answer) => status !== 503

export const known = (value: string, unit: string) => ({
  value,
  unit,
  status: "known",
  observedAtMs: 1000,
  expiresAtMs: 11_000,
  coverage: { complete: true, reason: null }
})

export const unknown = (unit: string, reason: string) => ({
  value: null,
  unit,
  status: "unavailable",
  observedAtMs: null,
  expiresAtMs: null,
  coverage: { complete: false, reason }
})

export const keys = "abcdefgh".split("").map((letter) => keyOf(letter))
