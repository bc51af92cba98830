/** Identities in Postgres. Every question to the database has a deadline. */
import { Duration, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Address } from "../domain/Address.ts"
import { IdentityRecord, IdentityStoreUnavailable } from "../domain/wallets/WalletIdentity.ts"
import { bounded } from "../storage/deadline.ts"
import { transaction } from "../storage/transaction.ts"
import { IdentityStore } from "./IdentityStore.ts"

/** On the path of a request. */
const READ_DEADLINE = Duration.millis(400)
const WRITE_DEADLINE = Duration.seconds(5)

const away = (cause: unknown) => new IdentityStoreUnavailable({ cause })

const Row = Schema.Struct({ record: Schema.fromJsonString(IdentityRecord) })
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row))
const asJson = Schema.encodeEffect(Schema.fromJsonString(Schema.Array(IdentityRecord)))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const of = Effect.fnUntraced(function* (wallets: ReadonlyArray<Address>) {
    const rows = yield* decodeRows(
      yield* sql`
        select record::text from wallet_identities where ${sql.in("wallet", wallets)} order by source
      `
    )
    return Map.groupBy(
      rows.map(({ record }) => record),
      ({ wallet }) => wallet
    )
  })

  const replace = Effect.fnUntraced(function* (source: string, records: ReadonlyArray<IdentityRecord>) {
    const last = new Map(records.map((record) => [record.wallet, record]))
    const text = yield* asJson(Array.from(last.values()))
    yield* sql`delete from wallet_identities where source = ${source}`
    yield* sql`
      insert into wallet_identities (wallet, source, record)
      select record ->> 'wallet', ${source}, record from jsonb_array_elements(${text}::jsonb) as record
    `
  })

  return IdentityStore.of({
    of: Effect.fn("IdentityStore.of")((wallets: ReadonlyArray<Address>) =>
      wallets.length === 0
        ? Effect.succeed(new Map<Address, Array<IdentityRecord>>())
        : bounded(READ_DEADLINE, away)(of(wallets))
    ),
    replace: Effect.fn("IdentityStore.replace")((source: string, records: ReadonlyArray<IdentityRecord>) =>
      bounded(WRITE_DEADLINE, away)(transaction(sql, replace(source, records)))
    )
  })
})

/** Identities in the table `wallet_identities`. */
export const layer: Layer.Layer<IdentityStore, never, SqlClient.SqlClient> = Layer.effect(IdentityStore, make)
