import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { Signature } from "../../../src/domain/Signature.ts"
import { Simulator } from "../../../src/simulator/Simulator.ts"
import { TransactionStatus } from "../../../src/chain/rpc/TransactionStatus.ts"
import { at, call as askNode } from "../../simulator/node/client.ts"
import { rpcError } from "../../support/scriptedNode.ts"
import { asking, facts, knowing, portTo, signature, status, statuses } from "./statusNode.ts"

const raised = (code: number) => ({ InstructionError: [2, { Custom: code }] })

describe("TransactionStatusRpc", () => {
  it.effect("combines two answers of the node", () =>
    asking((node, find) =>
      Effect.gen(function* () {
        node.say(knowing(status))
        yield* TestClock.setTime(1_791_633_607_000)
        const report = yield* find(signature)
        assert.deepStrictEqual(report, {
          id: signature,
          chain: "solana",
          state: "confirmed",
          terminal: false,
          slot: 500,
          blockTimeMs: 1_791_633_602_000,
          confirmations: 12,
          feeLamports: 5000n,
          computeUnits: 84_211,
          error: null,
          observedAtMs: 1_791_633_607_000
        })
        assert.deepStrictEqual(node.calls, [
          { method: "getSignatureStatuses", params: [[signature], { searchTransactionHistory: true }] },
          {
            method: "getTransaction",
            params: [signature, { commitment: "confirmed", encoding: "base64", maxSupportedTransactionVersion: 0 }]
          }
        ])
      })
    )
  )

  it.effect("calls a finalized transaction terminal, without confirmations", () =>
    asking((node, find) =>
      Effect.gen(function* () {
        node.say(knowing({ ...status, confirmations: null, confirmationStatus: "finalized" }))
        const report = yield* find(signature)
        assert.strictEqual(report.state, "finalized")
        assert.isTrue(report.terminal)
        assert.isNull(report.confirmations)
      })
    )
  )

  it.effect("reads no details of a transaction that may still be rolled back", () =>
    asking((node, find) =>
      Effect.gen(function* () {
        node.say(knowing({ ...status, confirmations: 0, confirmationStatus: "processed" }))
        const report = yield* find(signature)
        assert.deepInclude(report, {
          state: "processed",
          terminal: false,
          confirmations: 0,
          blockTimeMs: null,
          feeLamports: null,
          computeUnits: null
        })
        assert.strictEqual(node.calls.length, 1)
      })
    )
  )

  it.effect("derives the state when the node only counts confirmations", () =>
    asking((node, find) =>
      Effect.gen(function* () {
        const counted: ReadonlyArray<readonly [number | null, string]> = [
          [null, "finalized"],
          [1, "confirmed"],
          [0, "processed"]
        ]
        for (const [confirmations, state] of counted) {
          node.say(knowing({ slot: 500, confirmations, err: null, confirmationStatus: null }))
          assert.strictEqual((yield* find(signature)).state, state)
        }
      })
    )
  )

  it.effect("reports why a transaction failed, and that this may change until it is finalized", () =>
    asking((node, find) =>
      Effect.gen(function* () {
        const program = "JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4"
        const logMessages = [`Program ${program} failed: custom program error: 0x1771`]
        const failed = { ...facts, meta: { ...facts.meta, err: raised(6001), logMessages } }
        node.say(knowing({ ...status, err: raised(6001) }, failed))
        const report = yield* find(signature)
        assert.deepInclude(report, { state: "failed", terminal: false, confirmations: 12, feeLamports: 5000n })
        assert.deepInclude(report.error, { code: "slippage_exceeded", instructionIndex: 2, customCode: 6001 })

        node.say(
          knowing({ ...status, err: raised(6001), confirmations: null, confirmationStatus: "finalized" }, failed)
        )
        assert.deepInclude(yield* find(signature), { state: "failed", terminal: true, confirmations: null })
      })
    )
  )

  it.effect("returns null for facts that the node omits", () =>
    asking((node, find) =>
      Effect.gen(function* () {
        const unknown = { blockTimeMs: null, feeLamports: null, computeUnits: null }
        node.say(knowing(status, null))
        assert.deepInclude(yield* find(signature), unknown)
        node.say(knowing(status, { slot: 500, blockTime: null, meta: null }))
        assert.deepInclude(yield* find(signature), unknown)
        node.say(knowing(status, { slot: 500, blockTime: 3, meta: { err: null, fee: 0 } }))
        assert.deepInclude(yield* find(signature), { blockTimeMs: 3000, feeLamports: 0n, computeUnits: null })
        for (const code of [-32_011, -32_015, -32_601]) {
          node.say((call) => (call.method === "getTransaction" ? rpcError(code, "no") : statuses(status)))
          assert.deepInclude(yield* find(signature), unknown)
        }
      })
    )
  )

  it.effect("ignores the facts of another fork", () =>
    asking((node, find) =>
      Effect.gen(function* () {
        node.say(knowing(status, { ...facts, slot: 501 }))
        assert.deepInclude(yield* find(signature), { slot: 500, blockTimeMs: null, feeLamports: null })
      })
    )
  )

  it.effect("asks a node without history for its recent transactions", () =>
    asking((node, find) =>
      Effect.gen(function* () {
        node.say(({ method, params }) =>
          method === "getTransaction" || at(params, 1, "searchTransactionHistory") === true
            ? rpcError(-32_011, "Transaction history is not available from this node")
            : statuses(status)
        )
        assert.strictEqual((yield* find(signature)).state, "confirmed")
      })
    )
  )

  it.effect("fails as unknown for a transaction that the node has not seen", () =>
    asking((node, find) =>
      Effect.gen(function* () {
        node.say(knowing(null))
        const error = yield* Effect.flip(find(signature))
        assert.deepInclude(error, { _tag: "UnknownTransaction", signature })
        assert.strictEqual(node.calls.length, 1)
      })
    )
  )

  it.effect("finds a swap of the simulated chain and nothing else", () =>
    Effect.gen(function* () {
      const { advance, rpcUrl } = yield* Simulator
      yield* advance(5)
      const slot = Number(at(yield* askNode(rpcUrl, "getSlot"), "result"))
      const block = yield* askNode(rpcUrl, "getBlock", slot, { encoding: "json", maxSupportedTransactionVersion: 0 })
      const entries = at(block, "result", "transactions")
      const done = Array.isArray(entries) ? entries.find((entry) => at(entry, "meta", "err") === null) : undefined
      const port = portTo({ rpcUrl, timeout: Duration.seconds(30) })
      yield* TransactionStatus.use(
        Effect.fnUntraced(function* ({ find }) {
          const report = yield* find(Signature.make(String(at(done, "transaction", "signatures", 0))))
          assert.deepInclude(report, { state: "finalized", terminal: true, slot, confirmations: null, error: null })
          assert.isNotNull(report.feeLamports)
          assert.isNotNull(report.blockTimeMs)
          assert.strictEqual(Option.isSome(yield* Effect.option(find(signature))), false)
        })
      ).pipe(Effect.provide(port))
    }).pipe(Effect.provide(Simulator.layer({ seed: "status", speed: 0, startUnixMs: 1_790_000_000_000 })))
  )
})

describe("TransactionStatus.layerUnreachable", () => {
  it.effect("fails as unreachable", () =>
    Effect.gen(function* () {
      const { find } = yield* TransactionStatus
      assert.deepInclude(yield* Effect.flip(find(signature)), { _tag: "ChainUnavailable", reason: "unreachable" })
    }).pipe(Effect.provide(TransactionStatus.layerUnreachable))
  )
})
