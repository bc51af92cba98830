import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SOL } from "../../../src/domain/Address.ts"
import { toBase58 } from "../../../src/domain/base58.ts"
import { Signature } from "../../../src/domain/Signature.ts"
import { TransactionHistory } from "../../../src/chain/rpc/TransactionHistory.ts"
import * as TransactionHistoryRpc from "../../../src/chain/rpc/TransactionHistoryRpc.ts"
import { result, rpcError, scriptedNode } from "../../support/scriptedNode.ts"

const signature = Signature.make(toBase58(new Uint8Array(64).fill(9)))
const request = { address: SOL, before: null, until: null, limit: 2 }

/** The newest transactions first, as a node lists them, including fields that are not read. */
const listed = (...slots: ReadonlyArray<number>) =>
  slots.map((slot) => ({ signature, slot, blockTime: null, err: null, memo: null, confirmationStatus: "finalized" }))

const scene = Effect.gen(function* () {
  const node = yield* scriptedNode
  const built = yield* Layer.build(
    TransactionHistoryRpc.layer({ rpcUrl: node.rpcUrl, retries: 0 }).pipe(Layer.provide(NodeHttpClient.layerUndici))
  )
  return { node, history: Context.get(built, TransactionHistory) }
})

describe("TransactionHistoryRpc", () => {
  it.live("lists the transactions of an address within its bounds", () =>
    Effect.gen(function* () {
      const { history, node } = yield* scene
      node.say(() => result(listed(9, 8)))
      assert.deepStrictEqual(
        (yield* history.list({ ...request, before: signature })).map(({ slot }) => slot),
        [9, 8]
      )
      assert.deepStrictEqual(node.calls[0], {
        method: "getSignaturesForAddress",
        params: [SOL, { commitment: "confirmed", limit: 2, before: signature }]
      })
    })
  )

  it.live("fails on a list that is out of order, too long or malformed", () =>
    Effect.gen(function* () {
      const { history, node } = yield* scene
      for (const answer of [listed(8, 9), listed(9, 8, 7), [{ signature: "1" }], "none"]) {
        node.say(() => result(answer))
        assert.strictEqual((yield* Effect.flip(history.list(request))).reason, "invalid")
      }
    })
  )

  it.live("keeps the error code of a node without the method, and returns null for an unknown transaction", () =>
    Effect.gen(function* () {
      const { history, node } = yield* scene
      node.say(() => rpcError(-32601, "Method not found"))
      assert.deepInclude(yield* Effect.flip(history.list(request)), { reason: "invalid", rpcCode: -32601 })
      node.say(() => result(null))
      assert.isNull(yield* history.read(signature))
    })
  )
})
