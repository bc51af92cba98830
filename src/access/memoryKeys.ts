/** Keys held in process, for `KeyStore.layerMemory`. */
import { Clock, Effect, PubSub, type Redacted, Result, Stream } from "effect"
import { ApiKey, isActive, KeyNotFound, MAX_ACTIVE_KEYS, TooManyKeys } from "../domain/ApiKey.ts"
import { SecretSource } from "../domain/randomText.ts"
import * as Format from "./keyFormat.ts"
import * as Rules from "./keyRules.ts"

/** A key that exists from the start. Fields left out are those of a new key of account `local`. */
export interface KnownKey extends Partial<Omit<ApiKey, "prefix" | "lastFour">> {
  readonly secret: Redacted.Redacted
}

/** Fields of a key that is to be issued. */
export type KeyRequest = Pick<ApiKey, "accountId" | "name" | "scopes" | "ipPolicy">

/** Initial keys of a store in memory, and the environment of the secrets that it issues. */
export interface MemoryKeysOptions {
  readonly keys?: ReadonlyArray<KnownKey> | undefined
  readonly environment?: Format.KeyEnvironment | undefined
}

const FRESH = {
  accountId: "local",
  name: "key",
  ipPolicy: null,
  lastUsedAtMs: null,
  disabledAtMs: null,
  revokedAtMs: null
}

/** The methods of a key store without a disk. Each reads the clock first and then acts in one synchronous step. */
export const makeMemoryKeys = Effect.fnUntraced(function* ({ environment = "live", keys = [] }: MemoryKeysOptions) {
  const random = yield* SecretSource
  const pepper = Format.makePepper(random)
  const closed = yield* PubSub.unbounded<string>()
  // In order of issue.
  const byId = new Map<string, ApiKey>()
  const idByHash = new Map<string, string>()

  const add = ({ secret, ...known }: KnownKey, createdAtMs: number): ApiKey => {
    const given = { ...FRESH, id: Format.makeId(random), scopes: ["md.read"] as const, createdAtMs, ...known }
    const key = ApiKey.make({ ...given, ...Format.visibleParts(secret) })
    byId.set(key.id, key)
    idByHash.set(Format.hashSecret(pepper, secret), key.id)
    return key
  }
  const startMs = yield* Clock.currentTimeMillis
  for (const key of keys) {
    add(key, startMs)
  }

  const ofAccount = (accountId: string) => Array.from(byId.values()).filter((key) => key.accountId === accountId)
  const isFull = (accountId: string) => ofAccount(accountId).filter(isActive).length >= MAX_ACTIVE_KEYS

  const issue = Effect.fn("KeyStore.issue")(function* (request: KeyRequest) {
    const nowMs = yield* Clock.currentTimeMillis
    if (isFull(request.accountId)) {
      return yield* new TooManyKeys({ limit: MAX_ACTIVE_KEYS })
    }
    const secret = Format.makeSecret(environment, random)
    return { key: add({ ...request, secret }, nowMs), secret }
  })

  // Plain functions, because every request passes here.
  const authenticate = (secret: Redacted.Redacted) =>
    Clock.clockWith((clock) => {
      const id = Format.isWellFormed(secret) ? idByHash.get(Format.hashSecret(pepper, secret)) : undefined
      const admitted = Rules.admitted(id === undefined ? null : (byId.get(id) ?? null))
      if (Result.isFailure(admitted)) {
        return Effect.fail(admitted.failure)
      }
      const key = Rules.used(admitted.success, clock.currentTimeMillisUnsafe())
      byId.set(key.id, key)
      return Effect.succeed(key)
    })

  const change = <E>(id: string, decide: (key: ApiKey, nowMs: number) => Result.Result<ApiKey, E>) =>
    Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
      const key = byId.get(id)
      const changed: Result.Result<ApiKey, E | KeyNotFound> =
        key === undefined ? Result.fail(new KeyNotFound({ id })) : decide(key, nowMs)
      if (Result.isSuccess(changed)) {
        byId.set(id, changed.success)
        if (!isActive(changed.success)) {
          PubSub.publishUnsafe(closed, id)
        }
      }
      return Effect.fromResult(changed)
    })

  const revoke = Effect.fn("KeyStore.revoke")((id: string) =>
    change(id, (key, nowMs) => Result.succeed(Rules.revoked(key, nowMs)))
  )
  const disable = Effect.fn("KeyStore.disable")((id: string) => change(id, Rules.disabled))
  const enable = Effect.fn("KeyStore.enable")((id: string) =>
    change(id, (key): Result.Result<ApiKey, TooManyKeys | KeyNotFound> =>
      key.disabledAtMs !== null && key.revokedAtMs === null && isFull(key.accountId)
        ? Result.fail(new TooManyKeys({ limit: MAX_ACTIVE_KEYS }))
        : Rules.enabled(key)
    )
  )
  const list = Effect.fn("KeyStore.list")((accountId: string) => Effect.sync(() => ofAccount(accountId).toReversed()))

  return { issue, authenticate, list, revoke, disable, enable, closures: Stream.fromPubSub(closed) }
})
