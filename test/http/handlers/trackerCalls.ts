/** Calls of the tracker, and what its tests say of the answers. */
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { Address } from "../../../src/domain/Address.ts"
import { START } from "../../callouts/callouts.ts"
import { type Answer, call, keyOf, running, type World } from "../../support/http.ts"

export const WALLETS = "/api/v1/tracker/wallets"
export const BATCH = `${WALLETS}/batch`
export const GROUPS = "/api/v1/tracker/groups"
export const SNAPSHOT = "/api/v1/tracker/snapshot"
export const TRADES = "/api/v1/tracker/trades"
export const SESSION = "/api/v1/tracker/realtime/session"

/** The reads of the tracker that take a group. */
export const READS = [WALLETS, SNAPSHOT, TRADES, SESSION]

/** Keys of accounts of their own; `z` may do nothing here. */
export const keys = [
  ...Array.from("abcdefgh", (letter) => keyOf(letter, { accountId: `account_${letter}`, scopes: ["tracker.read"] })),
  keyOf("m", { accountId: "account_m", scopes: ["md.read"] }),
  // Two keys of one account.
  keyOf("n", { accountId: "account_m", scopes: ["tracker.read"] }),
  keyOf("z", { accountId: "account_z", scopes: ["account.read", "alerts.read"] })
]

/** Sets the clock to where the tests' time begins, so many milliseconds later. */
export const later = (ms = 0) => TestClock.setTime(START + ms)

/** The service with those keys, started at the beginning of the tests' time, so that periodic tasks have nothing to catch up on. */
export const serving = (world: World = {}) =>
  running({ keys, ...world }).pipe(Layer.provide(Layer.effectDiscard(later())))

export const assertRefused = (answer: Answer, status: number, code: string) => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.strictEqual(answer.json("error.code"), code)
  assert.strictEqual(answer.json("requestId"), answer.headers.get("x-request-id"))
}

export const assertDetail = (answer: Answer, at: string, field: string, issue: string) => {
  assertRefused(answer, 400, "invalid_request")
  assert.deepInclude(answer.json("error.details"), { in: at, field, issue }, answer.text)
}

/** A call with a JSON body, or without one. */
export const send = (method: string, path: string, key: string, body?: unknown, headers: Record<string, string> = {}) =>
  call(path, {
    key,
    method,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { "content-type": "application/json", ...headers }
    })
  })

/** Tracks a wallet, or whatever the body asks for. */
export const track = (key: string, body: unknown, headers: Record<string, string> = {}) =>
  call(WALLETS, {
    key,
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
    headers: { "content-type": "application/json", ...headers }
  })

export const untrack = (key: string, wallet: Address | string) =>
  call(`${WALLETS}/${wallet}`, { key, method: "DELETE" })

/** Tracked wallets of the account of a key, as JSON. */
export const listed = Effect.fnUntraced(function* (key: string, query = "") {
  const answer = yield* call(WALLETS + query, { key })
  assert.strictEqual(answer.status, 200, answer.text)
  const { wallets }: { readonly wallets: ReadonlyArray<Record<string, unknown>> } = JSON.parse(answer.text)
  return wallets
})
