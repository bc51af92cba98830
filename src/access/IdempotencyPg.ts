/** Idempotency keys in Postgres: every process knows them, and they survive a restart. */
import { PgTypes } from "@effect/sql-pg"
import { Clock, Duration, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import {
  type Beginning,
  IdempotencyUnavailable,
  idempotencyPolicy,
  type KeyedRequest,
  type StoredAnswer
} from "../domain/Idempotency.ts"
import { randomBase62, SecretSource } from "../domain/randomText.ts"
import { bounded } from "../storage/deadline.ts"
import { Idempotency } from "./Idempotency.ts"

/** On the path of a request. */
const DEADLINE = Duration.millis(400)
const SWEEP_DEADLINE = Duration.seconds(5)
const SWEEP_EVERY = Duration.minutes(10)
const HOLDER_LENGTH = 22

const away = (cause: unknown) => new IdempotencyUnavailable({ cause })
const inTime = bounded(DEADLINE, away)

const decodeHeld = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      digest: Schema.String,
      status: Schema.NullOr(Schema.Int),
      body: Schema.NullOr(Schema.String)
    })
  )
)

type Held = Effect.Success<ReturnType<typeof decodeHeld>>[number]

/** What a row says to a request like the one it stands for. One that is gone by now was running a moment ago. */
const told = (row: Held | undefined, digest: string): Beginning => {
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

  /** Takes the place if it is free: never used, forgotten, or left by the same request when it died. */
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

  const begin = Effect.fn("Idempotency.begin")(function* (request: KeyedRequest) {
    const nowMs = yield* Clock.currentTimeMillis
    const holder = randomBase62(HOLDER_LENGTH, random)
    const taken = yield* inTime(take(request, holder, nowMs))
    if (taken.length > 0) {
      return fresh(request, holder)
    }
    const { digest, idempotencyKey, keyId } = request
    const [row] = yield* inTime(
      Effect.flatMap(
        sql`
          select digest, status::int, body from idempotency_keys
          where key_id = ${keyId} and idempotency_key = ${idempotencyKey}
        `,
        decodeHeld
      )
    )
    return told(row, digest)
  })

  const sweep = Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
    bounded(SWEEP_DEADLINE, away)(sql`delete from idempotency_keys where expires_at <= ${PgTypes.timestamptz(nowMs)}`)
  ).pipe(Effect.ignore)
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(sweep, Effect.sleep(SWEEP_EVERY))))

  return Idempotency.of({ begin })
})

/** Keys in the table `idempotency_keys`. */
export const layer: Layer.Layer<Idempotency, never, SqlClient.SqlClient> = Layer.effect(Idempotency, make)
