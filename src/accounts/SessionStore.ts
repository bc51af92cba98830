import { Context, type Effect, type Redacted } from "effect"
import type { AccountStoreUnavailable, SessionEnded } from "../domain/Account.ts"
import type { ApiKey } from "../domain/ApiKey.ts"

/** Sessions of browsers. The secret is returned once, at `open`, and only its hash is kept. */
export class SessionStore extends Context.Service<
  SessionStore,
  {
    /** Seconds after which a session ends however much it is used. */
    readonly lifetimeSeconds: number
    /** Opens a session with a new secret. */
    open(accountId: string): Effect.Effect<Redacted.Redacted, AccountStoreUnavailable>
    /**
     * The session as a credential with every scope. All sessions of an account share an id, and so one budget. Marks the
     * session as used.
     */
    authenticate(secret: Redacted.Redacted): Effect.Effect<ApiKey, SessionEnded | AccountStoreUnavailable>
    /** Ends a session; nothing happens when it has ended. Effective at the next request in every process. */
    end(secret: Redacted.Redacted): Effect.Effect<void, AccountStoreUnavailable>
    /** Ends every session of an account. */
    endAll(accountId: string): Effect.Effect<void, AccountStoreUnavailable>
  }
>()("fathom/accounts/SessionStore") {}

const PREFIX = "session:"

/** The id of the credential that all sessions of an account share. */
export const sessionId = (accountId: string): string => `${PREFIX}${accountId}`

/** True for the credential of a session, false for a key. */
export const isSession = ({ id }: Pick<ApiKey, "id">): boolean => id.startsWith(PREFIX)
