import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { ChainUnavailable } from "../../../src/chain/ChainUnavailable.ts"
import type { RpcOptions } from "../../../src/chain/rpc/rpcSettings.ts"
import { OWNER } from "../accounts/accounts.ts"
import { error, inNoTime, Node, ok, SECRET, status, use } from "./scriptedHttp.ts"

const failure = (node: Node, options: RpcOptions = {}) =>
  inNoTime(Effect.flip(use(node, (rpc) => rpc.getSlot(), options)))

describe("a call", () => {
  it.effect("uses the configured commitment", () =>
    Effect.gen(function* () {
      const node = new Node(() => ok(12))
      assert.strictEqual(yield* use(node, (rpc) => rpc.getSlot(), { commitment: "finalized" }), 12)
      assert.deepStrictEqual(node.asked, [{ method: "getSlot", params: [{ commitment: "finalized" }] }])
    })
  )

  it.effect("fails as a timeout when every attempt goes unanswered", () =>
    Effect.gen(function* () {
      const node = new Node(() => "never")
      const fiber = yield* Effect.forkChild(Effect.flip(use(node, (rpc) => rpc.getSlot(), { retries: 1 })))
      yield* TestClock.adjust("4999 millis")
      assert.strictEqual(node.asked.length, 1)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(node.asked.length, 2)
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual((yield* Fiber.join(fiber)).reason, "timeout")
      assert.strictEqual(node.inFlight, 0)
    })
  )

  it.effect("has a longer deadline for a search among a program's accounts", () =>
    Effect.gen(function* () {
      const node = new Node(() => "never")
      const query = { programId: OWNER, matches: [] }
      const fiber = yield* Effect.forkChild(
        Effect.flip(use(node, (rpc) => rpc.getProgramAccounts(query), { retries: 0 }))
      )
      yield* TestClock.adjust("19 seconds")
      assert.strictEqual(node.inFlight, 1)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(fiber)).reason, "timeout")
    })
  )

  it.effect.each([
    { what: "a 503", answer: () => status(503) },
    { what: "a 500", answer: () => status(500) },
    { what: "a 429", answer: () => status(429) },
    { what: "a lost connection", answer: () => "unreachable" as const },
    { what: "a node that is behind", answer: () => error(-32016, "Minimum context slot has not been reached") },
    { what: "a node that is unhealthy", answer: () => error(-32005, "Node is behind by 42 slots") },
    { what: "a limit in the body", answer: () => error(429, "Too many requests") }
  ])("is retried after $what", ({ answer }) =>
    Effect.gen(function* () {
      const node = new Node((_, times) => (times < 2 ? answer() : ok(12)))
      assert.strictEqual(yield* inNoTime(use(node, (rpc) => rpc.getSlot())), 12)
      assert.strictEqual(node.asked.length, 3)
    })
  )

  it.effect.each([
    { reason: "rate_limited", answer: () => status(429) },
    { reason: "rate_limited", answer: () => error(429, "Too many requests") },
    { reason: "unreachable", answer: () => status(503) },
    { reason: "unreachable", answer: () => "unreachable" as const },
    { reason: "unreachable", answer: () => error(-32016, "Minimum context slot has not been reached") }
  ])("fails as $reason when retrying does not help", ({ reason, answer }) =>
    Effect.gen(function* () {
      const node = new Node(answer)
      assert.strictEqual((yield* failure(node, { retries: 2 })).reason, reason)
      assert.strictEqual(node.asked.length, 3)
    })
  )

  it.effect.each([
    { what: "a 403", answer: () => status(403) },
    { what: "an answer that is not JSON", answer: () => new Response("<html>") },
    { what: "an answer without a result", answer: () => new Response('{"jsonrpc":"2.0","id":1}') },
    { what: "a result of another kind", answer: () => ok("12") },
    { what: "a slot below zero", answer: () => ok(-1) },
    { what: "an error of the protocol", answer: () => error(-32602, "Invalid params") }
  ])("fails at once as invalid after $what", ({ answer }) =>
    Effect.gen(function* () {
      const node = new Node(answer)
      assert.strictEqual((yield* failure(node)).reason, "invalid")
      assert.strictEqual(node.asked.length, 1)
    })
  )

  it.effect("waits as long as the node asks before a retry", () =>
    Effect.gen(function* () {
      const node = new Node((_, times) => (times === 0 ? status(429, { "retry-after": "7" }) : ok(12)))
      const fiber = yield* Effect.forkChild(use(node, (rpc) => rpc.getSlot()))
      yield* TestClock.adjust("6900 millis")
      assert.strictEqual(node.asked.length, 1)
      yield* TestClock.adjust("200 millis")
      assert.strictEqual(yield* Fiber.join(fiber), 12)
    })
  )

  it.effect("does not wait for a node that asks for more than ten seconds", () =>
    Effect.gen(function* () {
      const node = new Node(() => status(429, { "retry-after": "60" }))
      const refused = yield* Effect.flip(use(node, (rpc) => rpc.getSlot()))
      assert.strictEqual(refused.reason, "rate_limited")
      assert.strictEqual(node.asked.length, 1)
    })
  )

  it.effect.each([
    () => "unreachable" as const,
    () => status(503),
    () => status(403),
    () => ok("x"),
    () => "never" as const
  ])("never reveals the node's address when it fails", (answer) =>
    Effect.gen(function* () {
      const refused: ChainUnavailable = yield* failure(new Node(answer))
      assert.notInclude(JSON.stringify(refused) + String(refused) + refused.detail, SECRET)
    })
  )

  it.effect("waits its turn when enough calls are in flight", () =>
    Effect.gen(function* () {
      const node = new Node(() => ok(12), Duration.seconds(1))
      const calls = use(
        node,
        (rpc) => Effect.forEach(Array.from({ length: 20 }), () => rpc.getSlot(), { concurrency: "unbounded" }),
        { concurrency: 3 }
      )
      assert.strictEqual((yield* inNoTime(calls)).length, 20)
      assert.strictEqual(node.mostInFlight, 3)
    })
  )
})
