/** Who may do what: every operation without a key and with keys of other scopes, and changes from other sites. */
import { type Operation, operations } from "./operations.ts"
import { ask, many, none, type Reply, type Target, verdict, type Verdict } from "./target.ts"

const SOL = "So11111111111111111111111111111111111111112"

const urlOf = ({ path }: Operation): string => path.replaceAll(/\{\w+\}/gu, SOL)

const json = { "content-type": "application/json" }

/** A request that only admission has to refuse: its query and body are not read before. */
const bare = (target: Target, operation: Operation, more: { key?: string; headers?: Record<string, string> }) =>
  ask(target, urlOf(operation), {
    method: operation.method,
    ...(more.key !== undefined && { key: more.key }),
    ...(operation.hasBody && { body: "{}" }),
    headers: { ...(operation.hasBody && json), ...more.headers }
  })

const codeOf = ({ text }: Reply): string => /"code":"(\w+)"/u.exec(text)?.[1] ?? ""

/** Opens the link from several browsers at once. Returns the sessions that were opened. */
const openAtOnce = async (target: Target) => {
  const token = target.link.split("#")[1]
  const headers = { ...json, origin: target.baseUrl, "sec-fetch-site": "same-origin" }
  const replies = await many(10, 10, () =>
    ask(target, "/app/session", { method: "POST", headers, body: JSON.stringify({ token }) })
  )
  return replies.flatMap((reply) => {
    const cookie = reply.headers.get("set-cookie")?.split(";")[0]
    const csrf = /"csrfToken":"([^"]+)"/u.exec(reply.text)?.[1]
    return reply.status === 200 && cookie !== undefined && csrf !== undefined ? [{ cookie, csrf }] : []
  })
}

/** Headers with which another site, or a page without the token, would send a change. */
const forgeries = (cookie: string, csrf: string, own: string): ReadonlyArray<Record<string, string>> => [
  { cookie },
  { cookie, origin: own },
  { cookie, "x-csrf-token": csrf },
  { cookie, origin: "https://evil.example", "x-csrf-token": csrf },
  { cookie, origin: "null", "x-csrf-token": csrf },
  { cookie, origin: own, "x-csrf-token": "a".repeat(csrf.length) },
  { cookie, origin: own, "sec-fetch-site": "cross-site", "x-csrf-token": csrf }
]

const shown = (operation: Operation, reply: Reply) => ({
  operation: operation.id,
  status: reply.status,
  code: codeOf(reply)
})

/** Asks for everything that must be refused. */
export const access = async (target: Target): Promise<ReadonlyArray<Verdict>> => {
  const all = operations()
  const closed = all.filter(({ isOpen }) => !isOpen)
  const anonymous = await many(closed.length, 8, async (index) => {
    const operation = closed[index]
    return operation === undefined ? [] : [shown(operation, await bare(target, operation, {}))]
  })
  const scoped = all.filter(({ scopes, takesKey }) => takesKey && scopes.length > 0)
  const unscoped = await many(scoped.length, 8, async (index) => {
    const operation = scoped[index]
    if (operation === undefined) {
      return []
    }
    const key = operation.scopes.includes("perps.read") ? target.keys.others : target.keys.perps
    return [shown(operation, await bare(target, operation, { key }))]
  })
  const sessions = await openAtOnce(target)
  const [session = { cookie: "", csrf: "" }] = sessions
  const changes = all.filter(({ method, path }) => method !== "GET" && path !== "/app/session")
  const forged = forgeries(session.cookie, session.csrf, target.baseUrl)
  const cross = await many(changes.length * forged.length, 8, async (index) => {
    const operation = changes[index % changes.length]
    const headers = forged[Math.floor(index / changes.length)] ?? {}
    return operation === undefined ? [] : [shown(operation, await bare(target, operation, { headers }))]
  })
  return [
    none(
      "no operation with a key answers without one",
      anonymous.flat().filter(({ status }) => status !== 401 && status !== 403),
      closed.length
    ),
    none(
      "every scope is demanded",
      unscoped.flat().filter(({ code, status }) => status !== 403 || code !== "missing_scope"),
      scoped.length
    ),
    verdict("a sign-in link opens one session, however many use it at once", sessions.length === 1, sessions.length),
    none(
      "no forged change is accepted",
      cross.flat().filter(({ status }) => status !== 401 && status !== 403),
      cross.length
    )
  ]
}
