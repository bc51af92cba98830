import { assert, describe, it } from "@effect/vitest"
import { type Cause, ConfigProvider, Context, Effect, Fiber, Layer, Queue, Stream } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { AccountScan } from "../../../src/chain/rpc/AccountScan.ts"
import { layer } from "../../../src/chain/rpc/AccountScanRpc.ts"
import { at } from "../accounts/accounts.ts"

const QUERY = { programId: at(90), matches: [], slice: { offset: 0, length: 1 }, minSlot: 0 }
const HEAD = '{"jsonrpc":"2.0","id":1,"result":{"context":{"slot":7},"value":['
const accountOf = (n: number) => JSON.stringify({ pubkey: at(n), account: { data: ["AQ==", "base64"] } })

/** A scan of a node. The test writes the answer chunk by chunk. */
const begin = Effect.gen(function* () {
  const parts = yield* Queue.unbounded<Uint8Array, Cause.Done>()
  const body = Stream.toReadableStream(Stream.fromQueue(parts))
  const client = HttpClient.make((request) =>
    Effect.succeed(HttpClientResponse.fromWeb(request, new Response(body, { status: 200 })))
  )
  const context = yield* Layer.build(
    layer({ rpcUrl: "http://node.test" }).pipe(
      Layer.provide(Layer.succeed(HttpClient.HttpClient, client)),
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ SOLANA_SCAN_TIMEOUT: "20 seconds" })))
    )
  )
  const visited = new Array<string>()
  const fiber = yield* Effect.forkChild(
    Context.get(context, AccountScan).scan(QUERY, (_, address) => visited.push(address) > 0),
    { startImmediately: true }
  )
  const write = (text: string) => Queue.offer(parts, new TextEncoder().encode(text))
  /** Waits until this many accounts have been visited, without using the clock. */
  const reached = (count: number) =>
    Effect.promise(() => new Promise((resolve) => setImmediate(resolve))).pipe(
      Effect.repeat({ until: () => visited.length >= count })
    )
  return { fiber, write, reached, end: Queue.end(parts) }
})

describe("a scan of the accounts of a program", () => {
  it.effect("may take longer than its timeout while chunks keep arriving", () =>
    Effect.gen(function* () {
      const { end, fiber, reached, write } = yield* begin
      yield* write(`${HEAD}${accountOf(1)},`)
      yield* reached(1)
      for (let n = 2; n <= 6; n++) {
        yield* TestClock.adjust("15 seconds")
        yield* write(`${accountOf(n)},`)
        yield* reached(n)
      }
      assert.isUndefined(fiber.pollUnsafe())
      yield* write(`${accountOf(7)}]}}`)
      yield* end
      assert.deepStrictEqual(yield* Fiber.join(fiber), { slot: 7 })
    }).pipe(Effect.scoped)
  )

  it.effect("fails once no chunk has arrived for the timeout", () =>
    Effect.gen(function* () {
      const { fiber, reached, write } = yield* begin
      yield* write(`${HEAD}${accountOf(1)},`)
      yield* reached(1)
      yield* TestClock.adjust("19 seconds")
      yield* write(`${accountOf(2)},`)
      yield* reached(2)
      yield* TestClock.adjust("19 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      const failure = yield* Effect.flip(Fiber.join(fiber))
      assert.deepInclude(failure, { reason: "timeout", detail: "getProgramAccounts: silent for 20s" })
    }).pipe(Effect.scoped)
  )
})
