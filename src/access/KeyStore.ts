import { Context, Effect, Layer, type Redacted, type Stream } from "effect"
import type {
  ApiKey,
  ApiScope,
  DisabledKey,
  KeyNotFound,
  KeyStoreUnavailable,
  TooManyKeys,
  UnknownKey
} from "../domain/ApiKey.ts"
import { makeMemoryKeys, type MemoryKeysOptions } from "./memoryKeys.ts"

/** Issued API keys. The secret is shown once, at `issue`, and only its HMAC is kept. */
export class KeyStore extends Context.Service<
  KeyStore,
  {
    /** Makes a key. At most 10 keys of an account are active (neither disabled nor revoked) at a time. */
    issue(request: {
      readonly accountId: string
      readonly name: string
      readonly scopes: ReadonlyArray<ApiScope>
      /** CIDR blocks the key may be used from; null allows any address. */
      readonly ipPolicy: ReadonlyArray<string> | null
    }): Effect.Effect<{ readonly key: ApiKey; readonly secret: Redacted.Redacted }, TooManyKeys | KeyStoreUnavailable>
    /**
     * The key a secret belongs to. A malformed secret or a wrong checksum is refused without a look-up.
     * Marks the key as used.
     */
    authenticate(secret: Redacted.Redacted): Effect.Effect<ApiKey, UnknownKey | DisabledKey | KeyStoreUnavailable>
    /** Keys of the account, newest first, revoked ones included. */
    list(accountId: string): Effect.Effect<ReadonlyArray<ApiKey>, KeyStoreUnavailable>
    /** Final, and the same when repeated. Effective at the next request in every process. */
    revoke(id: string): Effect.Effect<ApiKey, KeyNotFound | KeyStoreUnavailable>
    /** Switches a key off until `enable`. A revoked key is not found, neither here nor there. */
    disable(id: string): Effect.Effect<ApiKey, KeyNotFound | KeyStoreUnavailable>
    enable(id: string): Effect.Effect<ApiKey, KeyNotFound | TooManyKeys | KeyStoreUnavailable>
    /** Ids of keys that were just revoked or disabled, anywhere: open streams of those keys end. An id may come twice. */
    readonly closures: Stream.Stream<string>
  }
>()("fathom/access/KeyStore") {
  /** Keys held in memory, for tests and for a sandbox: `keys` exist from the start, under secrets the caller knows. */
  static readonly layerMemory = (options: MemoryKeysOptions = {}): Layer.Layer<KeyStore> =>
    Layer.effect(KeyStore, Effect.map(makeMemoryKeys(options), KeyStore.of))
}
