import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { NodeHttpClient } from "@effect/platform-node"
import { Simulator } from "../../../src/simulator/Simulator.ts"
import { SolanaRpc } from "../../../src/chain/rpc/SolanaRpc.ts"
import * as SolanaRpcHttp from "../../../src/chain/rpc/SolanaRpcHttp.ts"
import { OWNER } from "../accounts/accounts.ts"
import { error, inNoTime, Node, ok, status, use } from "./scriptedHttp.ts"

const query = { programId: OWNER, matches: [] }
const explained = (code: number, message: string, httpStatus = 200) =>
  new Response(JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code, message } }), { status: httpStatus })

const failure = (answer: () => Response) => {
  const node = new Node(answer)
  return Effect.map(inNoTime(Effect.flip(use(node, (rpc) => rpc.getProgramAccounts(query)))), (failed) => ({
    ...failed,
    isRefused: failed.isRefused ?? false,
    calls: node.asked.length
  }))
}

describe("a search of a program's accounts", () => {
  it.effect.each([
    {
      what: "a program that is not indexed",
      answer: () => error(-32010, `${OWNER} excluded from account secondary indexes`)
    },
    { what: "a method that is not there", answer: () => error(-32601, "Method not found") },
    { what: "too many accounts", answer: () => error(-32602, "Too many accounts requested (1234567 pubkeys)") },
    { what: "a limit of accounts", answer: () => error(-32600, "The response exceeds the maximum number of accounts") },
    { what: "a plan", answer: () => explained(-32602, "getProgramAccounts is not available on the free plan", 400) },
    { what: "a disabled method", answer: () => explained(410, "The RPC call or parameters have been disabled.", 410) },
    { what: "a status alone: gone", answer: () => status(410) },
    { what: "a status alone: forbidden", answer: () => status(403) }
  ])("is refused for good by $what, after one request", ({ answer }) =>
    Effect.gen(function* () {
      const { calls, isRefused, reason } = yield* failure(answer)
      assert.deepStrictEqual([reason, isRefused, calls], ["invalid", true, 1])
    })
  )

  it.effect.each([
    { what: "bad parameters", answer: () => error(-32602, "Invalid params: missing field"), calls: 1 },
    { what: "a status alone: bad request", answer: () => status(400), calls: 1 },
    { what: "a limit of calls", answer: () => status(429), calls: 4 },
    {
      what: "a limit of calls in the body",
      answer: () => error(429, "Too many requests for this method: not allowed"),
      calls: 4
    },
    { what: "an outage", answer: () => status(503), calls: 4 }
  ])("is not refused for good by $what", ({ answer, calls }) =>
    Effect.gen(function* () {
      const failed = yield* failure(answer)
      assert.deepStrictEqual([failed.isRefused, failed.calls], [false, calls])
    })
  )

  it.effect.each([
    { what: "too many accounts", message: "Too many accounts requested (1234567 pubkeys)", isTooLarge: true },
    { what: "an answer beyond a limit", message: "The response exceeds the maximum size", isTooLarge: true },
    { what: "a plan", message: "Too many accounts: upgrade your plan", isTooLarge: false }
  ])("names the refusing node, and says when a narrower search may be answered: $what", ({ isTooLarge, message }) =>
    Effect.gen(function* () {
      const failed = yield* failure(() => error(-32602, message))
      assert.deepStrictEqual([failed.isRefused, failed.isTooLarge], [true, isTooLarge])
      assert.isString(failed.node)
    })
  )

  it.effect("is the only call that counts as refused with these words", () =>
    Effect.gen(function* () {
      const node = new Node(() => error(-32602, "this method is not available"))
      const failed = yield* inNoTime(Effect.flip(use(node, (rpc) => rpc.getSlot())))
      assert.isUndefined(failed.isRefused)
      assert.strictEqual(yield* use(new Node(() => ok(7)), (rpc) => rpc.getSlot()), 7)
    })
  )
})

describe("a simulated node", () => {
  it.live("refuses searches in each of these ways, but no other call", () =>
    Effect.gen(function* () {
      const { faults, rpcUrl } = yield* Simulator
      const layer = SolanaRpcHttp.layer({ rpcUrl }).pipe(Layer.provide(NodeHttpClient.layerUndici))
      const rpc = Context.get(yield* Layer.build(layer), SolanaRpc)
      for (const searches of ["excluded", "too_many", "disabled", "forbidden"] as const) {
        yield* faults.set({ searches })
        assert.isTrue((yield* Effect.flip(rpc.getProgramAccounts(query))).isRefused, searches)
        assert.isAbove(yield* rpc.getSlot(), 0)
      }
      yield* faults.clear
      assert.isAbove((yield* rpc.getProgramAccounts(query)).accounts.size, 0)
    }).pipe(Effect.scoped, Effect.provide(Simulator.layer({ seed: "refusals", speed: 0 })))
  )
})
