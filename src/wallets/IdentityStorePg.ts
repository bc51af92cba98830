/** `IdentityStore` on Postgres. Every query has a deadline. */
import { Duration, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Address } from "../domain/Address.ts"
import { IdentityRecord, IdentityStoreUnavailable } from "../api/schemas/WalletIdentity.ts"
import { bounded } from "../storage/deadline.ts"
import { transaction } from "../storage/transaction.ts"
import { IdentityStore, MOST_LINKED } from "./IdentityStore.ts"

/** A request waits for these reads, so they have to answer within this time. */
const READ_DEADLINE = Duration.millis(400)
const WRITE_DEADLINE = Duration.seconds(5)

const unavailable = (cause: unknown) => new IdentityStoreUnavailable({ cause })

const Row = Schema.Struct({ record: Schema.fromJsonString(IdentityRecord) })
const asJson = Schema.encodeEffect(Schema.fromJsonString(Schema.Array(IdentityRecord)))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const recordsOf = SqlSchema.findAll({
    Request: Schema.Array(Address),
    Result: Row,
    execute: (wallets) => sql`
      select record::text from wallet_identities where ${sql.in("wallet", wallets)} order by source
    `
  })

  const of = Effect.fnUntraced(function* (wallets: ReadonlyArray<Address>) {
    const rows = yield* recordsOf(wallets)
    return Map.groupBy(
      rows.map(({ record }) => record),
      ({ wallet }) => wallet
    )
  })

  const linksOf = SqlSchema.findAll({
    Request: Schema.Array(Address),
    Result: Schema.Struct({ wallet: Address, linked: Address }),
    execute: (wallets) => sql`
      select distinct own.wallet as wallet, other.wallet as linked
      from wallet_identities as own
      join wallet_identities as other
        on other.source = own.source and other.record ->> 'owner' = own.record ->> 'owner'
        and other.record ->> 'owner' is not null and other.wallet <> own.wallet
      where ${sql.in("own.wallet", wallets)} and own.record ->> 'owner' is not null
      order by 1, 2
    `
  })

  const linkedTo = Effect.fnUntraced(function* (wallets: ReadonlyArray<Address>) {
    const links = Map.groupBy(yield* linksOf(wallets), ({ wallet }) => wallet)
    const linked = Array.from(
      links,
      ([wallet, of]) => [wallet, of.slice(0, MOST_LINKED).map((each) => each.linked)] as const
    )
    return new Map<Address, ReadonlyArray<Address>>(linked)
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
        : bounded(READ_DEADLINE, unavailable)(of(wallets))
    ),
    linkedTo: Effect.fn("IdentityStore.linkedTo")((wallets: ReadonlyArray<Address>) =>
      wallets.length === 0
        ? Effect.succeed(new Map<Address, ReadonlyArray<Address>>())
        : bounded(READ_DEADLINE, unavailable)(linkedTo(wallets))
    ),
    replace: Effect.fn("IdentityStore.replace")((source: string, records: ReadonlyArray<IdentityRecord>) =>
      bounded(WRITE_DEADLINE, unavailable)(transaction(sql, replace(source, records)))
    )
  })
})

/** Identities in the table `wallet_identities`. */
export const layer: Layer.Layer<IdentityStore, never, SqlClient.SqlClient> = Layer.effect(IdentityStore, make)
