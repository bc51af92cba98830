import { useEffect, useRef, useState } from "preact/hooks"
import { useSession } from "../data/session.tsx"
import { attempt, type Attempt, hear, NO_ATTEMPT } from "./attempt.ts"
import { isKeyed, isStream, type OperationInfo, type Schemas } from "./document.ts"
import { Outcome } from "./Outcome.tsx"
import { type FormValues, RequestForm } from "./RequestForm.tsx"
import type { FilledRequest } from "./snippets.ts"

const TICKET = "tracker.session"

/**
 * The path of the socket in a ticket's answer, to be opened on the host of this page: the content security policy
 * refuses other hosts. Null for other answers, and when no wallets are tracked.
 */
const socketIn = (operationId: string, { status, text }: Attempt): string | null => {
  if (operationId !== TICKET || status !== 200 || text === "") {
    return null
  }
  const { wsUrl = "" } = JSON.parse(text) as { readonly wsUrl?: string }
  const found = URL.parse(wsUrl)
  return found === null ? null : found.pathname + found.search
}

const costText = (operation: OperationInfo): string => {
  const { "x-budget": budget, "x-cost": cost = 0 } = operation
  if (budget === undefined || budget === null) {
    return "Free of charge."
  }
  return `Sent with your session. Costs ${cost} of its ${budget} budget${isStream(operation) ? " per tick" : ""}.`
}

/**
 * Sends the request of the form with the session of this browser, follows streams, and opens the sockets of tickets.
 */
export const TryIt = ({
  form,
  onChange,
  operation,
  request,
  schemas
}: {
  readonly operation: OperationInfo
  readonly schemas: Schemas
  readonly form: FormValues
  readonly request: FilledRequest
  readonly onChange: (form: FormValues) => void
}) => {
  const { state } = useSession()
  const [result, setResult] = useState<Attempt>(NO_ATTEMPT)
  const stop = useRef(() => {})
  useEffect(() => () => stop.current(), [])
  const run = (event: Event) => {
    event.preventDefault()
    stop.current()
    const control = new AbortController()
    stop.current = () => control.abort()
    void attempt(request, setResult, control.signal)
  }
  const connect = (url: string) => {
    const socket = new WebSocket(url)
    stop.current = () => socket.close()
    setResult((before) => ({ ...before, isRunning: true, text: "", heard: [] }))
    socket.addEventListener("message", ({ data }) => setResult(hear("message", String(data))))
    socket.addEventListener("close", ({ code, reason }) =>
      setResult((before) => ({ ...hear("closed", `${code} ${reason}`)(before), isRunning: false }))
    )
  }
  if (isKeyed(operation) && state !== "in") {
    return (
      <p>
        <a href="/sign-in">Sign in</a> to try it here, or use the code with a key.
      </p>
    )
  }
  const socket = socketIn(operation.operationId, result)
  return (
    <form class="stack" onSubmit={run}>
      <RequestForm operation={operation} schemas={schemas} form={form} onChange={onChange} />
      <div class="row">
        <button type="submit" class="main">
          {isStream(operation) ? "Open the stream" : "Send"}
        </button>
        {result.isRunning && (
          <button type="button" onClick={() => stop.current()}>
            Stop
          </button>
        )}
        {socket !== null && (
          <button type="button" onClick={() => connect(socket)}>
            Connect the socket
          </button>
        )}
        <span class="soft">{costText(operation)}</span>
      </div>
      {operation.method !== "GET" && !isReading(operation) && <p class="soft">This changes data of your account.</p>}
      <Outcome of={result} />
    </form>
  )
}

/** True for a POST that only reads: its scope reads the market. */
const isReading = ({ "x-scopes": scopes = [], tags }: OperationInfo): boolean =>
  scopes.includes("md.read") && !tags.includes("tracker")
