import { type Clock, Context, type Effect, type Redacted, type Stream } from "effect"
import type {
  ApiKey,
  DisabledKey,
  KeyNotFound,
  KeyStoreUnavailable,
  TooManyKeys,
  UnknownKey
} from "../api/schemas/ApiKey.ts"
import type { AuditPage, KeyActor, PlanAuditEntry } from "../api/schemas/KeyAudit.ts"
import type { Plan, PlanInUse, PlanNotFound } from "../api/schemas/Plan.ts"
import type { IssuedKey, KeyChanges, KeyRequest } from "./keyRules.ts"

/**
 * Issued API keys, their plans, and the audit of their changes. The secret is shown once, at `issue` and `rotate`, and only its
 * HMAC is kept. A change and its audit entry are one transaction, effective at the next request in every process.
 */
export class KeyStore extends Context.Service<
  KeyStore,
  {
    /** Makes a key. At most 10 keys of an account are active (neither disabled, revoked nor expired) at a time. */
    issue(request: KeyRequest, by: KeyActor): Effect.Effect<IssuedKey, TooManyKeys | PlanNotFound | KeyStoreUnavailable>
    /**
     * The key that a secret belongs to. A malformed secret or a wrong checksum is refused without a look-up. Marks the
     * key as used. With a clock, a key in memory is decided about at once: the effect is an `Exit` then.
     */
    authenticate(
      secret: Redacted.Redacted,
      clock?: Clock.Clock
    ): Effect.Effect<ApiKey, UnknownKey | DisabledKey | KeyStoreUnavailable>
    /** Keys of the account, newest first, revoked ones included. */
    list(accountId: string): Effect.Effect<ReadonlyArray<ApiKey>, KeyStoreUnavailable>
    /** Changes the given fields. A revoked key is not found. */
    change(
      id: string,
      changes: KeyChanges,
      by: KeyActor
    ): Effect.Effect<ApiKey, KeyNotFound | TooManyKeys | PlanNotFound | KeyStoreUnavailable>
    /**
     * Makes a new key with the name, scopes, addresses and plan of an active key. The old key expires `overlapMs` from
     * now. During the overlap the account may have one active key more. A key can be rotated once. If the old key has a
     * lifetime, the new key gets the same lifetime from now.
     */
    rotate(
      id: string,
      overlapMs: number,
      by: KeyActor
    ): Effect.Effect<IssuedKey, KeyNotFound | TooManyKeys | KeyStoreUnavailable>
    /** Revokes a key for good. Revoking it again changes nothing. */
    revoke(id: string, by: KeyActor): Effect.Effect<ApiKey, KeyNotFound | KeyStoreUnavailable>
    /** Switches a key off until `enable`. Neither of the two methods finds a revoked key. */
    disable(id: string, by: KeyActor): Effect.Effect<ApiKey, KeyNotFound | KeyStoreUnavailable>
    enable(id: string, by: KeyActor): Effect.Effect<ApiKey, KeyNotFound | TooManyKeys | KeyStoreUnavailable>
    /**
     * Ids of keys that were just revoked or disabled in any process, and of keys that expired within the last 5
     * seconds. Open streams of those keys end. An id may come twice.
     */
    readonly closures: Stream.Stream<string>
    /** Changes of the account's keys, newest first, below the place `before`. Kept for a year. */
    audit(
      accountId: string,
      page: { readonly limit: number; readonly before: number | null }
    ): Effect.Effect<AuditPage, KeyStoreUnavailable>
    /**
     * Records that a key was used from an address. Synchronous. For each of at most 50 addresses, the first use within
     * a year becomes an audit entry within seconds.
     */
    readonly usedFrom: (key: ApiKey, address: string) => void
    /** Every plan: `default`, then the others by name. */
    readonly plans: Effect.Effect<ReadonlyArray<Plan>, KeyStoreUnavailable>
    /** Makes or replaces a plan. Every process applies it to the keys with this plan. */
    setPlan(plan: Plan, by: KeyActor): Effect.Effect<Plan, PlanInUse | KeyStoreUnavailable>
    removePlan(name: string, by: KeyActor): Effect.Effect<Plan, PlanNotFound | PlanInUse | KeyStoreUnavailable>
    /** Changes of plans, newest first. Kept for a year. */
    planAudit(limit: number): Effect.Effect<ReadonlyArray<PlanAuditEntry>, KeyStoreUnavailable>
  }
>()("fathom/access/KeyStore") {}
