/**
 * A client for quotes alone, a small part of the size of the whole client: it checks no answers against schemas. Calls,
 * amounts, attempts and errors are those of `createClient`.
 */
import type { SpotQuote } from "../api/schemas/Quote.ts"
import type { CallOptions, Client, ClientOptions } from "./createClient.ts"
import { errorOf } from "./errorOf.ts"
import { clientError, connectionLost, type FathomError } from "./FathomError.ts"
import { isTransient } from "./reconnect.ts"
import { defaultPolicy, delayMs } from "./retryPolicy.ts"

type Wire = typeof SpotQuote.Encoded
type Amount = "inAmount" | "outAmount" | "minOutAmount"
type WireHop = Wire["route"][number]

/** A quote with its amounts as `bigint`. */
export type Quote = Omit<Wire, Amount | "maxInAmount" | "route"> &
  Readonly<Record<Amount, bigint>> & {
    readonly maxInAmount?: bigint
    readonly route: ReadonlyArray<
      Omit<WireHop, "amountIn" | "amountOut"> & { readonly amountIn: bigint; readonly amountOut: bigint }
    >
  }

/** What `spot.quote` is asked. */
export type QuoteQuery = Parameters<Client["spot"]["quote"]>[0]["query"]

export interface QuoteClient {
  /** Prices one trade. Throws a `FathomError`. */
  readonly quote: (query: QuoteQuery, options?: CallOptions) => Promise<Quote>
}

const decoded = ({ maxInAmount, route, ...rest }: Wire): Quote => ({
  ...rest,
  inAmount: BigInt(rest.inAmount),
  outAmount: BigInt(rest.outAmount),
  minOutAmount: BigInt(rest.minOutAmount),
  ...(maxInAmount !== undefined && { maxInAmount: BigInt(maxInAmount) }),
  route: route.map((hop) => ({ ...hop, amountIn: BigInt(hop.amountIn), amountOut: BigInt(hop.amountOut) }))
})

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

const searchOf = (query: QuoteQuery): URLSearchParams => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) {
      search.set(name, String(value))
    }
  }
  return search
}

/** Makes a client for quotes. Nothing is sent before the first call. */
export const createQuoteClient = ({ baseUrl, key, retry, fetch: send = fetch }: ClientOptions): QuoteClient => {
  const policy = { ...defaultPolicy, ...retry }
  const base = String(baseUrl).replace(/\/+$/u, "")

  const attempt = async (url: string, signal: AbortSignal | undefined): Promise<Quote | FathomError> => {
    const init = { headers: { authorization: `Bearer ${key}` }, ...(signal !== undefined && { signal }) }
    let response: Response
    let text: string
    try {
      response = await send(url, init)
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
      return decoded(JSON.parse(text))
    } catch (cause) {
      return clientError("invalid_answer", "The response is no quote.", { status, cause })
    }
  }

  return {
    quote: async (query, { signal } = {}) => {
      const url = `${base}/api/v1/spot/quote?${searchOf(query)}`
      for (let tried = 1; ; tried++) {
        signal?.throwIfAborted()
        const answer = await attempt(url, signal)
        if (!(answer instanceof Error)) {
          return answer
        }
        const wait = isTransient(answer)
          ? delayMs(policy, { tried, retryAfterMs: answer.retryAfterMs, jitter: Math.random() })
          : null
        if (wait === null) {
          throw answer
        }
        await pause(wait, signal)
      }
    }
  }
}
