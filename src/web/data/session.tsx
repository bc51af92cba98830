/** The session of this browser, for every page. */
import { type ComponentChildren, createContext } from "preact"
import { useCallback, useContext, useEffect, useMemo, useState } from "preact/hooks"
import { RequestFailed, send, setCsrfToken } from "./request.ts"

/** The account that is signed in. */
export interface SignedIn {
  readonly id: string
  readonly name: string
  readonly role: "owner" | "member"
}

/** The answer of `GET /app/session`. */
interface SessionAnswer {
  readonly account: SignedIn | null
  readonly csrfToken: string | null
  /** True where an OpenID provider is configured. */
  readonly oidc: boolean
}

/** The session: still unknown, signed out, or an account. */
export interface Session {
  readonly state: "unknown" | "out" | "in"
  readonly account: SignedIn | null
  readonly oidc: boolean
  readonly refresh: () => Promise<void>
  /** Opens a session with the token of a sign-in link. Fails with `RequestFailed`. */
  readonly signIn: (token: string) => Promise<void>
  /** Ends this session, or every session of the account. */
  readonly signOut: (everywhere?: boolean) => Promise<void>
}

const unknownSession: Session = {
  state: "unknown",
  account: null,
  oidc: false,
  refresh: () => Promise.resolve(),
  signIn: () => Promise.resolve(),
  signOut: () => Promise.resolve()
}

const SessionContext = createContext<Session>(unknownSession)

/** The session of this browser. */
export const useSession = (): Session => useContext(SessionContext)

const PAUSE_MS = 2000

/** Repeats until the service answers: an outage is no sign-out. */
const readSession = async (): Promise<SessionAnswer> => {
  try {
    return (await send("GET", "/app/session")) as SessionAnswer
  } catch (cause) {
    if (!(cause instanceof RequestFailed)) {
      throw cause
    }
    await new Promise((resolve) => setTimeout(resolve, cause.retryAfterMs ?? PAUSE_MS))
    return readSession()
  }
}

/** Provides the session to the pages inside. */
export const SessionProvider = ({ children }: { readonly children: ComponentChildren }) => {
  const [answer, setAnswer] = useState<SessionAnswer | null>(null)
  const take = useCallback((next: SessionAnswer) => {
    setCsrfToken(next.csrfToken)
    setAnswer(next)
  }, [])
  const refresh = useCallback(async () => take(await readSession()), [take])
  useEffect(() => void refresh(), [refresh])
  const session = useMemo<Session>(
    () => ({
      state: answer === null ? "unknown" : answer.account === null ? "out" : "in",
      account: answer?.account ?? null,
      oidc: answer?.oidc ?? false,
      refresh,
      signIn: async (token) => take((await send("POST", "/app/session", { body: { token } })) as SessionAnswer),
      signOut: async (everywhere = false) => {
        await send("DELETE", everywhere ? "/app/sessions" : "/app/session")
        await refresh()
      }
    }),
    [answer, refresh, take]
  )
  return <SessionContext.Provider value={session}>{children}</SessionContext.Provider>
}
