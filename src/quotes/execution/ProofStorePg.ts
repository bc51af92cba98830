/** Proofs in PostgreSQL. Every query has a deadline. */
import { PgTypes } from "@effect/sql-pg"
import { Duration, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Address } from "../../domain/Address.ts"
import { bounded } from "../../storage/deadline.ts"
import { transaction } from "../../storage/transaction.ts"
import { type ProofRecord, ProofStore, ProofStoreUnavailable, type SeenDeployment } from "./ProofStore.ts"

const DEADLINE = Duration.seconds(5)

const unavailable = (cause: unknown) => new ProofStoreUnavailable({ cause })

const Count = Schema.NullOr(Schema.Int)
const Row = Schema.Struct({
  programId: Address,
  knownSlot: Count,
  soundSlot: Count,
  proofSlot: Count,
  proofAt: Schema.NullOr(Schema.Date),
  sha256: Schema.NullOr(Schema.String),
  pools: Count,
  exact: Count,
  refused: Count,
  wrong: Count
})
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row))

const recordOf = ({
  exact,
  knownSlot,
  pools,
  proofAt,
  proofSlot,
  refused,
  sha256,
  soundSlot,
  wrong
}: typeof Row.Type): ProofRecord => ({
  knownSlot,
  soundSlot,
  proof:
    proofSlot === null || proofAt === null || sha256 === null
      ? null
      : {
          slot: proofSlot,
          atMs: proofAt.getTime(),
          sha256,
          pools: pools ?? 0,
          exact: exact ?? 0,
          refused: refused ?? 0,
          wrong: wrong ?? 0
        }
})

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const call = bounded(DEADLINE, unavailable)

  const note = (genesis: string, { programId, slot }: SeenDeployment) => sql`
    insert into program_proofs (genesis, program_id, known_slot, sound_slot)
    values (${genesis}, ${programId}, ${slot}, ${slot})
    on conflict do nothing
  `
  const all = (genesis: string) =>
    Effect.flatMap(
      sql`
        select program_id, known_slot, sound_slot, proof_slot, proof_at, sha256, pools, exact, refused, wrong
        from program_proofs where genesis = ${genesis}
      `,
      decodeRows
    )

  return ProofStore.of({
    records: Effect.fn("ProofStore.records")(function* (genesis, seen) {
      const known = yield* call(all(genesis))
      const has = new Set(known.map(({ programId }) => programId))
      const missing = seen.filter(({ programId }) => !has.has(programId))
      const rows =
        missing.length === 0
          ? known
          : yield* call(
              transaction(
                sql,
                Effect.andThen(
                  Effect.forEach(missing, (one) => note(genesis, one), { discard: true }),
                  all(genesis)
                )
              )
            )
      return new Map(rows.map((row) => [row.programId, recordOf(row)]))
    }),
    save: Effect.fn("ProofStore.save")(function* (genesis, { programId, slot }, proof) {
      const saved = yield* call(
        Effect.flatMap(
          sql`
            insert into program_proofs as stored
              (genesis, program_id, known_slot, sound_slot, proof_slot, proof_at, sha256, pools, exact, refused, wrong)
            values (
              ${genesis}, ${programId}, ${slot}, ${proof.wrong === 0 ? slot : null}, ${proof.slot}, ${PgTypes.timestamptz(proof.atMs)}, ${proof.sha256},
              ${proof.pools}, ${proof.exact}, ${proof.refused}, ${proof.wrong}
            )
            on conflict (genesis, program_id) do update set
              known_slot = excluded.known_slot,
              sound_slot = case when excluded.wrong = 0 then excluded.known_slot else stored.sound_slot end, proof_slot = excluded.proof_slot, proof_at = excluded.proof_at,
              sha256 = excluded.sha256, pools = excluded.pools, exact = excluded.exact, refused = excluded.refused,
              wrong = excluded.wrong
            where stored.known_slot is null or stored.known_slot <= excluded.known_slot
            returning program_id, known_slot, sound_slot, proof_slot, proof_at, sha256, pools, exact, refused, wrong
          `,
          decodeRows
        )
      )
      // No row comes back when a later deployment is known. Then read what is stored.
      const rows = saved.length > 0 ? saved : yield* call(all(genesis))
      const row = rows.find((one) => one.programId === programId)
      return row === undefined ? { knownSlot: slot, soundSlot: proof.wrong === 0 ? slot : null, proof } : recordOf(row)
    })
  })
})

/** Stores proofs in the table `program_proofs`. */
export const layer: Layer.Layer<ProofStore, never, SqlClient.SqlClient> = Layer.effect(ProofStore, make)
