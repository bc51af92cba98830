import { Context, type Effect, type Redacted, type Stream } from "effect"
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
     * key as used.
     */
    authenticate(secret: Redacted.Redacted): Effect.Effect<ApiKey, UnknownKey | DisabledKey | KeyStoreUnavailable>
    /** Keys of the account, newest first, revoked ones included. */
    list(accountId: string): Effect.Effect<ReadonlyArray<ApiKey>, KeyStoreUnavailable>
    /** Changes the given fields. A revoked key is not found. */
    change(
      id: string,
      changes: KeyChanges,
      by: KeyActor
    ): Effect.Effect<ApiKey, KeyNotFound | TooManyKeys | PlanNotFound | KeyStoreUnavailable>
    /**
     * Makes a key with the name, scopes, addresses and plan of an active key, which then expires `overlapMs` from now.
     * During an overlap an account may have one active key more. A key can be rotated once. If it has a lifetime, the
     * new key gets the same one from now.
     */
    rotate(
      id: string,
      overlapMs: number,
      by: KeyActor
    ): Effect.Effect<IssuedKey, KeyNotFound | TooManyKeys | KeyStoreUnavailable>
    /** Final. Revoking a key again changes nothing. */
    revoke(id: string, by: KeyActor): Effect.Effect<ApiKey, KeyNotFound | KeyStoreUnavailable>
    /** Switches a key off until `enable`. A revoked key is not found, by either method. */
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
     * Notes that a key was used from an address. Synchronous. The first use from each of at most 50 addresses within a
     * year becomes an audit entry within seconds.
     */
    readonly usedFrom: (key: ApiKey, address: string) => void
    /** Every plan: `default`, then the others by name. */
    readonly plans: Effect.Effect<ReadonlyArray<Plan>, KeyStoreUnavailable>
    /** Makes or replaces a plan; its keys follow in every process. */
    setPlan(plan: Plan, by: KeyActor): Effect.Effect<Plan, PlanInUse | KeyStoreUnavailable>
    removePlan(name: string, by: KeyActor): Effect.Effect<Plan, PlanNotFound | PlanInUse | KeyStoreUnavailable>
    /** Changes of plans, newest first. Kept for a year. */
    planAudit(limit: number): Effect.Effect<ReadonlyArray<PlanAuditEntry>, KeyStoreUnavailable>
  }
>()("fathom/access/KeyStore") {}
