import { Context, type Effect, type Redacted, type Stream } from "effect"
import type { AccountStoreUnavailable, SessionEnded } from "../domain/Account.ts"
import type { ApiKey } from "../domain/ApiKey.ts"
import { hashOf } from "./secrets.ts"

/** The end of one session, or with null of all sessions of the account. */
export interface SessionClosure {
  readonly accountId: string
  /** The reference of the session. */
  readonly session: string | null
}

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
    /** True while the session of this reference can be used. Does not mark it as used. */
    isOpen(session: string): Effect.Effect<boolean, AccountStoreUnavailable>
    /**
     * Sessions that were just ended, anywhere, by a sign-out or because their account was disabled: what they hold open ends.
     * One may come twice. A session that ends by age is not among them.
     */
    readonly closures: Stream.Stream<SessionClosure>
  }
>()("fathom/accounts/SessionStore") {}

const PREFIX = "session:"

/** The id of the credential that all sessions of an account share. */
export const sessionId = (accountId: string): string => `${PREFIX}${accountId}`

/** The reference of a session, by which its streams and connections know it. It does not reveal the secret. */
export const sessionReference = hashOf

/** True if the closure ends this session of the account. A key has null for its session and is never ended by one. */
export const endsSession = (closure: SessionClosure, accountId: string, session: string | null): boolean =>
  session !== null && closure.accountId === accountId && (closure.session === null || closure.session === session)

/** True for the credential of a session, false for a key. */
export const isSession = ({ id }: Pick<ApiKey, "id">): boolean => id.startsWith(PREFIX)
