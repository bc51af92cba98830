/** Keys in Postgres, cached in this process while the change channel is proven to deliver every change. */
import { Clock, Config, Duration, Effect, Layer, Option, PubSub, type Redacted, Schedule, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { type ApiKey, isActive, KeyNotFound, KeyStoreUnavailable, UnknownKey } from "../domain/ApiKey.ts"
import { SecretSource } from "../domain/randomText.ts"
import { keepGoing, keepRunning } from "../health/keepRunning.ts"
import { ChangeChannel } from "../storage/ChangeChannel.ts"
import { bounded, type Broken } from "../storage/deadline.ts"
import { transaction } from "../storage/transaction.ts"
import { KeyCache } from "./KeyCache.ts"
import * as Format from "./keyFormat.ts"
import { admitted } from "./keyRules.ts"
import { makeKeyLookup } from "./keyLookup.ts"
import { KeyStore } from "./KeyStore.ts"
import { makeKeyTable } from "./keyTable.ts"
import { LastUsedLog } from "./LastUsedLog.ts"
import type { KeyRequest } from "./memoryKeys.ts"

/** On the path of a request, which has half a second to fail in. */
const REQUEST_DEADLINE = Duration.millis(400)
const ADMIN_DEADLINE = Duration.seconds(5)
/** A starting process is busy, and no request waits for it. */
const START_DEADLINE = Duration.seconds(30)
const FLUSH_EVERY = Duration.seconds(5)
/** Look-back for missed changes beyond the gap: a transaction may have been open for a while. */
const LOOK_BACK_MS = 60_000

/** Settings of the key store. */
export const settings = Config.all({
  environment: Config.Literals(["live", "test"], "KEY_ENVIRONMENT").pipe(Config.withDefault("live" as const)),
  /** Hashes are worthless without it. When missing, the database keeps a random one, so that processes agree. */
  pepper: Config.option(Config.Redacted("KEY_PEPPER")),
  /** Time for which a cached key is trusted after the last proof of the change channel: the longest delay of a revocation. */
  trustedFor: Config.Duration("KEYS_TRUSTED_FOR").pipe(Config.withDefault(Duration.zero))
})

const unavailable = (cause: unknown) => new KeyStoreUnavailable({ cause })
const onRequest = bounded(REQUEST_DEADLINE, unavailable)
const onAdmin = bounded(ADMIN_DEADLINE, unavailable)
const onStart = bounded(START_DEADLINE, unavailable)

const KEY_ID = /^[\w-]{1,64}$/u

const make = Effect.gen(function* () {
  const { environment, pepper: given, trustedFor } = yield* settings
  const random = yield* SecretSource
  const sql = yield* SqlClient.SqlClient
  const channel = yield* ChangeChannel
  const table = makeKeyTable(sql)
  const pepper = Option.isSome(given)
    ? given.value
    : yield* onStart(table.secret("key_pepper", Format.makePepper(random)))
  const cache = new KeyCache()
  const lastUsed = new LastUsedLog()
  const closed = yield* PubSub.unbounded<string>()

  // Handlers, not a stream: a key has to leave the cache before the next beat proves the channel.
  yield* channel.subscribe("keys", {
    onChange: (subject) => {
      const [state, id = ""] = subject.split(" ")
      cache.drop(id)
      if (state !== "open") {
        PubSub.publishUnsafe(closed, id)
      }
    },
    onConnected: Effect.fnUntraced(function* (gapMs) {
      cache.clear()
      const missed = gapMs === null ? [] : yield* table.closedWithin(gapMs + LOOK_BACK_MS)
      yield* PubSub.publishAll(closed, missed)
    })
  })

  const flush = Effect.suspend(() => {
    const batch = lastUsed.batch()
    return batch.length === 0 ? Effect.void : Effect.map(onAdmin(table.markUsed(batch)), () => lastUsed.written(batch))
  }).pipe(keepGoing("Storing when keys were last used"))
  yield* Effect.addFinalizer(() => flush)
  yield* flush.pipe(
    Effect.schedule(Schedule.spaced(FLUSH_EVERY)),
    keepRunning("Storing when keys were last used"),
    Effect.forkScoped
  )

  /** The key of the hash as far as the cache may be trusted; an unknown hash only while the channel is proven. */
  const trusted = (hash: string, nowMs: number): ApiKey | null | undefined => {
    if (channel.isProven()) {
      return cache.get(hash, nowMs)
    }
    const isTrusted = channel.sinceProvenMs() < Duration.toMillis(trustedFor)
    return isTrusted ? (cache.get(hash, nowMs) ?? undefined) : undefined
  }
  const read = yield* makeKeyLookup({
    cache,
    cached: trusted,
    byHashes: (hashes) => onRequest(table.byHashes(hashes))
  })

  const authenticate = Effect.fnUntraced(function* (secret: Redacted.Redacted) {
    if (!Format.isWellFormed(secret)) {
      return yield* new UnknownKey()
    }
    const nowMs = yield* Clock.currentTimeMillis
    const hash = Format.hashSecret(pepper, secret)
    const known = trusted(hash, nowMs)
    const key = yield* Effect.fromResult(admitted(known === undefined ? yield* read(hash) : known))
    const marked = lastUsed.mark(key, nowMs)
    cache.refresh(hash, marked)
    return marked
  })

  const issue = Effect.fn("KeyStore.issue")(function* (request: KeyRequest) {
    const createdAtMs = yield* Clock.currentTimeMillis
    const secret = Format.makeSecret(environment, random)
    const identity = { id: Format.makeId(random), ...Format.visibleParts(secret), createdAtMs }
    const stored = table.insert({ ...request, ...identity, secretHash: Format.hashSecret(pepper, secret) })
    return { key: yield* onAdmin(transaction(sql, stored)), secret }
  })

  const list = Effect.fn("KeyStore.list")(function* (accountId: string) {
    const keys = yield* onAdmin(table.ofAccount(accountId))
    return keys.map((key) => lastUsed.merge(key))
  })

  /** Changes a key and announces it in one transaction. In this process it takes effect without waiting for the channel. */
  const change = Effect.fnUntraced(function* <E>(
    id: string,
    statement: Effect.Effect<ApiKey, E | Broken | KeyNotFound>
  ) {
    if (!KEY_ID.test(id)) {
      return yield* new KeyNotFound({ id })
    }
    const announced = Effect.tap(statement, (key) =>
      channel.announce("keys", `${isActive(key) ? "open" : "closed"} ${id}`)
    )
    const key = yield* onAdmin(transaction(sql, announced))
    cache.drop(id)
    if (!isActive(key)) {
      yield* PubSub.publish(closed, id)
    }
    return lastUsed.merge(key)
  })
  const now = Clock.currentTimeMillis
  const revoke = Effect.fn("KeyStore.revoke")((id: string) =>
    change(
      id,
      Effect.flatMap(now, (nowMs) => table.revoke(id, nowMs))
    )
  )
  const disable = Effect.fn("KeyStore.disable")((id: string) =>
    change(
      id,
      Effect.flatMap(now, (nowMs) => table.disable(id, nowMs))
    )
  )
  const enable = Effect.fn("KeyStore.enable")((id: string) => change(id, table.enable(id)))

  return KeyStore.of({ issue, authenticate, list, revoke, disable, enable, closures: Stream.fromPubSub(closed) })
})

/** Keys in the table `api_keys`. */
export const layer: Layer.Layer<
  KeyStore,
  Config.ConfigError | KeyStoreUnavailable,
  SqlClient.SqlClient | ChangeChannel
> = Layer.effect(KeyStore, make)
