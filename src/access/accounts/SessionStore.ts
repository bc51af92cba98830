import { Context, type Effect, type Redacted, type Stream } from "effect"
import type { AccountStoreUnavailable, SessionEnded } from "../../api/schemas/Account.ts"
import type { ApiKey } from "../../api/schemas/ApiKey.ts"
import { hashOf } from "./secrets.ts"

/** The end of one session, or of all sessions of the account when `session` is null. */
export interface SessionClosure {
  readonly accountId: string
  /** The reference of the session; null for all sessions of the account. */
  readonly session: string | null
}

/** Sessions of browsers. The secret is returned once, at `open`, and only its hash is kept. */
export class SessionStore extends Context.Service<
  SessionStore,
  {
    /** Seconds after which a session ends, even if it is used. */
    readonly lifetimeSeconds: number
    /** Opens a session with a new secret. */
    open(accountId: string): Effect.Effect<Redacted.Redacted, AccountStoreUnavailable>
    /**
     * Returns the session as a credential with every scope. All sessions of an account share one id, and so one budget.
     * Marks the session as used.
     */
    authenticate(secret: Redacted.Redacted): Effect.Effect<ApiKey, SessionEnded | AccountStoreUnavailable>
    /** Ends a session. Nothing happens when it has ended already. Effective at the next request in every process. */
    end(secret: Redacted.Redacted): Effect.Effect<void, AccountStoreUnavailable>
    /** Ends every session of an account. */
    endAll(accountId: string): Effect.Effect<void, AccountStoreUnavailable>
    /** True while the session of this reference can be used. Does not mark it as used. */
    isOpen(session: string): Effect.Effect<boolean, AccountStoreUnavailable>
    /**
     * Sessions that were just ended in any process by a sign-out or a disabled account. Their streams and connections
     * end. The same closure may come twice. Sessions that end by age are not among them.
     */
    readonly closures: Stream.Stream<SessionClosure>
  }
>()("fathom/access/accounts/SessionStore") {}

const PREFIX = "session:"

/** The id of the credential that all sessions of an account share. */
export const sessionId = (accountId: string): string => `${PREFIX}${accountId}`

/** Reference of a session, by which its streams and connections know it. It does not reveal the secret. */
export const sessionReference = hashOf

/** True if the closure ends this session of the account. For a key `session` is null, and no closure ends it. */
export const endsSession = (closure: SessionClosure, accountId: string, session: string | null): boolean =>
  session !== null && closure.accountId === accountId && (closure.session === null || closure.session === session)

/** True for the credential of a session, false for a key. */
export const isSession = ({ id }: Pick<ApiKey, "id">): boolean => id.startsWith(PREFIX)
