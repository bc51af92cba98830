/** Idempotency keys in Postgres, shared by all processes and kept across restarts. */
import { PgTypes } from "@effect/sql-pg"
import { Clock, Duration, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import {
  type Beginning,
  IdempotencyUnavailable,
  idempotencyPolicy,
  type KeyedRequest,
  type StoredAnswer
} from "../domain/Idempotency.ts"
import { randomBase62, SecretSource } from "../domain/randomText.ts"
import { bounded } from "../storage/deadline.ts"
import { cleanUp, purgeRows } from "../storage/purge.ts"
import { Idempotency } from "./Idempotency.ts"

/** A request waits for these queries, so they have to answer within this time. */
const DEADLINE = Duration.millis(400)
const SWEEP_DEADLINE = Duration.seconds(5)
const SWEEP_EVERY = Duration.minutes(10)
const HOLDER_LENGTH = 22

const unavailable = (cause: unknown) => new IdempotencyUnavailable({ cause })
const inTime = bounded(DEADLINE, unavailable)

const KeyRow = Schema.Struct({ keyId: Schema.String, idempotencyKey: Schema.String })
const HeldRow = Schema.Struct({
  digest: Schema.String,
  status: Schema.NullOr(Schema.Int),
  body: Schema.NullOr(Schema.String)
})

/**
 * The outcome for a request whose key another request has taken. When the row has just been deleted, the other request
 * counts as in flight.
 */
const heldOutcome = (row: typeof HeldRow.Type | undefined, digest: string): Beginning => {
  if (row === undefined) {
    return { _tag: "InFlight" }
  }
  if (row.digest !== digest) {
    return { _tag: "Reused" }
  }
  const { body, status } = row
  return status === null || body === null ? { _tag: "InFlight" } : { _tag: "Replay", answer: { status, body } }
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecretSource

  /** Claims the key when it is unused or expired, or when the same request is unfinished and its lease has ended. */
  const take = ({ digest, idempotencyKey, keyId }: KeyedRequest, holder: string, nowMs: number) => {
    const row = {
      keyId,
      idempotencyKey,
      digest,
      holder,
      heldUntil: PgTypes.timestamptz(nowMs + idempotencyPolicy.leaseMs),
      expiresAt: PgTypes.timestamptz(nowMs + idempotencyPolicy.keptMs)
    }
    const now = PgTypes.timestamptz(nowMs)
    return sql`
      insert into idempotency_keys as held ${sql.insert(row)}
      on conflict (key_id, idempotency_key) do update set
        digest = excluded.digest, holder = excluded.holder, held_until = excluded.held_until,
        expires_at = excluded.expires_at, status = null, body = null
      where held.expires_at <= ${now}
        or (held.status is null and held.held_until <= ${now} and held.digest = excluded.digest)
      returning holder
    `
  }

  const fresh = ({ idempotencyKey, keyId }: KeyedRequest, holder: string): Beginning => {
    const mine = sql`key_id = ${keyId} and idempotency_key = ${idempotencyKey} and holder = ${holder}`
    return {
      _tag: "Fresh",
      complete: ({ body, status }: StoredAnswer) =>
        inTime(Effect.asVoid(sql`update idempotency_keys set status = ${status}::int, body = ${body} where ${mine}`)),
      abandon: inTime(Effect.asVoid(sql`delete from idempotency_keys where ${mine}`))
    }
  }

  const held = SqlSchema.findOneOption({
    Request: KeyRow,
    Result: HeldRow,
    execute: ({ idempotencyKey, keyId }) => sql`
      select digest, status::int, body from idempotency_keys
      where key_id = ${keyId} and idempotency_key = ${idempotencyKey}
    `
  })

  const begin = Effect.fn("Idempotency.begin")(function* (request: KeyedRequest) {
    const nowMs = yield* Clock.currentTimeMillis
    const holder = randomBase62(HOLDER_LENGTH, random)
    const taken = yield* inTime(take(request, holder, nowMs))
    if (taken.length > 0) {
      return fresh(request, holder)
    }
    const row = yield* inTime(held(request))
    return heldOutcome(Option.getOrUndefined(row), request.digest)
  })

  const sweep = Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
    const where = sql`expires_at <= ${PgTypes.timestamptz(nowMs)}`
    return purgeRows({ sql, table: "idempotency_keys", where, bound: bounded(SWEEP_DEADLINE, unavailable) })
  })
  yield* cleanUp("Deleting expired idempotency keys", SWEEP_EVERY, sweep)

  return Idempotency.of({ begin })
})

/** Keys in the table `idempotency_keys`. */
export const layer: Layer.Layer<Idempotency, never, SqlClient.SqlClient> = Layer.effect(Idempotency, make)
