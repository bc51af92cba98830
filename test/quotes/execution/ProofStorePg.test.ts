import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { meteoraDlmm } from "../../../src/programs/meteora/dlmm.ts"
import { whirlpool } from "../../../src/programs/orca/whirlpool.ts"
import { ProofStore } from "../../../src/quotes/execution/ProofStore.ts"
import * as ProofStorePg from "../../../src/quotes/execution/ProofStorePg.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

const { programId } = meteoraDlmm
const outcome = { slot: 900, atMs: 1_790_000_000_123, sha256: "ab", pools: 2, exact: 60, refused: 4, wrong: 1 }

const open = (address: TestDatabase.TestAddress) =>
  Effect.map(Layer.build(ProofStorePg.layer.pipe(Layer.provide(TestDatabase.connect(address)))), (context) =>
    Context.get(context, ProofStore)
  )

describe.runIf(TestDatabase.isAvailable)("proofs in a database", () => {
  it.live("keep the deployment that was seen first, for each chain and in every process", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const [here, there] = [yield* open(address), yield* open(address)]
      const seen = [
        { programId, slot: 5 },
        { programId: whirlpool.programId, slot: null }
      ]
      const first = yield* here.records("a", seen)
      assert.deepStrictEqual(first.get(programId), { knownSlot: 5, soundSlot: 5, proof: null })
      assert.deepStrictEqual(first.get(whirlpool.programId), { knownSlot: null, soundSlot: null, proof: null })
      assert.deepStrictEqual(yield* there.records("a", [{ programId, slot: 6 }]), first)
      assert.strictEqual((yield* there.records("b", [{ programId, slot: 6 }])).get(programId)?.knownSlot, 6)
    })
  )

  it.live("replace the known deployment with the proven one, but never with an earlier one", () =>
    Effect.gen(function* () {
      const store = yield* open(yield* TestDatabase.create)
      yield* store.records("a", [{ programId, slot: 5 }])
      const known = { knownSlot: 8, soundSlot: 5, proof: outcome }
      assert.deepStrictEqual(yield* store.save("a", { programId, slot: 8 }, outcome), known)
      assert.deepStrictEqual(yield* store.save("a", { programId, slot: 7 }, { ...outcome, wrong: 0 }), known)
      assert.deepStrictEqual((yield* store.records("a", [])).get(programId), known)
      yield* store.save("a", { programId, slot: 8 }, { ...outcome, wrong: 0 })
      const right = { knownSlot: 8, soundSlot: 8, proof: { ...outcome, wrong: 0 } }
      assert.deepStrictEqual((yield* store.records("a", [])).get(programId), right)
    })
  )
})
