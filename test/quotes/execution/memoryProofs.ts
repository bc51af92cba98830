/** Proofs in memory, for tests. Behaves like the table. */
import { Effect, Layer } from "effect"
import type { Address } from "../../../src/domain/Address.ts"
import { type ProofRecord, ProofStore, ProofStoreUnavailable } from "../../../src/quotes/execution/ProofStore.ts"

/** The records of one chain, with a switch that makes the store fail. */
export interface MemoryProofs {
  readonly records: Map<Address, ProofRecord>
  isAway: boolean
}

export const memoryProofs = (): MemoryProofs => ({ records: new Map(), isAway: false })

const attempt = <A>(proofs: MemoryProofs, evaluate: () => A): Effect.Effect<A, ProofStoreUnavailable> =>
  Effect.suspend(() =>
    proofs.isAway ? Effect.fail(new ProofStoreUnavailable({ cause: "away" })) : Effect.sync(evaluate)
  )

/** The store over these records. */
export const layer = (proofs: MemoryProofs): Layer.Layer<ProofStore> =>
  Layer.succeed(
    ProofStore,
    ProofStore.of({
      records: (_genesis, seen) =>
        attempt(proofs, () => {
          for (const { programId, slot } of seen) {
            if (!proofs.records.has(programId)) {
              proofs.records.set(programId, { knownSlot: slot, soundSlot: slot, proof: null })
            }
          }
          return new Map(proofs.records)
        }),
      save: (_genesis, { programId, slot }, proof) =>
        attempt(proofs, () => {
          const known = proofs.records.get(programId)
          const isLater = known?.knownSlot != null && (slot === null || known.knownSlot > slot)
          const soundSlot = proof.wrong === 0 ? slot : (known?.soundSlot ?? null)
          const record = known !== undefined && isLater ? known : { knownSlot: slot, soundSlot, proof }
          proofs.records.set(programId, record)
          return record
        })
    })
  )
