/** A quote of one trade, read once or followed as a stream. */
import { useEffect, useRef, useState } from "preact/hooks"
import type { Answer } from "../data/contract.ts"
import { followEvents, type ServerEvent } from "../data/eventStream.ts"
import { call, failureFrom, type RequestFailed, urlOf } from "../data/request.ts"

export type Quote = Answer<"GET /api/v1/spot/quote">

/** A trade to price, in atomic units of the input. */
export interface Trade {
  readonly inputMint: string
  readonly outputMint: string
  readonly amount: string
  readonly slippageBps: number
}

/** The newest quote of a trade, with the state of its stream. */
export interface QuoteState {
  readonly quote: Quote | null
  readonly failure: RequestFailed | null
  /** State of the stream in words; empty without a stream. */
  readonly stream: string
}

const EMPTY: QuoteState = { quote: null, failure: null, stream: "" }
const INTERVAL_MS = 1000
const DURATION_SECONDS = 240
/** Pause before a stream is opened again. */
const PAUSE_MS = 3000

/** The state after an event of the stream. */
export const afterEvent = (state: QuoteState, { data: text, event }: ServerEvent): QuoteState => {
  const data = JSON.parse(text) as unknown
  switch (event) {
    case "quote":
      return { quote: (data as { readonly quote: Quote }).quote, failure: null, stream: "Live" }
    case "error":
      return { ...state, stream: (data as { readonly error: { readonly message: string } }).error.message }
    case "throttled": {
      const { retryAfterMs } = data as { readonly retryAfterMs: number }
      return { ...state, stream: `The quote budget is used up; continues in ${Math.ceil(retryAfterMs / 1000)} s` }
    }
    case "close":
      return { ...state, stream: "Reconnecting" }
    default:
      return state
  }
}

type Change = (next: (before: QuoteState) => QuoteState) => void

const follow = async (trade: Trade, change: Change, signal: AbortSignal): Promise<void> => {
  const query = { ...trade, intervalMs: INTERVAL_MS, durationSeconds: DURATION_SECONDS }
  const url = urlOf("GET /api/v1/spot/quote/stream", {}, query)
  while (!signal.aborted) {
    let pauseMs = PAUSE_MS
    try {
      await followEvents(url, (event) => change((before) => afterEvent(before, event)), signal)
    } catch (cause) {
      if (signal.aborted) {
        return
      }
      const failure = failureFrom(cause, "The stream ended.")
      pauseMs = failure.retryAfterMs ?? PAUSE_MS
      change((before) => ({ ...before, failure, stream: "Reconnecting" }))
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

const readOnce = async (trade: Trade, change: Change, signal: AbortSignal): Promise<void> => {
  try {
    const quote = await call("GET /api/v1/spot/quote", { query: { ...trade }, signal })
    change(() => ({ quote, failure: null, stream: "" }))
  } catch (cause) {
    if (!signal.aborted) {
      change(() => ({ ...EMPTY, failure: failureFrom(cause) }))
    }
  }
}

/**
 * Prices a trade; null prices nothing. A new `turn` prices the same trade again. With `isLive` the quote follows the
 * market.
 */
export const useQuote = (trade: Trade | null, isLive: boolean, turn: number): QuoteState => {
  const [state, setState] = useState<QuoteState>(EMPTY)
  const key = JSON.stringify(trade)
  const shown = useRef(key)
  useEffect(() => {
    const wanted = JSON.parse(key) as Trade | null
    // The last quote of the same trade stays until a newer one arrives.
    const isSame = shown.current === key
    shown.current = key
    setState(({ quote }) => ({ ...EMPTY, quote: isSame ? quote : null }))
    if (wanted === null) {
      return undefined
    }
    const stop = new AbortController()
    void (isLive ? follow : readOnce)(wanted, setState, stop.signal)
    return () => stop.abort()
  }, [isLive, key, turn])
  return state
}
