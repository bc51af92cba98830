/** The keys that a start with a simulated or recorded market prints. */
import { Clock, Effect, Redacted, Schedule, type Scope } from "effect"
import { KeyStore } from "../access/KeyStore.ts"
import { ApiScope, isActive, type KeyNotFound, type KeyStoreUnavailable } from "../api/schemas/ApiKey.ts"
import type { KeyActor } from "../api/schemas/KeyAudit.ts"
import { randomBase62, SecretSource } from "../domain/randomText.ts"
import { dataDir } from "../storage/Database.ts"
import { WELCOME } from "./startLink.ts"
import { forgetStart, hasEnded, recordedStarts, recordStart } from "../storage/startRecords.ts"
import { commandText } from "../domain/commandText.ts"

const ID_LENGTH = 12

const BY_START: KeyActor = { kind: "start", accountId: WELCOME, address: null }

/** A busy machine may need more than one request: five times the store's deadline of five seconds. */
const patiently = <A, E extends { readonly _tag: string }, R>(request: Effect.Effect<A, E, R>) =>
  Effect.retry(request, {
    times: 5,
    schedule: Schedule.spaced("250 millis"),
    while: ({ _tag }) => _tag === "KeyStoreUnavailable"
  })

/** The secrets of two new keys: one with every scope, one with `md.read` only. */
export interface StartKeys {
  readonly all: string
  readonly market: string
}

/** The id of the start that made a key, from the key's name; null for every other key. */
const startOf = (name: string): string | null =>
  /^(?:every scope|market reads) \(start (\w+)\)$/u.exec(name)?.[1] ?? null

/**
 * Revokes the keys of earlier starts in this data folder whose process has ended. Keys of a running process, of another
 * data folder and keys made by hand stay.
 */
const revokeEnded = Effect.fnUntraced(function* (
  folder: string
): Effect.fn.Return<void, KeyStoreUnavailable | KeyNotFound, KeyStore> {
  const keys = yield* KeyStore
  const starts = yield* recordedStarts(folder)
  if (starts.length === 0) {
    return
  }
  // Listed before the locks are tried: a start holds its lock before it issues keys.
  const listed = yield* patiently(keys.list(WELCOME))
  const ended = new Set(yield* Effect.filter(starts, (id) => hasEnded(folder, id)))
  const nowMs = yield* Clock.currentTimeMillis
  const own = listed.filter((key) => isActive(key, nowMs) && ended.has(startOf(key.name) ?? ""))
  yield* Effect.forEach(own, ({ id }) => patiently(keys.revoke(id, BY_START)), { discard: true })
  yield* Effect.forEach(ended, (id) => forgetStart(folder, id), { discard: true })
})

/**
 * Issues a key with every scope and one with `md.read` only. Returns null when the account `welcome` already has as
 * many active keys as it may have. Keys of other processes are not revoked to make room.
 */
export const issueStartKeys: Effect.Effect<
  StartKeys | null,
  Effect.Error<typeof dataDir> | KeyStoreUnavailable | KeyNotFound,
  KeyStore | Scope.Scope
> = Effect.gen(function* () {
  const keys = yield* KeyStore
  const folder = `${yield* dataDir}/starts`
  const id = randomBase62(ID_LENGTH, yield* SecretSource)
  yield* revokeEnded(folder)
  const suffix = (yield* recordStart(folder, id)) ? ` (start ${id})` : ""
  const issue = (name: string, scopes: ReadonlyArray<ApiScope>) =>
    patiently(keys.issue({ accountId: WELCOME, name: `${name}${suffix}`, scopes, ipPolicy: null }, BY_START)).pipe(
      Effect.map(({ secret }) => Redacted.value(secret))
    )
  const issued = yield* Effect.all({
    all: issue("every scope", ApiScope.literals),
    market: issue("market reads", ["md.read"])
  }).pipe(Effect.catchTags({ TooManyKeys: () => Effect.succeed(null), PlanNotFound: Effect.die }))
  if (issued === null) {
    yield* Effect.logWarning(
      `No keys are printed: account ${WELCOME} has all the active keys that it may have. Revoke some: ${commandText("keys", `list --account ${WELCOME}`)}`
    )
  }
  return issued
})
