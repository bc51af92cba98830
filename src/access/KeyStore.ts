import { Context, Effect, Layer, type Redacted, type Stream } from "effect"
import type {
  ApiKey,
  DisabledKey,
  KeyNotFound,
  KeyStoreUnavailable,
  TooManyKeys,
  UnknownKey
} from "../domain/ApiKey.ts"
import type { AuditPage, KeyActor, PlanAuditEntry } from "../domain/keys/KeyAudit.ts"
import type { Plan, PlanInUse, PlanNotFound } from "../domain/keys/Plan.ts"
import type { IssuedKey, KeyChanges, KeyRequest } from "./keyRules.ts"
import { makeMemoryKeys, type MemoryKeysOptions } from "./memoryKeys.ts"

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
     * The key a secret belongs to. A malformed secret or a wrong checksum is refused without a look-up.
     * Marks the key as used.
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
     * Makes a key with the name, scopes, addresses and plan of an active one, which expires `overlapMs` from now. During overlaps an
     * account may have one active key more. A key is rotated once; its lifetime, where it has one, begins anew.
     */
    rotate(
      id: string,
      overlapMs: number,
      by: KeyActor
    ): Effect.Effect<IssuedKey, KeyNotFound | TooManyKeys | KeyStoreUnavailable>
    /** Final, and the same when repeated. */
    revoke(id: string, by: KeyActor): Effect.Effect<ApiKey, KeyNotFound | KeyStoreUnavailable>
    /** Switches a key off until `enable`. A revoked key is not found, neither here nor there. */
    disable(id: string, by: KeyActor): Effect.Effect<ApiKey, KeyNotFound | KeyStoreUnavailable>
    enable(id: string, by: KeyActor): Effect.Effect<ApiKey, KeyNotFound | TooManyKeys | KeyStoreUnavailable>
    /**
     * Ids of keys that were just revoked or disabled, anywhere, and within 5 seconds of those that expired: open streams of those
     * keys end. An id may come twice.
     */
    readonly closures: Stream.Stream<string>
    /** Changes of the account's keys, newest first, below the place `before`. Kept for a year. */
    audit(
      accountId: string,
      page: { readonly limit: number; readonly before: number | null }
    ): Effect.Effect<AuditPage, KeyStoreUnavailable>
    /**
     * Notes a use of a key from an address. Synchronous; the first use from each of at most 50 addresses within a year becomes an
     * entry of the audit within seconds.
     */
    readonly usedFrom: (key: ApiKey, address: string) => void
    /** Every plan: `default`, then the others by name. */
    readonly plans: Effect.Effect<ReadonlyArray<Plan>, KeyStoreUnavailable>
    /** Makes or replaces a plan; its keys follow in every process. */
    setPlan(plan: Plan, by: KeyActor): Effect.Effect<Plan, PlanInUse | KeyStoreUnavailable>
    removePlan(name: string, by: KeyActor): Effect.Effect<Plan, PlanNotFound | PlanInUse | KeyStoreUnavailable>
    /** Changes of plans, the newest first. Kept for a year. */
    planAudit(limit: number): Effect.Effect<ReadonlyArray<PlanAuditEntry>, KeyStoreUnavailable>
  }
>()("fathom/access/KeyStore") {
  /** Keys held in memory, for tests and for a sandbox: `keys` exist from the start, under secrets the caller knows. */
  static readonly layerMemory = (options: MemoryKeysOptions = {}): Layer.Layer<KeyStore> =>
    Layer.effect(KeyStore, Effect.map(makeMemoryKeys(options), KeyStore.of))
}
