import { assert, layer } from "@effect/vitest"
import bs58 from "bs58"
import { Effect } from "effect"
import { BLOCKS_KEPT } from "../../../src/simulator/chain/Bank.ts"
import { Simulator } from "../../../src/simulator/Simulator.ts"
import { at, call, connect } from "./client.ts"

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
const full = { encoding: "json", maxSupportedTransactionVersion: 0, rewards: false }

const newest = (url: string) => Effect.map(call(url, "getSlot"), (answer) => Number(at(answer, "result")))

layer(Simulator.layer({ seed: "block methods", speed: 0, swapsPerSecond: 60, startUnixMs: 1_790_000_000_000 }))(
  "the node's blocks",
  (it) => {
    it.effect("are returned whole, with their place in the chain", () =>
      Effect.gen(function* () {
        const { rpcUrl, advance } = yield* Simulator
        yield* advance(2)
        const slot = yield* newest(rpcUrl)
        const [block, parent] = [
          at(yield* call(rpcUrl, "getBlock", slot, full), "result"),
          at(yield* call(rpcUrl, "getBlock", slot - 1, full), "result")
        ]
        assert.strictEqual(at(block, "parentSlot"), slot - 1)
        assert.strictEqual(at(block, "previousBlockhash"), at(parent, "blockhash"))
        assert.strictEqual(Number(at(block, "blockHeight")) - Number(at(parent, "blockHeight")), 1)
        assert.strictEqual(at(yield* call(rpcUrl, "getBlockTime", slot), "result"), at(block, "blockTime"))
        assert.isUndefined(at(block, "rewards"))
        const transactions = listOf(at(block, "transactions"))
        assert.isAbove(transactions.length, 5)
        for (const transaction of transactions) {
          const { length } = listOf(at(transaction, "transaction", "message", "accountKeys"))
          const loaded = ["writable", "readonly"].reduce(
            (sum, kind) => sum + listOf(at(transaction, "meta", "loadedAddresses", kind)).length,
            0
          )
          assert.strictEqual(listOf(at(transaction, "meta", "preBalances")).length, length + loaded)
          assert.strictEqual(bs58.decode(String(at(transaction, "transaction", "signatures", 0))).length, 64)
        }
      })
    )

    it.effect("are refused to clients that do not state the versions they support", () =>
      Effect.gen(function* () {
        const { rpcUrl } = yield* Simulator
        const slot = yield* newest(rpcUrl)
        assert.strictEqual(at(yield* call(rpcUrl, "getBlock", slot), "error", "code"), -32015)
        const signatures = yield* call(rpcUrl, "getBlock", slot, { transactionDetails: "signatures" })
        assert.isAbove(listOf(at(signatures, "result", "signatures")).length, 5)
        const bad = yield* call(rpcUrl, "getBlock", slot, { ...full, commitment: "processed" })
        assert.strictEqual(at(bad, "error", "code"), -32602)
      })
    )

    it.effect("are missing with the validator's codes: skipped, not there yet, cleaned up", () =>
      Effect.gen(function* () {
        const { rpcUrl, advance, faults } = yield* Simulator
        yield* faults.skipSlots(2)
        yield* advance(2)
        const slot = yield* newest(rpcUrl)
        const codes = yield* Effect.forEach([slot - 1, slot + 1, slot - BLOCKS_KEPT - 10], (wanted) =>
          Effect.map(call(rpcUrl, "getBlock", wanted, full), (answer) => at(answer, "error", "code"))
        )
        assert.deepStrictEqual(codes, [-32007, -32004, -32001])
        const block = at(yield* call(rpcUrl, "getBlock", slot, full), "result")
        assert.strictEqual(at(block, "parentSlot"), slot - 3)
        const slots = at(yield* call(rpcUrl, "getBlocks", slot - 4, slot), "result")
        assert.deepStrictEqual(slots, [slot - 4, slot - 3, slot])
        const two = at(yield* call(rpcUrl, "getBlocksWithLimit", slot - 3, 2), "result")
        assert.deepStrictEqual(two, [slot - 3, slot])
        const tooMany = yield* call(rpcUrl, "getBlocksWithLimit", slot, 500_001)
        assert.strictEqual(at(tooMany, "error", "code"), -32602)
        yield* advance(BLOCKS_KEPT)
        const first = Number(at(yield* call(rpcUrl, "getFirstAvailableBlock"), "result"))
        assert.strictEqual(first, slot + 1)
        const gone = yield* call(rpcUrl, "getBlock", slot, full)
        assert.match(String(at(gone, "error", "message")), new RegExp(`First available block: ${first}$`, "u"))
      })
    )

    it.effect("contain transactions that can be read one by one, in every encoding and with their status", () =>
      Effect.gen(function* () {
        const { rpcUrl } = yield* Simulator
        const slot = yield* newest(rpcUrl)
        const block = at(yield* call(rpcUrl, "getBlock", slot, full), "result")
        for (const [index, transaction] of listOf(at(block, "transactions")).entries()) {
          const signature = String(at(transaction, "transaction", "signatures", 0))
          const alone = at(yield* call(rpcUrl, "getTransaction", signature, full), "result")
          assert.deepStrictEqual(at(alone, "transaction"), at(transaction, "transaction"))
          assert.strictEqual(at(alone, "slot"), slot)
          assert.strictEqual(at(alone, "transactionIndex"), index)
          const wire = at(
            yield* call(rpcUrl, "getTransaction", signature, { ...full, encoding: "base64" }),
            "result",
            "transaction",
            0
          )
          const bytes = Buffer.from(String(wire), "base64")
          assert.strictEqual(bs58.encode(bytes.subarray(1, 65)), signature)
          assert.include(
            bytes.toString("hex"),
            Buffer.from(bs58.decode(String(at(block, "previousBlockhash")))).toString("hex")
          )
          const status = at(yield* call(rpcUrl, "getSignatureStatuses", [signature]), "result", "value", 0)
          assert.deepStrictEqual(at(status, "err"), at(transaction, "meta", "err"))
          assert.strictEqual(at(status, "slot"), slot)
        }
        const missing = yield* call(rpcUrl, "getTransaction", bs58.encode(Buffer.alloc(64, 7)), full)
        assert.isNull(at(missing, "result"))
      })
    )

    it.effect("are found by the addresses they name, newest first and page by page", () =>
      Effect.gen(function* () {
        const { rpcUrl, pools, advance } = yield* Simulator
        yield* advance(40)
        const pool = pools().find(({ dex }) => dex === "orca-whirlpool")?.address
        const all = listOf(at(yield* call(rpcUrl, "getSignaturesForAddress", pool), "result"))
        assert.isAbove(all.length, 20)
        const slots = all.map((entry) => Number(at(entry, "slot")))
        assert.deepStrictEqual(
          slots,
          slots.toSorted((a, b) => b - a)
        )
        const [before, until] = [at(all[4], "signature"), at(all[10], "signature")]
        const page = listOf(at(yield* call(rpcUrl, "getSignaturesForAddress", pool, { before, until }), "result"))
        assert.deepStrictEqual(page, all.slice(5, 10))
        const few = yield* call(rpcUrl, "getSignaturesForAddress", pool, { limit: 3 })
        assert.deepStrictEqual(at(few, "result"), all.slice(0, 3))
      })
    )

    it.effect("send the logs of their transactions to subscribers", () =>
      Effect.gen(function* () {
        const { rpcUrl, wsUrl, advance } = yield* Simulator
        const { ask, next } = yield* connect(wsUrl)
        yield* ask("logsSubscribe", "all", { commitment: "confirmed" })
        yield* advance(1)
        const block = at(yield* call(rpcUrl, "getBlock", yield* newest(rpcUrl), full), "result")
        for (const transaction of listOf(at(block, "transactions"))) {
          const value = at(yield* next, "params", "result", "value")
          assert.strictEqual(at(value, "signature"), at(transaction, "transaction", "signatures", 0))
          assert.deepStrictEqual(at(value, "logs"), at(transaction, "meta", "logMessages"))
        }
      })
    )
  }
)
