/** Keys in Postgres. This process caches them while the change channel is proven to deliver every change. */
import { Clock, Config, Duration, Effect, Layer, PubSub, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { type ApiKey, isActive, KeyNotFound, KeyStoreUnavailable, type TooManyKeys } from "../api/schemas/ApiKey.ts"
import { durationSetting } from "../domain/countSetting.ts"
import { AUDIT_DAYS } from "../api/schemas/KeyAudit.ts"
import type { Plan } from "../api/schemas/Plan.ts"
import { SecretSource } from "../domain/randomText.ts"
import { keepGoing } from "../operations/keepRunning.ts"
import { Readings } from "../operations/Readings.ts"
import { ChangeChannel, LOOK_BACK_MS } from "../storage/ChangeChannel.ts"
import * as Database from "../storage/Database.ts"
import { bounded } from "../storage/deadline.ts"
import { cleanUp } from "../storage/purge.ts"
import { transaction } from "../storage/transaction.ts"
import { AddressLog } from "./AddressLog.ts"
import { Ended } from "./Ended.ts"
import { makeAuditTable } from "./auditTable.ts"
import { makeAdmission, trustedKeys } from "./keyAdmission.ts"
import { KeyCache } from "./KeyCache.ts"
import { makeKeyChanges } from "./keyChanges.ts"
import * as Format from "./keyFormat.ts"
import * as Rules from "./keyRules.ts"
import { makeKeyLookup } from "./keyLookup.ts"
import { countEarlierKeys, HashRewrites, pepperSettings, readPeppers } from "./keyPeppers.ts"
import { KeyStore } from "./KeyStore.ts"
import { makeKeyTable } from "./keyTable.ts"
import { endExpiredKeys, storeBatch, storeNotes } from "./keyUpkeep.ts"
import { LastUsedLog } from "./LastUsedLog.ts"
import { makePlanTable } from "./planTable.ts"

/** Deadline of a request's query. The request itself fails after half a second. */
const REQUEST_DEADLINE = Duration.millis(400)
const ADMIN_DEADLINE = Duration.seconds(5)
/** Deadline at the start: the process is busy, and no request waits. */
const START_DEADLINE = Duration.seconds(30)
const PURGE_EVERY = Duration.hours(6)

/** Settings of the key store. */
export const settings = Config.all({
  environment: Config.Literals(["live", "test"], "KEY_ENVIRONMENT").pipe(Config.withDefault("live" as const)),
  peppers: pepperSettings,
  /**
   * How long a cached key is trusted after the last proof of the change channel. This is the longest delay of a
   * revocation.
   */
  trustedFor: durationSetting("KEYS_TRUSTED_FOR").pipe(Config.withDefault(Duration.zero)),
  /** How long audit entries, and the addresses that keys were used from, are kept. */
  auditKept: durationSetting("KEY_AUDIT_KEPT").pipe(Config.withDefault(Duration.days(AUDIT_DAYS)))
})

const unavailable = (cause: unknown) => new KeyStoreUnavailable({ cause })
const onRequest = bounded(REQUEST_DEADLINE, unavailable)
const onAdmin = bounded(ADMIN_DEADLINE, unavailable)
const onStart = bounded(START_DEADLINE, unavailable)

const KEY_ID = /^[\w-]{1,64}$/u

/** The parts of this process that have to follow when a key changes. */
interface Held {
  readonly ended: Ended
  readonly cache: KeyCache
  readonly closed: PubSub.PubSub<string>
  readonly lastUsed: LastUsedLog
}

/** Runs changes of keys and plans, each in a transaction, and applies them in this process without waiting for the channel. */
const makeWrites = (sql: SqlClient.SqlClient, { cache, closed, ended, lastUsed }: Held) => {
  /** Changes a key in the database, then in the cache, the open streams and the recorded ends. */
  const apply = Effect.fnUntraced(function* <A, E>(
    id: string,
    change: Effect.Effect<A, E>,
    keyOf: (changed: A) => ApiKey
  ) {
    if (!KEY_ID.test(id)) {
      return yield* new KeyNotFound({ id })
    }
    const changed = yield* onAdmin(transaction(sql, change))
    cache.drop(id)
    const key = keyOf(changed)
    if (!isActive(key, yield* Clock.currentTimeMillis)) {
      yield* PubSub.publish(closed, id)
    }
    yield* key.revokedAtMs === null ? Effect.void : ended.note({ kind: "key", id, atMs: key.revokedAtMs })
    return changed
  })
  const merged = <E>(id: string, change: Effect.Effect<ApiKey, E>) =>
    Effect.map(
      apply(id, change, (key) => key),
      (key) => lastUsed.merge(key)
    )
  // Disabling or revoking a key takes no place, so it cannot exceed the limit of active keys.
  const closing = <E>(id: string, change: Effect.Effect<ApiKey, E | TooManyKeys>) =>
    Effect.catchTag(merged(id, change), "TooManyKeys", Effect.die)
  const changePlan = <E>(name: string, change: Effect.Effect<Plan, E>) =>
    Effect.fromResult(Rules.changeable(name)).pipe(
      Effect.andThen(onAdmin(transaction(sql, change))),
      Effect.tap(() => Effect.sync(() => cache.clear()))
    )
  return { apply, changePlan, closing, merged }
}

/**
 * Finds keys that are known to be revoked although the database calls them active. Returns them as revoked, and revokes
 * them in the database again.
 */
const makeRefusal =
  (ended: Ended, revokeAgain: (id: string, atMs: number) => Effect.Effect<void, KeyNotFound | KeyStoreUnavailable>) =>
  (found: ReadonlyMap<string, ApiKey>) =>
    Effect.gen(function* () {
      const active = Array.from(found.values()).filter(({ revokedAtMs }) => revokedAtMs === null)
      const times = yield* ended.times(active.map(({ id }) => ({ kind: "key", id })))
      const revokedAt = new Map(active.map(({ id }, i) => [id, times[i] ?? null]))
      for (const [id, atMs] of revokedAt) {
        if (atMs !== null) {
          yield* Effect.logError("The database has forgotten that a key was revoked: it is revoked again", { id })
          yield* Effect.forkDetach(keepGoing("Revoking a key again")(revokeAgain(id, atMs)))
        }
      }
      return new Map(
        Array.from(found, ([hash, key]) => [
          hash,
          { ...key, revokedAtMs: key.revokedAtMs ?? revokedAt.get(key.id) ?? null }
        ])
      )
    })

const make = Effect.gen(function* () {
  const { auditKept, environment, peppers: given, trustedFor } = yield* settings
  const random = yield* SecretSource
  const clock = yield* Clock.Clock
  const sql = yield* SqlClient.SqlClient
  const channel = yield* ChangeChannel
  const table = makeKeyTable(sql)
  const plans = makePlanTable(sql)
  const audit = makeAuditTable(sql)
  const peppers = yield* Database.atStart(onStart(readPeppers(table, random, given)))
  const cache = new KeyCache()
  const lastUsed = new LastUsedLog()
  const rewrites = new HashRewrites()
  const addresses = new AddressLog()
  const closed = yield* PubSub.unbounded<string>()
  const ended = yield* Ended
  /**
   * Every process records the revocations that it learns of: the process that revoked the key may be gone, or may use
   * another store of ends.
   */
  const noteRevoked = (id: string) =>
    Effect.suspend(() => ended.note({ kind: "key", id, atMs: clock.currentTimeMillisUnsafe() }))

  yield* (yield* Readings).report(
    {
      name: "fathom_keys_cached",
      help: "Keys that are known from memory, and hashes that are known to be of no key.",
      kind: "gauge"
    },
    () => Object.entries(cache.sizes).map(([kind, value]) => ({ value, labels: { kind } }))
  )
  // Handlers and not a stream: a changed key has to leave the cache before the next beat proves the channel.
  yield* channel.subscribe("keys", {
    onChange: (subject) => {
      const [state, id = ""] = subject.split(" ")
      if (state === "plan") {
        return cache.clear()
      }
      cache.drop(id)
      if (state !== "open") {
        PubSub.publishUnsafe(closed, id)
      }
      if (state === "revoked") {
        Effect.runFork(noteRevoked(id))
      }
    },
    onConnected: Effect.fnUntraced(function* (gapMs) {
      cache.clear()
      const missed = gapMs === null ? [] : yield* table.closedWithin(gapMs + LOOK_BACK_MS)
      yield* PubSub.publishAll(
        closed,
        missed.map(({ id }) => id)
      )
      const revoked = missed.filter(({ isRevoked }) => isRevoked)
      yield* Effect.forEach(revoked, ({ id }) => noteRevoked(id), { discard: true, concurrency: 16 })
    })
  })

  const changes = makeKeyChanges(sql, channel, {
    id: () => Format.makeId(random),
    secret: () => {
      const secret = Format.makeSecret(environment, random)
      const stored = { ...Format.visibleParts(secret), secretHash: peppers.hash(secret), pepperId: peppers.id }
      return { secret, stored }
    }
  })
  yield* storeNotes([
    keepGoing("Storing when keys were last used")(storeBatch(lastUsed, (batch) => onAdmin(table.markUsed(batch)))),
    keepGoing("Storing the addresses of keys")(
      storeBatch(addresses, (batch) => onAdmin(transaction(sql, audit.addUses(batch))))
    ),
    // Stores one batch after another until none waits.
    storeBatch(rewrites, (batch) => onAdmin(changes.rewriteHashes(batch, peppers.id))).pipe(
      Effect.repeat({ while: (written) => written > 0 }),
      keepGoing("Rewriting the hashes of keys")
    )
  ])
  yield* endExpiredKeys(closed, (afterMs, untilMs) => onAdmin(table.expiredBetween(afterMs, untilMs)))
  yield* cleanUp(
    "Removing old entries of the key audit",
    PURGE_EVERY,
    Effect.flatMap(Clock.currentTimeMillis, (nowMs) => audit.purge(nowMs - Duration.toMillis(auditKept), onAdmin))
  )

  const refuseRevoked = makeRefusal(ended, (id, atMs) => onAdmin(transaction(sql, changes.revokeAgain(id, atMs))))
  const cached = trustedKeys({ cache, channel, trustedFor })
  const read = yield* makeKeyLookup({
    cache,
    cached,
    byHashes: (hashes, earlier) =>
      onRequest(table.byHashes([...hashes, ...earlier.keys()])).pipe(
        Effect.map((found) => rewrites.resolve(found, earlier, peppers.id)),
        Effect.flatMap(refuseRevoked)
      )
  })
  yield* countEarlierKeys(peppers, onAdmin(table.countEarlier(peppers.ids)))

  const { apply, changePlan, closing, merged } = makeWrites(sql, { cache, closed, ended, lastUsed })

  return KeyStore.of({
    issue: Effect.fn("KeyStore.issue")((request, by) => onAdmin(transaction(sql, changes.issue(request, by)))),
    authenticate: makeAdmission({ cache, cached, lastUsed, peppers, read }),
    list: Effect.fn("KeyStore.list")(function* (accountId) {
      const keys = yield* onAdmin(table.ofAccount(accountId))
      return keys.map((key) => lastUsed.merge(key))
    }),
    change: Effect.fn("KeyStore.change")((id, fields, by) => merged(id, changes.edit(id, fields, by))),
    rotate: Effect.fn("KeyStore.rotate")((id, overlapMs, by) =>
      Effect.map(
        apply(id, changes.rotate(id, overlapMs, by), ({ old }) => old),
        ({ issued }) => issued
      )
    ),
    revoke: Effect.fn("KeyStore.revoke")((id, by) =>
      closing(id, changes.decide(id, { action: "revoke", by }, Rules.revoked))
    ),
    disable: Effect.fn("KeyStore.disable")((id, by) =>
      closing(id, changes.decide(id, { action: "disable", by }, Rules.disabled))
    ),
    enable: Effect.fn("KeyStore.enable")((id, by) =>
      merged(id, changes.decide(id, { action: "enable", by }, Rules.enabled))
    ),
    closures: Stream.fromPubSub(closed),
    audit: (accountId, page) => onAdmin(audit.page(accountId, page)),
    plans: onAdmin(plans.all),
    usedFrom: ({ id }, address) => addresses.note(id, address, clock.currentTimeMillisUnsafe()),
    setPlan: Effect.fn("KeyStore.setPlan")((plan, by) => changePlan(plan.name, changes.setPlan(plan, by))),
    removePlan: Effect.fn("KeyStore.removePlan")((name, by) => changePlan(name, changes.removePlan(name, by))),
    planAudit: (limit) => onAdmin(audit.ofPlans(limit))
  })
})

/** Keys in the table `api_keys`. */
export const layer: Layer.Layer<
  KeyStore,
  Config.ConfigError | KeyStoreUnavailable,
  SqlClient.SqlClient | ChangeChannel
> = Layer.effect(KeyStore, make)
