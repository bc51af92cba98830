/** Keys in memory. */
import { Clock, Effect, Layer, PubSub, Redacted, Result, Stream } from "effect"
import { ApiKey, isActive, isExpired, KeyNotFound, MAX_ACTIVE_KEYS, TooManyKeys } from "../../src/api/schemas/ApiKey.ts"
import {
  type AuditPage,
  type KeyAction,
  type KeyActor,
  type KeyAuditEntry,
  PlanAuditEntry
} from "../../src/api/schemas/KeyAudit.ts"
import { DEFAULT_PLAN, type Plan, PlanInUse, PlanNotFound } from "../../src/api/schemas/Plan.ts"
import { withClock } from "../../src/domain/loopTime.ts"
import { SecretSource } from "../../src/domain/randomText.ts"
import { KeyStore } from "../../src/access/KeyStore.ts"
import { AddressLog } from "../../src/access/AddressLog.ts"
import * as Format from "../../src/access/keyFormat.ts"
import * as Rules from "../../src/access/keyRules.ts"

/** A key that exists from the start. Fields left out are those of a new key of account `local`. */
export interface KnownKey extends Partial<Omit<ApiKey, "prefix" | "lastFour">> {
  readonly secret: Redacted.Redacted
}

/** Initial keys of a store in memory, and the environment of the secrets that it issues. */
interface MemoryKeysOptions {
  readonly keys?: ReadonlyArray<KnownKey> | undefined
  readonly environment?: Format.KeyEnvironment | undefined
}

const FRESH = {
  accountId: "local",
  name: "key",
  ipPolicy: null,
  plan: DEFAULT_PLAN,
  lastUsedAtMs: null,
  expiresAtMs: null,
  replacedBy: null,
  disabledAtMs: null,
  revokedAtMs: null
}

/** Runs a change of a plan other than `default`. */
const changePlan = <E>(name: string, apply: (nowMs: number) => Result.Result<Plan, E>) =>
  Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
    Effect.fromResult(Result.flatMap(Rules.changeable(name), () => apply(nowMs)))
  )

/** Each method reads the clock first and then acts in one synchronous step. */
const make = Effect.fnUntraced(function* ({ environment = "live", keys = [] }: MemoryKeysOptions) {
  const random = yield* SecretSource
  const pepper = Format.makePepper(random)
  const closed = yield* PubSub.unbounded<string>()
  // In order of issue.
  const byId = new Map<string, ApiKey>()
  const idsByAccount = new Map<string, Array<string>>()
  const idByHash = new Map<string, string>()
  // A busy key is hashed once, as in the store with a database.
  const idBySecret = new Map<string, string>()

  const add = ({ secret, ...known }: KnownKey, createdAtMs: number): ApiKey => {
    const given = { ...FRESH, id: Format.makeId(random), scopes: ["md.read"] as const, createdAtMs, ...known }
    const key = ApiKey.make({ ...given, ...Format.visibleParts(secret) })
    byId.set(key.id, key)
    idsByAccount.set(key.accountId, [...(idsByAccount.get(key.accountId) ?? []), key.id])
    idByHash.set(Format.hashSecret(pepper, secret), key.id)
    return key
  }
  const startMs = yield* Clock.currentTimeMillis
  for (const key of keys) {
    add(key, startMs)
  }

  const plans = new Map([DEFAULT_PLAN, ...keys.flatMap(({ plan }) => plan ?? [])].map((plan) => [plan.name, plan]))
  const entries: Array<KeyAuditEntry & { readonly accountId: string }> = []
  const scope = yield* Effect.scope

  /** Present state: the plan as it is now. */
  const current = (key: ApiKey): ApiKey => {
    const plan = plans.get(key.plan.name) ?? DEFAULT_PLAN
    return plan === key.plan ? key : { ...key, plan }
  }
  const planOf = (name: string): Result.Result<Plan, PlanNotFound> => {
    const plan = plans.get(name)
    return plan === undefined ? Result.fail(new PlanNotFound({ name })) : Result.succeed(plan)
  }
  const ofAccount = (accountId: string) => (idsByAccount.get(accountId) ?? []).flatMap((id) => byId.get(id) ?? [])
  const claimPlace = (accountId: string, most: number, nowMs: number): Result.Result<void, TooManyKeys> =>
    ofAccount(accountId).filter((key) => isActive(key, nowMs)).length >= most
      ? Result.fail(new TooManyKeys({ limit: most }))
      : Result.succeed(undefined)

  const note = (
    { accountId, id: keyId }: ApiKey,
    action: KeyAction,
    by: KeyActor,
    atMs: number,
    detail: string | null
  ) => entries.push({ accountId, atMs, actor: by.kind, action, keyId, address: by.address, detail })

  /** Publishes a key at its expiry. */
  const watchExpiry = ({ expiresAtMs, id }: ApiKey, nowMs: number) =>
    expiresAtMs === null || expiresAtMs <= nowMs
      ? Effect.void
      : Effect.sleep(expiresAtMs - nowMs).pipe(
          Effect.andThen(Clock.currentTimeMillis),
          Effect.map((atMs) => {
            const key = byId.get(id)
            if (key !== undefined && isExpired(key, atMs)) {
              PubSub.publishUnsafe(closed, id)
            }
          }),
          Effect.forkIn(scope),
          Effect.asVoid
        )

  /** Replaces a key. One that becomes active needs a place. */
  const put = Effect.fnUntraced(function* (before: ApiKey, after: ApiKey, nowMs: number) {
    if (isActive(after, nowMs) && !isActive(before, nowMs)) {
      yield* Effect.fromResult(claimPlace(after.accountId, MAX_ACTIVE_KEYS, nowMs))
    }
    byId.set(after.id, after)
    if (!isActive(after, nowMs)) {
      PubSub.publishUnsafe(closed, after.id)
    }
    yield* watchExpiry(after, nowMs)
    return current(after)
  })

  const create = Effect.fnUntraced(function* (
    known: Omit<KnownKey, "secret">,
    { by, detail, nowMs }: { readonly by: KeyActor; readonly detail: string | null; readonly nowMs: number }
  ) {
    const secret = Format.makeSecret(environment, random)
    const key = add({ ...known, secret }, nowMs)
    note(key, "create", by, nowMs, detail)
    yield* watchExpiry(key, nowMs)
    return { key, secret }
  })

  const issue = Effect.fn("KeyStore.issue")(function* (request: Rules.KeyRequest, by: KeyActor) {
    const nowMs = yield* Clock.currentTimeMillis
    const { expiresAtMs = null, plan: name = DEFAULT_PLAN.name, ...rest } = request
    yield* Effect.fromResult(claimPlace(request.accountId, MAX_ACTIVE_KEYS, nowMs))
    const plan = yield* Effect.fromResult(planOf(name))
    return yield* create({ ...rest, plan, expiresAtMs }, { by, nowMs, detail: null })
  })

  // Plain functions, because every request passes here.
  const authenticate = (secret: Redacted.Redacted, clock?: Clock.Clock) =>
    withClock(clock, (clock) => {
      const nowMs = clock.currentTimeMillisUnsafe()
      const text = Redacted.value(secret)
      const kept = idBySecret.get(text)
      const id = kept ?? (Format.isWellFormed(secret) ? idByHash.get(Format.hashSecret(pepper, secret)) : undefined)
      if (kept === undefined && id !== undefined) {
        idBySecret.set(text, id)
      }
      const admitted = Rules.admitted(id === undefined ? null : (byId.get(id) ?? null), nowMs)
      if (Result.isFailure(admitted)) {
        return Effect.fail(admitted.failure)
      }
      const key = Rules.used(admitted.success, nowMs)
      if (key !== admitted.success) {
        byId.set(key.id, key)
      }
      return Effect.succeed(current(key))
    })

  const hold = (id: string, by: KeyActor): Result.Result<ApiKey, KeyNotFound> => {
    const key = byId.get(id)
    return key === undefined ? Result.fail(new KeyNotFound({ id })) : Rules.reachable(key, by)
  }

  const decide = (action: KeyAction, rule: (key: ApiKey, nowMs: number) => Result.Result<ApiKey, KeyNotFound>) =>
    Effect.fnUntraced(function* (id: string, by: KeyActor) {
      const nowMs = yield* Clock.currentTimeMillis
      const before = yield* Effect.fromResult(hold(id, by))
      const after = yield* Effect.fromResult(rule(before, nowMs))
      const key = yield* put(before, after, nowMs)
      if (before.disabledAtMs !== after.disabledAtMs || before.revokedAtMs !== after.revokedAtMs) {
        note(key, action, by, nowMs, null)
      }
      return key
    })

  // A key that becomes inactive needs no place.
  const closing =
    (...[action, rule]: Parameters<typeof decide>) =>
    (id: string, by: KeyActor) =>
      Effect.catchTag(decide(action, rule)(id, by), "TooManyKeys", Effect.die)

  const change = Effect.fn("KeyStore.change")(function* (id: string, changes: Rules.KeyChanges, by: KeyActor) {
    const nowMs = yield* Clock.currentTimeMillis
    const before = yield* Effect.fromResult(hold(id, by))
    const plan = changes.plan === undefined ? null : yield* Effect.fromResult(planOf(changes.plan))
    const key = yield* put(before, yield* Effect.fromResult(Rules.edited(before, changes, plan)), nowMs)
    note(key, "change", by, nowMs, Rules.changedFields(changes))
    return key
  })

  const rotate = Effect.fn("KeyStore.rotate")(function* (id: string, overlapMs: number, by: KeyActor) {
    const nowMs = yield* Clock.currentTimeMillis
    const before = yield* Effect.fromResult(hold(id, by))
    const newId = Format.makeId(random)
    const after = yield* Effect.fromResult(Rules.rotated(before, { newId, overlapMs, nowMs }))
    const most = isActive(after, nowMs) ? MAX_ACTIVE_KEYS + 1 : MAX_ACTIVE_KEYS + 2
    yield* Effect.fromResult(claimPlace(before.accountId, most, nowMs))
    note(yield* put(before, after, nowMs), "rotate", by, nowMs, newId)
    const { accountId, ipPolicy, name, plan, scopes } = before
    const expiresAtMs = Rules.renewedExpiry(before, nowMs)
    const known = { id: newId, accountId, name, scopes, ipPolicy, plan, expiresAtMs }
    return yield* create(known, { by, nowMs, detail: `in place of ${id}` })
  })

  const audit = (accountId: string, { before, limit }: { readonly limit: number; readonly before: number | null }) =>
    Effect.sync((): AuditPage => {
      const own = entries
        .map(({ accountId: owner, ...entry }, at) => ({ owner, entry, at }))
        .filter(({ at, owner }) => owner === accountId && (before === null || at < before))
        .toReversed()
      const rows = own.slice(0, limit)
      return { rows: rows.map(({ entry }) => entry), next: own.length > limit ? (rows.at(-1)?.at ?? null) : null }
    })

  const clock = yield* Clock.Clock
  const addresses = new AddressLog()
  const usedFrom = (key: ApiKey, address: string) => {
    addresses.note(key.id, address, clock.currentTimeMillisUnsafe())
    const batch = addresses.batch()
    for (const { atMs } of batch) {
      note(key, "use", { kind: "key", accountId: key.accountId, address }, atMs, null)
    }
    addresses.written(batch)
  }

  const planEntries: Array<PlanAuditEntry> = []
  const notePlan = (entry: PlanAuditEntry) => planEntries.unshift(PlanAuditEntry.make(entry))
  const setPlan = (plan: Plan, by: KeyActor) =>
    changePlan(plan.name, (atMs) => {
      const before = plans.get(plan.name) ?? null
      const detail = Rules.planDetail(before, plan)
      plans.set(plan.name, plan)
      if (detail !== "") {
        const action = before === null ? "create" : "change"
        notePlan({ atMs, actor: by.kind, action, plan: plan.name, detail })
      }
      return Result.succeed(plan)
    })
  const removePlan = (name: string, by: KeyActor) =>
    changePlan(name, (atMs): Result.Result<Plan, PlanNotFound | PlanInUse> => {
      const plan = planOf(name)
      if (Array.from(byId.values()).some((key) => key.plan.name === name && key.revokedAtMs === null)) {
        return Result.fail(new PlanInUse({ name }))
      }
      if (Result.isSuccess(plan)) {
        plans.delete(name)
        const detail = Rules.planDetail(null, plan.success)
        notePlan({ atMs, actor: by.kind, action: "remove", plan: name, detail })
      }
      return plan
    })

  return KeyStore.of({
    issue,
    authenticate,
    list: (accountId: string) => Effect.sync(() => ofAccount(accountId).map(current).toReversed()),
    change,
    rotate,
    revoke: closing("revoke", Rules.revoked),
    disable: closing("disable", Rules.disabled),
    enable: decide("enable", Rules.enabled),
    closures: Stream.fromPubSub(closed),
    audit,
    plans: Effect.sync(() => {
      const { default: byDefault = DEFAULT_PLAN, ...others } = Object.fromEntries(plans)
      return [byDefault, ...Object.values(others).toSorted((a, b) => (a.name < b.name ? -1 : 1))]
    }),
    usedFrom,
    setPlan,
    removePlan,
    planAudit: (limit: number) => Effect.sync(() => planEntries.slice(0, limit))
  })
})

/** A key store in which `keys` exist from the start, under secrets that the caller knows. */
export const layer = (options: MemoryKeysOptions = {}): Layer.Layer<KeyStore> => Layer.effect(KeyStore, make(options))
