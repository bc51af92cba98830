/**
 * Reads of the service without schemas: a small part of the size of the whole client. Attempts and errors are those of
 * `createClient`.
 */
import type { CallOptions, ClientOptions } from "./createClient.ts"
import { errorOf } from "./errorOf.ts"
import { clientError, connectionLost, type FathomError } from "./FathomError.ts"
import { isTransient } from "./reconnect.ts"
import { defaultPolicy, delayMs } from "./retryPolicy.ts"

/** A read: its path, its parameters, and how its answer is understood. */
export interface PlainRead<A> extends CallOptions {
  readonly path: string
  readonly query: object
  /** Reads the JSON of an answer. What it throws becomes an `invalid_answer`. */
  readonly decode: (body: unknown) => A
  /** What the answer is, for the message of an error, such as `quote`. */
  readonly what: string
}

/** Waits; an abort ends the wait with the reason of the signal. */
const pause = (ms: number, signal: AbortSignal | undefined) =>
  new Promise<void>((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort)
      resolve()
    }, ms)
    signal?.addEventListener("abort", abort, { once: true })
  })

const searchOf = (query: object): string => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) {
      search.set(name, String(value))
    }
  }
  return search.size === 0 ? "" : `?${search}`
}

/** Makes a function that reads. It throws a `FathomError`. */
export const plainReads = ({ baseUrl, key, retry, fetch: send = fetch }: ClientOptions) => {
  const policy = { ...defaultPolicy, ...retry }
  const base = String(baseUrl).replace(/\/+$/u, "")

  const attempt = async <A>({ decode, path, query, signal, what }: PlainRead<A>): Promise<A | FathomError> => {
    const init = { headers: { authorization: `Bearer ${key}` }, ...(signal !== undefined && { signal }) }
    let response: Response
    let text: string
    try {
      response = await send(`${base}${path}${searchOf(query)}`, init)
      text = await response.text()
    } catch (cause) {
      signal?.throwIfAborted()
      return connectionLost(cause)
    }
    const { headers, ok, status } = response
    if (!ok) {
      const [requestId, retryAfter] = ["x-request-id", "retry-after"].map((name) => headers.get(name) ?? undefined)
      return errorOf({ status, text, requestId, retryAfter }, Date.now())
    }
    try {
      return decode(JSON.parse(text))
    } catch (cause) {
      return clientError("invalid_answer", `The response is no ${what}.`, { status, cause })
    }
  }

  return async <A>(read: PlainRead<A>): Promise<A> => {
    for (let tried = 1; ; tried++) {
      read.signal?.throwIfAborted()
      const answer = await attempt(read)
      if (!(answer instanceof Error)) {
        return answer
      }
      const wait = isTransient(answer)
        ? delayMs(policy, { tried, retryAfterMs: answer.retryAfterMs, jitter: Math.random() })
        : null
      if (wait === null) {
        throw answer
      }
      await pause(wait, read.signal)
    }
  }
}
