/** Rules of keys that every key store applies. */
import { Result } from "effect"
import { type ApiKey, DisabledKey, KeyNotFound, UnknownKey } from "../domain/ApiKey.ts"

const LAST_USED_RESOLUTION_MS = 1000

/** The key when it may be used. A revoked key looks like one that was never issued, also when it was disabled before. */
export const admitted = (key: ApiKey | null): Result.Result<ApiKey, UnknownKey | DisabledKey> => {
  if (key === null || key.revokedAtMs !== null) {
    return Result.fail(new UnknownKey())
  }
  return key.disabledAtMs === null ? Result.succeed(key) : Result.fail(new DisabledKey({ id: key.id }))
}

/** The key marked as used, to the second: the same object while the second lasts. */
export const used = (key: ApiKey, nowMs: number): ApiKey => {
  const elapsed = nowMs - (key.lastUsedAtMs ?? Number.NEGATIVE_INFINITY)
  return elapsed >= 0 && elapsed < LAST_USED_RESOLUTION_MS ? key : { ...key, lastUsedAtMs: nowMs }
}

/** The key revoked; the first time counts. */
export const revoked = (key: ApiKey, nowMs: number): ApiKey => ({ ...key, revokedAtMs: key.revokedAtMs ?? nowMs })

/** The key switched off; the first time counts. A revoked key cannot change any more. */
export const disabled = (key: ApiKey, nowMs: number): Result.Result<ApiKey, KeyNotFound> =>
  key.revokedAtMs === null
    ? Result.succeed({ ...key, disabledAtMs: key.disabledAtMs ?? nowMs })
    : Result.fail(new KeyNotFound({ id: key.id }))

/** The key switched on. A revoked key stays revoked. */
export const enabled = (key: ApiKey): Result.Result<ApiKey, KeyNotFound> =>
  key.revokedAtMs === null
    ? Result.succeed({ ...key, disabledAtMs: null })
    : Result.fail(new KeyNotFound({ id: key.id }))
