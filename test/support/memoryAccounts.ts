/** Accounts and sessions in memory, for tests of HTTP. */
import { Clock, Effect, Layer, PubSub, type Redacted, Stream } from "effect"
import { AccountStore, LINK_MINUTES, PENDING_MINUTES } from "../../src/access/accounts/AccountStore.ts"
import { hashOf, isWellFormed, makeSecret } from "../../src/access/accounts/secrets.ts"
import { type SessionClosure, sessionId, SessionStore } from "../../src/access/accounts/SessionStore.ts"
import {
  type Account,
  AccountExists,
  AccountNotFound,
  type AccountStoreUnavailable,
  LinkNotValid,
  SessionEnded
} from "../../src/api/schemas/Account.ts"
import { DEFAULT_PLAN } from "../../src/api/schemas/Plan.ts"
import { type ApiKey, ApiScope } from "../../src/api/schemas/ApiKey.ts"
import { SecretSource } from "../../src/domain/randomText.ts"

interface Link {
  readonly accountId: string
  readonly expiresAtMs: number
}

/** An account with a session and a link whose secrets the caller knows. */
export interface KnownAccount {
  readonly id: string
  readonly session: Redacted.Redacted
  readonly link: Redacted.Redacted
}

const makeStores = Effect.fnUntraced(function* (known: ReadonlyArray<KnownAccount>) {
  const random = yield* SecretSource
  const accounts = new Map(
    known.map(({ id }): [string, Account] => [id, { id, name: id, role: "member", createdAtMs: 0, disabledAtMs: null }])
  )
  const identities = new Map<string, string>()
  const pending = new Map<string, number>()
  const closed = yield* PubSub.unbounded<SessionClosure>()
  const links = new Map(
    known.map(({ id, link }): [string, Link] => [
      hashOf(link),
      { accountId: id, expiresAtMs: Number.POSITIVE_INFINITY }
    ])
  )
  const sessions = new Map(known.map(({ id, session }) => [hashOf(session), id]))

  const create: AccountStore["Service"]["create"] = (wanted) =>
    Effect.flatMap(Clock.currentTimeMillis, (createdAtMs) => {
      if (accounts.has(wanted.id)) {
        return Effect.fail(new AccountExists({ id: wanted.id }))
      }
      const account = { ...wanted, createdAtMs, disabledAtMs: null }
      accounts.set(account.id, account)
      return Effect.succeed(account)
    })

  const open = (accountId: string) => {
    const secret = makeSecret(random)
    if (enabled(accountId) !== null) {
      sessions.set(hashOf(secret), accountId)
    }
    return secret
  }

  const endAll = (accountId: string) => {
    Array.from(sessions).forEach(([hash, owner]) => owner === accountId && sessions.delete(hash))
    PubSub.publishUnsafe(closed, { accountId, session: null })
  }

  const end = (hash: string) => {
    const accountId = sessions.get(hash)
    if (accountId !== undefined) {
      sessions.delete(hash)
      PubSub.publishUnsafe(closed, { accountId, session: hash })
    }
  }

  const enabled = (id: string): Account | null => {
    const account = accounts.get(id)
    return account === undefined || account.disabledAtMs !== null ? null : account
  }

  const accountStore = AccountStore.of({
    create,
    find: (id) => Effect.succeed(accounts.get(id) ?? null),
    list: Effect.sync(() => Array.from(accounts.values())),
    setDisabled: Effect.fnUntraced(function* (id, disabled) {
      const account = accounts.get(id) ?? (yield* new AccountNotFound({ id }))
      const changed = { ...account, disabledAtMs: disabled ? yield* Clock.currentTimeMillis : null }
      accounts.set(id, changed)
      if (disabled) {
        endAll(id)
      }
      return changed
    }),
    link: Effect.fnUntraced(function* (id) {
      if (!accounts.has(id)) {
        return yield* new AccountNotFound({ id })
      }
      const token = makeSecret(random)
      const nowMs = yield* Clock.currentTimeMillis
      links.set(hashOf(token), { accountId: id, expiresAtMs: nowMs + LINK_MINUTES * 60_000 })
      return token
    }),
    redeem: Effect.fnUntraced(function* (token: Redacted.Redacted) {
      const nowMs = yield* Clock.currentTimeMillis
      const link = isWellFormed(token) ? links.get(hashOf(token)) : undefined
      const account = link === undefined || link.expiresAtMs <= nowMs ? null : enabled(link.accountId)
      if (account === null) {
        return yield* new LinkNotValid()
      }
      links.delete(hashOf(token))
      return account
    }),
    beginSignIn: Effect.map(Clock.currentTimeMillis, (nowMs) => {
      const secret = makeSecret(random)
      pending.set(hashOf(secret), nowMs + PENDING_MINUTES * 60_000)
      return secret
    }),
    finishSignIn: Effect.fnUntraced(function* (secret: Redacted.Redacted) {
      const nowMs = yield* Clock.currentTimeMillis
      const expiresAtMs = pending.get(hashOf(secret))
      pending.delete(hashOf(secret))
      return expiresAtMs === undefined || expiresAtMs <= nowMs ? yield* new LinkNotValid() : undefined
    }),
    ofIdentity: Effect.fnUntraced(function* ({ issuer, subject }, name) {
      const user = JSON.stringify([issuer, subject])
      const known = identities.get(user)
      if (known !== undefined) {
        return enabled(known) ?? (yield* new LinkNotValid())
      }
      const account = yield* Effect.orDie(create({ id: `acc_${identities.size + 1}`, name, role: "member" }))
      identities.set(user, account.id)
      return account
    })
  })

  const sessionStore = SessionStore.of({
    lifetimeSeconds: 3600,
    open: (accountId) => Effect.sync(() => open(accountId)),
    authenticate: Effect.fnUntraced(function* (secret: Redacted.Redacted) {
      const account = enabled(sessions.get(hashOf(secret)) ?? "")
      if (account === null) {
        return yield* new SessionEnded()
      }
      return credentialOf(account)
    }),
    end: (secret) => Effect.sync(() => end(hashOf(secret))),
    endAll: (accountId) => Effect.sync(() => endAll(accountId)),
    isOpen: (session) => Effect.sync(() => enabled(sessions.get(session) ?? "") !== null),
    closures: Stream.fromPubSub(closed)
  })
  return { accountStore, sessionStore }
})

/** The credential of a session of the account. */
export const credentialOf = (account: Pick<Account, "id" | "name">): ApiKey => ({
  id: sessionId(account.id),
  accountId: account.id,
  name: account.name,
  prefix: "",
  lastFour: "",
  scopes: ApiScope.literals,
  ipPolicy: null,
  plan: DEFAULT_PLAN,
  createdAtMs: 0,
  lastUsedAtMs: 0,
  expiresAtMs: null,
  replacedBy: null,
  disabledAtMs: null,
  revokedAtMs: null
})

/** Both stores over the same maps, with accounts that exist from the start. */
export const layerOf = (known: ReadonlyArray<KnownAccount>): Layer.Layer<AccountStore | SessionStore> =>
  Layer.unwrap(
    Effect.map(makeStores(known), ({ accountStore, sessionStore }) =>
      Layer.merge(Layer.succeed(AccountStore, accountStore), Layer.succeed(SessionStore, sessionStore))
    )
  )

/** Both stores, empty. */
export const layer = layerOf([])

/** Stores whose every method ends like this effect. */
export const layerFailing = (end: Effect.Effect<never, AccountStoreUnavailable>) =>
  Layer.merge(
    Layer.succeed(AccountStore, {
      create: () => end,
      find: () => end,
      list: end,
      setDisabled: () => end,
      link: () => end,
      redeem: () => end,
      beginSignIn: end,
      finishSignIn: () => end,
      ofIdentity: () => end
    }),
    Layer.succeed(SessionStore, {
      lifetimeSeconds: 3600,
      open: () => end,
      authenticate: () => end,
      end: () => end,
      endAll: () => end,
      isOpen: () => end,
      closures: Stream.never
    })
  )
