/** The session of this browser, for every page. */
import { type ComponentChildren, createContext } from "preact"
import { useCallback, useContext, useEffect, useMemo, useState } from "preact/hooks"
import { RequestFailed, send, setCsrfToken } from "./request.ts"

export interface SignedIn {
  readonly id: string
  readonly name: string
  readonly role: "owner" | "member"
}

/** The answer of `GET /app/session`. */
interface SessionAnswer {
  readonly account: SignedIn | null
  readonly csrfToken: string | null
  /** True when an OpenID provider is configured. */
  readonly oidc: boolean
}

/** The session: not known yet, signed out, or signed in to an account. */
export interface Session {
  readonly state: "unknown" | "out" | "in"
  readonly account: SignedIn | null
  readonly oidc: boolean
  readonly refresh: () => Promise<void>
  /** Opens a session with the token of a sign-in link. Fails with `RequestFailed`. */
  readonly signIn: (token: string) => Promise<void>
  /** Ends this session, or every session of the account. Tries until the service answers. */
  readonly signOut: (everywhere?: boolean) => void
}

const unknownSession: Session = {
  state: "unknown",
  account: null,
  oidc: false,
  refresh: () => Promise.resolve(),
  signIn: () => Promise.resolve(),
  signOut: () => {}
}

const SessionContext = createContext<Session>(unknownSession)

export const useSession = (): Session => useContext(SessionContext)

const PAUSE_MS = 2000
const FIRST_SERVER_ERROR = 500

const pauseAfter = (failure: RequestFailed) =>
  new Promise<void>((resolve) => setTimeout(resolve, failure.retryAfterMs ?? PAUSE_MS))

/** Tries until the service answers: an outage must not sign anybody out. */
const readSession = async (): Promise<SessionAnswer> => {
  try {
    return (await send("GET", "/app/session")) as SessionAnswer
  } catch (cause) {
    if (!(cause instanceof RequestFailed)) {
      throw cause
    }
    await pauseAfter(cause)
    return readSession()
  }
}

/** True when the service may or may not have carried out the request. */
const isOutage = ({ status }: RequestFailed): boolean => status === 0 || status >= FIRST_SERVER_ERROR

/** Tries while the service is away. A refusal means that the session is no longer valid. */
const endSessions = async (path: string): Promise<void> => {
  try {
    await send("DELETE", path)
  } catch (cause) {
    if (!(cause instanceof RequestFailed)) {
      throw cause
    }
    if (isOutage(cause)) {
      await pauseAfter(cause)
      await endSessions(path)
    }
  }
}

export const SessionProvider = ({ children }: { readonly children: ComponentChildren }) => {
  const [answer, setAnswer] = useState<SessionAnswer | null>(null)
  const take = useCallback((next: SessionAnswer) => {
    setCsrfToken(next.csrfToken)
    setAnswer(next)
  }, [])
  const refresh = useCallback(async () => take(await readSession()), [take])
  useEffect(() => void refresh(), [refresh])
  const [leaving, setLeaving] = useState<"/app/session" | "/app/sessions" | null>(null)
  // An effect runs after the pages are gone. Their reads would be refused without the session.
  useEffect(() => {
    const leave = async (path: string) => {
      await endSessions(path)
      await refresh()
      setLeaving(null)
    }
    if (leaving !== null) {
      void leave(leaving)
    }
  }, [leaving, refresh])
  const session = useMemo<Session>(
    () => ({
      state: answer === null || leaving !== null ? "unknown" : answer.account === null ? "out" : "in",
      account: answer?.account ?? null,
      oidc: answer?.oidc ?? false,
      refresh,
      signIn: async (token) => take((await send("POST", "/app/session", { body: { token } })) as SessionAnswer),
      signOut: (everywhere = false) => setLeaving(everywhere ? "/app/sessions" : "/app/session")
    }),
    [answer, leaving, refresh, take]
  )
  return <SessionContext.Provider value={session}>{children}</SessionContext.Provider>
}
