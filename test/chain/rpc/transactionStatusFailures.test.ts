import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { ChainUnavailable } from "../../../src/chain/ChainUnavailable.ts"
import { TransactionStatus } from "../../../src/chain/rpc/TransactionStatus.ts"
import { response, result, rpcError } from "../../support/scriptedNode.ts"
import { asking, facts, knowing, portTo, signature, status, statuses } from "./statusNode.ts"

type Scripted = ReturnType<typeof rpcError>
type Reason = ChainUnavailable["reason"]

describe("TransactionStatusRpc, when the node fails,", () => {
  const failures: ReadonlyArray<readonly [string, Scripted, Reason]> = [
    ["a failing server", response(503), "unreachable"],
    ["a node that is behind", rpcError(-32_005, "Node is behind by 42 slots"), "unreachable"],
    ["too many requests", response(429, "", { "retry-after": "7" }), "rate_limited"],
    ["too many requests in JSON-RPC", rpcError(429, "Too many requests"), "rate_limited"],
    ["a page of HTML", response(200, "<html>"), "invalid"],
    ["a refused key", response(403), "invalid"],
    ["no list", result({ context: { slot: 1 }, value: null }), "invalid"],
    ["an empty list", result({ context: { slot: 1 }, value: [] }), "invalid"],
    [
      "a status without a verdict",
      statuses({ slot: 500, confirmations: 1, confirmationStatus: "confirmed" }),
      "invalid"
    ],
    ["a slot that is no number", statuses({ ...status, slot: "500" }), "invalid"],
    ["a commitment that does not exist", statuses({ ...status, confirmationStatus: "rooted" }), "invalid"]
  ]

  for (const [what, scripted, reason] of failures) {
    it.effect(`fails on ${what} as ${reason}`, () =>
      asking((node, find) =>
        Effect.gen(function* () {
          node.say(() => scripted)
          assert.deepInclude(yield* Effect.flip(find(signature)), { _tag: "ChainUnavailable", reason })
        })
      )
    )
  }

  it.effect("fails rather than leave out a fact that the node should have", () =>
    asking((node, find) =>
      Effect.gen(function* () {
        const secondly: ReadonlyArray<readonly [Scripted, Reason]> = [
          [response(503), "unreachable"],
          [response(429), "rate_limited"],
          [result({ ...facts, meta: { fee: -1 } }), "invalid"],
          [rpcError(-32_602, "Invalid params"), "invalid"]
        ]
        for (const [scripted, reason] of secondly) {
          node.say(({ method }) => (method === "getTransaction" ? scripted : statuses(status)))
          assert.deepInclude(yield* Effect.flip(find(signature)), { _tag: "ChainUnavailable", reason })
        }
      })
    )
  )

  it.effect("retries once when the node could not be reached, and never when it was rate limited", () =>
    asking((node, find) =>
      Effect.gen(function* () {
        let failing = 1
        node.say((call) => (failing-- > 0 ? response(502) : knowing(status)(call)))
        assert.strictEqual((yield* find(signature)).state, "confirmed")
        assert.strictEqual(node.calls.length, 3)
        node.say(() => response(429, "", { "retry-after": "7" }))
        const error = yield* Effect.flip(find(signature))
        assert.strictEqual("retryAfterMs" in error ? error.retryAfterMs : undefined, 7000)
        assert.strictEqual(node.calls.length, 4)
      })
    )
  )

  it.effect("gives up after two seconds, whichever answer is missing", () =>
    asking((node, find) =>
      Effect.gen(function* () {
        for (const silent of ["getSignatureStatuses", "getTransaction"]) {
          node.say((call) => (call.method === silent ? node.silence : knowing(status)(call)))
          const asked = yield* Effect.forkChild(Effect.flip(find(signature)))
          while ((yield* node.next).method !== silent) {}
          yield* TestClock.adjust("1999 millis")
          assert.isUndefined(asked.pollUnsafe())
          yield* TestClock.adjust("1 millis")
          assert.deepInclude(yield* Fiber.join(asked), { _tag: "ChainUnavailable", reason: "timeout" })
        }
      })
    )
  )

  it.effect("opens its circuit after five failures in a row, and probes the node with one call", () =>
    asking((node, find) =>
      Effect.gen(function* () {
        node.say(() => response(503))
        yield* Effect.repeat(Effect.flip(find(signature)), { times: 4 })
        const asked = node.calls.length
        const error = yield* Effect.flip(find(signature))
        assert.deepInclude(error, { _tag: "ChainUnavailable", reason: "unreachable", retryAfterMs: 1000 })
        assert.strictEqual(node.calls.length, asked, "the node was asked again")

        node.say(knowing(status))
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* find(signature)).state, "confirmed")
        assert.strictEqual((yield* find(signature)).state, "confirmed")
      })
    )
  )

  it.effect("lets one call through while it probes the node again", () =>
    asking((node, find) =>
      Effect.gen(function* () {
        node.say(() => response(503))
        yield* Effect.repeat(Effect.flip(find(signature)), { times: 4 })
        yield* TestClock.adjust("1 second")
        node.say(() => node.silence)
        const asked = node.calls.length
        const probe = yield* Effect.forkChild(Effect.flip(find(signature)))
        while (node.calls.length === asked) {
          yield* node.next
        }
        const error = yield* Effect.flip(find(signature))
        assert.deepInclude(error, { _tag: "ChainUnavailable", reason: "unreachable", retryAfterMs: 1000 })
        assert.strictEqual(node.calls.length, asked + 1)
        yield* TestClock.adjust("2 seconds")
        assert.deepInclude(yield* Fiber.join(probe), { reason: "timeout" })
      })
    )
  )

  it.effect("keeps its circuit open for the node's Retry-After", () =>
    asking((node, find) =>
      Effect.gen(function* () {
        node.say(() => response(429, "", { "retry-after": "60" }))
        yield* Effect.repeat(Effect.flip(find(signature)), { times: 4 })
        yield* TestClock.adjust("59 seconds")
        assert.deepInclude(yield* Effect.flip(find(signature)), { reason: "unreachable", retryAfterMs: 1000 })
      })
    )
  )

  it.effect("keeps its circuit closed for one malformed transaction", () =>
    asking((node, find) =>
      Effect.gen(function* () {
        node.say(() => statuses({ slot: "odd" }))
        yield* Effect.repeat(Effect.flip(find(signature)), { times: 9 })
        assert.strictEqual(node.calls.length, 10)
        node.say(knowing(null))
        assert.strictEqual((yield* Effect.flip(find(signature)))._tag, "UnknownTransaction")
      })
    )
  )

  it.effect("keeps the node's address, which may hold a key, out of its failures", () =>
    Effect.gen(function* () {
      const port = portTo({ rpcUrl: "http://127.0.0.1:1/?api-key=hunter2" })
      const error = yield* TransactionStatus.use(({ find }) => Effect.flip(find(signature))).pipe(Effect.provide(port))
      assert.deepInclude(error, { _tag: "ChainUnavailable", reason: "unreachable" })
      assert.notInclude(JSON.stringify(error), "hunter2")
    })
  )
})
