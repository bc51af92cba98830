/** Accounts in Postgres. Every query has a deadline. */
import { PgTypes } from "@effect/sql-pg"
import { Clock, Duration, Effect, Layer, type Redacted, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import {
  Account,
  AccountExists,
  AccountNotFound,
  AccountStoreUnavailable,
  type Identity,
  LinkNotValid
} from "../../api/schemas/Account.ts"
import { randomBase62, SecretSource } from "../../domain/randomText.ts"
import { ChangeChannel } from "../../storage/ChangeChannel.ts"
import { bounded } from "../../storage/deadline.ts"
import { transaction } from "../../storage/transaction.ts"
import { Ended } from "../Ended.ts"
import { AccountStore, LINK_MINUTES, PENDING_MINUTES } from "./AccountStore.ts"
import { hashOf, isWellFormed, makeSecret } from "./secrets.ts"
import { announceEndOfAll } from "./sessionTable.ts"

const DEADLINE = Duration.seconds(2)
const LINK_MS = LINK_MINUTES * 60_000
const PENDING_MS = PENDING_MINUTES * 60_000
const ID_LENGTH = 16

const COLUMNS = `
  accounts.id, accounts.name, accounts.role,
  (extract(epoch from accounts.created_at) * 1000)::float8 as created_at_ms,
  (extract(epoch from accounts.disabled_at) * 1000)::float8 as disabled_at_ms
`

const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Account))
const inTime = bounded(DEADLINE, (cause) => new AccountStoreUnavailable({ cause }))

/** Removes control characters from a name that a provider sends, and shortens it. An empty name becomes the id. */
const displayName = (name: string, id: string): string => {
  const printable = Array.from(name.replaceAll(/\p{Cc}/gu, "").trim())
  return printable.length === 0 ? id : printable.slice(0, 64).join("")
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const channel = yield* ChangeChannel
  const random = yield* SecretSource
  const columns = sql.literal(COLUMNS)
  const ended = yield* Ended

  /**
   * Refuses a secret that was used before, even when the database has fallen back to an older copy that still accepts
   * it.
   */
  const usedOnce = <A, E>(secret: Redacted.Redacted, use: Effect.Effect<A, E>) =>
    Effect.flatMap(use, (used) =>
      Effect.flatMap(Clock.currentTimeMillis, (atMs) => ended.claim({ kind: "link", id: hashOf(secret), atMs })).pipe(
        Effect.flatMap((isFirst) => (isFirst ? Effect.succeed(used) : Effect.fail(new LinkNotValid())))
      )
    )

  const accounts = Effect.fnUntraced(function* (statement: Statement.Statement<object>) {
    return yield* decodeRows(yield* statement)
  })
  const first = (statement: Statement.Statement<object>) =>
    Effect.map(accounts(statement), ([account]) => account ?? null)

  const insert = Effect.fnUntraced(function* ({ id, name, role }: Pick<Account, "id" | "name" | "role">) {
    const createdAt = PgTypes.timestamptz(yield* Clock.currentTimeMillis)
    return yield* first(
      sql`
        insert into accounts ${sql.insert({ id, name, role, createdAt })}
        on conflict do nothing returning ${columns}
      `
    )
  })

  const find = (id: string) => first(sql`select ${columns} from accounts where id = ${id}`)

  const setDisabled = Effect.fnUntraced(function* (id: string, disabled: boolean) {
    const nowMs = yield* Clock.currentTimeMillis
    const at = disabled ? PgTypes.timestamptz(nowMs) : null
    const account = yield* first(sql`update accounts set disabled_at = ${at} where id = ${id} returning ${columns}`)
    if (account === null) {
      return yield* new AccountNotFound({ id })
    }
    yield* disabled ? announceEndOfAll({ sql, channel, accountId: id, nowMs }) : Effect.void
    return account
  })

  const link = Effect.fnUntraced(function* (id: string) {
    const nowMs = yield* Clock.currentTimeMillis
    if ((yield* find(id)) === null) {
      return yield* new AccountNotFound({ id })
    }
    const token = makeSecret(random)
    const row = { tokenHash: hashOf(token), accountId: id, expiresAt: PgTypes.timestamptz(nowMs + LINK_MS) }
    yield* sql`insert into sign_in_links ${sql.insert(row)}`
    return token
  })

  const redeem = Effect.fnUntraced(function* (token: Redacted.Redacted) {
    const now = PgTypes.timestamptz(yield* Clock.currentTimeMillis)
    // One statement, so that two requests at once cannot both use the token.
    const account = yield* first(sql`
      update sign_in_links set used_at = ${now} from accounts
      where token_hash = ${hashOf(token)} and used_at is null and expires_at > ${now}
        and accounts.id = sign_in_links.account_id and accounts.disabled_at is null
      returning ${columns}
    `)
    return account ?? (yield* new LinkNotValid())
  })

  const beginSignIn = Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    const secret = makeSecret(random)
    const row = { secretHash: hashOf(secret), expiresAt: PgTypes.timestamptz(nowMs + PENDING_MS) }
    yield* sql`insert into pending_sign_ins ${sql.insert(row)}`
    return secret
  })

  const finishSignIn = Effect.fnUntraced(function* (secret: Redacted.Redacted) {
    const now = PgTypes.timestamptz(yield* Clock.currentTimeMillis)
    // One statement, so that two requests at once cannot both finish it.
    const finished = yield* sql`
      delete from pending_sign_ins where secret_hash = ${hashOf(secret)} and expires_at > ${now} returning 1
    `.values
    return finished.length === 0 ? yield* new LinkNotValid() : undefined
  })

  const ofIdentity = Effect.fnUntraced(function* ({ issuer, subject }: Identity, name: string) {
    // Locked until the transaction ends, so that two first sign-ins at once make one account.
    yield* sql`select pg_advisory_xact_lock(hashtextextended(${JSON.stringify([issuer, subject])}, 1))`
    const known = yield* first(sql`
      select ${columns} from accounts join account_identities on account_id = accounts.id
      where issuer = ${issuer} and subject = ${subject}
    `)
    if (known !== null) {
      return known.disabledAtMs === null ? known : yield* new LinkNotValid()
    }
    const id = `acc_${randomBase62(ID_LENGTH, random)}`
    const made = yield* insert({ id, name: displayName(name, id), role: "member" })
    yield* sql`insert into account_identities ${sql.insert({ issuer, subject, accountId: id })}`
    return made ?? (yield* Effect.die(new Error("a random account id exists already")))
  })

  return AccountStore.of({
    create: Effect.fn("AccountStore.create")(function* (account) {
      return (yield* inTime(insert(account))) ?? (yield* new AccountExists({ id: account.id }))
    }),
    find: (id) => inTime(find(id)),
    list: inTime(accounts(sql`select ${columns} from accounts order by accounts.created_at, accounts.id`)),
    setDisabled: (id, disabled) => inTime(transaction(sql, setDisabled(id, disabled))),
    link: (id) => inTime(link(id)),
    redeem: (token) => (isWellFormed(token) ? usedOnce(token, inTime(redeem(token))) : Effect.fail(new LinkNotValid())),
    beginSignIn: inTime(beginSignIn),
    finishSignIn: (secret) =>
      isWellFormed(secret) ? usedOnce(secret, inTime(finishSignIn(secret))) : Effect.fail(new LinkNotValid()),
    ofIdentity: (identity, name) => inTime(transaction(sql, ofIdentity(identity, name)))
  })
})

/** Accounts in the tables `accounts`, `account_identities`, `sign_in_links` and `pending_sign_ins`. */
export const layer: Layer.Layer<AccountStore, never, SqlClient.SqlClient | ChangeChannel> = Layer.effect(
  AccountStore,
  make
)
