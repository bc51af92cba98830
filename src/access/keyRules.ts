/** Rules that every key store applies. */
import { type Redacted, Result } from "effect"
import {
  type ApiKey,
  type ApiScope,
  DisabledKey,
  isActive,
  isExpired,
  KeyNotFound,
  UnknownKey
} from "../api/schemas/ApiKey.ts"
import type { KeyActor } from "../api/schemas/KeyAudit.ts"
import { DEFAULT_PLAN, type Plan, PlanInUse } from "../api/schemas/Plan.ts"

/** A key to be made. */
export interface KeyRequest {
  readonly accountId: string
  readonly name: string
  readonly scopes: ReadonlyArray<ApiScope>
  /** CIDR blocks the key may be used from; null allows any address. */
  readonly ipPolicy: ReadonlyArray<string> | null
  /** Name of the plan; `default` unless given. */
  readonly plan?: string | undefined
  /** Time at which the key expires. Null, or left out, means never. */
  readonly expiresAtMs?: number | null | undefined
}

/** A new key. Its secret is not kept. */
export interface IssuedKey {
  readonly key: ApiKey
  readonly secret: Redacted.Redacted
}

const LAST_USED_RESOLUTION_MS = 1000

/**
 * The key when it may be used. A revoked or expired key looks like one that was never issued, even if it was disabled
 * before.
 */
export const admitted = (key: ApiKey | null, nowMs: number): Result.Result<ApiKey, UnknownKey | DisabledKey> => {
  if (key === null || key.revokedAtMs !== null || isExpired(key, nowMs)) {
    return Result.fail(new UnknownKey())
  }
  return key.disabledAtMs === null ? Result.succeed(key) : Result.fail(new DisabledKey({ id: key.id }))
}

/** Marks the key as used, to the second. Returns the same object within one second. */
export const used = (key: ApiKey, nowMs: number): ApiKey => {
  const elapsed = nowMs - (key.lastUsedAtMs ?? Number.NEGATIVE_INFINITY)
  return elapsed >= 0 && elapsed < LAST_USED_RESOLUTION_MS ? key : { ...key, lastUsedAtMs: nowMs }
}

/** Revokes the key. Only the first time counts. */
export const revoked = (key: ApiKey, nowMs: number): Result.Result<ApiKey, KeyNotFound> =>
  Result.succeed({ ...key, revokedAtMs: key.revokedAtMs ?? nowMs })

/** Switches the key off. Only the first time counts. A revoked key cannot be changed. */
export const disabled = (key: ApiKey, nowMs: number): Result.Result<ApiKey, KeyNotFound> =>
  key.revokedAtMs === null
    ? Result.succeed({ ...key, disabledAtMs: key.disabledAtMs ?? nowMs })
    : Result.fail(new KeyNotFound({ id: key.id }))

/** Switches the key on. A revoked key stays revoked. */
export const enabled = (key: ApiKey): Result.Result<ApiKey, KeyNotFound> =>
  key.revokedAtMs === null
    ? Result.succeed({ ...key, disabledAtMs: null })
    : Result.fail(new KeyNotFound({ id: key.id }))

/** Fields of a key that its owner may change. Fields that are left out stay. */
export type KeyChanges = Partial<Pick<ApiKey, "name" | "scopes" | "ipPolicy" | "expiresAtMs">> & {
  /** Name of the plan. */
  readonly plan?: string
}

/** Names of the changed fields, as the audit lists them. */
export const changedFields = (changes: KeyChanges): string => Object.keys(changes).toSorted().join(", ")

/** Refuses keys of other accounts as if they did not exist. */
export const reachable = (key: ApiKey, by: KeyActor): Result.Result<ApiKey, KeyNotFound> =>
  by.accountId === null || by.accountId === key.accountId
    ? Result.succeed(key)
    : Result.fail(new KeyNotFound({ id: key.id }))

/** Applies changes to a key. `plan` is the plan named in `changes`. A revoked key cannot be changed. */
export const edited = (key: ApiKey, changes: KeyChanges, plan: Plan | null): Result.Result<ApiKey, KeyNotFound> =>
  key.revokedAtMs === null
    ? Result.succeed({ ...key, ...changes, plan: plan ?? key.plan })
    : Result.fail(new KeyNotFound({ id: key.id }))

/** A rotation: the id of the new key, and how long the old key stays usable. */
export interface Rotation {
  readonly newId: string
  readonly overlapMs: number
  readonly nowMs: number
}

/**
 * The old key after a rotation. It expires when the overlap ends, or earlier. Only an active key can be rotated, and
 * only once.
 */
export const rotated = (key: ApiKey, { newId, nowMs, overlapMs }: Rotation): Result.Result<ApiKey, KeyNotFound> =>
  isActive(key, nowMs) && key.replacedBy === null
    ? Result.succeed({
        ...key,
        replacedBy: newId,
        expiresAtMs: Math.min(key.expiresAtMs ?? Number.MAX_SAFE_INTEGER, nowMs + overlapMs)
      })
    : Result.fail(new KeyNotFound({ id: key.id }))

/** Expiry of the new key: the old key's lifetime, counted from now. Never, if the old key never expires. */
export const renewedExpiry = ({ createdAtMs, expiresAtMs }: ApiKey, nowMs: number): number | null =>
  expiresAtMs === null ? null : nowMs + (expiresAtMs - createdAtMs)

/** Refuses the plan `default`, which the specification sets. */
export const changeable = (name: string): Result.Result<string, PlanInUse> =>
  name === DEFAULT_PLAN.name ? Result.fail(new PlanInUse({ name })) : Result.succeed(name)

/**
 * The limits of a plan that differ from before, as text: `rest 120 to 500, quote 300 to 900`. All limits for a new
 * plan.
 */
export const planDetail = (before: Plan | null, { name: _name, ...limits }: Plan): string =>
  Object.entries(limits)
    .flatMap(([field, value]) => {
      const old: unknown = before === null ? null : Reflect.get(before, field)
      if (old === value) {
        return []
      }
      return [old === null ? `${field} ${value}` : `${field} ${String(old)} to ${value}`]
    })
    .join(", ")
