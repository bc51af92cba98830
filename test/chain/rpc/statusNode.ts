/** A scripted node that knows one transaction, and the port that reads from it. */
import { NodeHttpClient } from "@effect/platform-node"
import bs58 from "bs58"
import { Effect, Layer } from "effect"
import { Signature } from "../../../src/domain/Signature.ts"
import { TransactionStatus } from "../../../src/chain/rpc/TransactionStatus.ts"
import * as TransactionStatusRpc from "../../../src/chain/rpc/TransactionStatusRpc.ts"
import { type Call, result, scriptedNode } from "../../support/scriptedNode.ts"

/** The transaction of all tests. */
export const signature = Signature.make(bs58.encode(new Uint8Array(64).fill(7)))

/** The port over the node at this address. */
export const portTo = (options: TransactionStatusRpc.StatusOptions) =>
  TransactionStatusRpc.layer(options).pipe(Layer.provide(NodeHttpClient.layerUndici))

type Find = TransactionStatus["Service"]["find"]
export type Node = Effect.Success<typeof scriptedNode>

/** Runs the body with a node that the test scripts. */
export const asking = <A, E, R>(body: (node: Node, find: Find) => Effect.Effect<A, E, R>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const node = yield* scriptedNode
      const port = portTo({ rpcUrl: node.rpcUrl })
      return yield* TransactionStatus.use(({ find }) => body(node, find)).pipe(Effect.provide(port))
    })
  )

/** The entry of `getSignatureStatuses`. */
export const status = { slot: 500, confirmations: 12, err: null, confirmationStatus: "confirmed" }

/** The result of `getTransaction`. */
export const facts = {
  slot: 500,
  blockTime: 1_791_633_602,
  version: 0,
  transaction: ["AA==", "base64"],
  meta: { err: null, fee: 5000, computeUnitsConsumed: 84_211, logMessages: [] }
}

export const statuses = (value: unknown) => result({ context: { slot: 512, apiVersion: "3.1.0" }, value: [value] })

/** A node that knows the transaction at this commitment. */
export const knowing =
  (found: unknown, details: unknown = facts) =>
  ({ method }: Call) =>
    method === "getSignatureStatuses" ? statuses(found) : result(details)
