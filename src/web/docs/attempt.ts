/** A request tried out on a page, and what came back. */
import { readEvents } from "../data/eventStream.ts"
import { RequestFailed, respond } from "../data/request.ts"
import { type FilledRequest, headersOf, targetOf } from "./snippets.ts"

/** One event of a stream or a socket, with the time it arrived. */
export interface Heard {
  readonly name: string
  readonly text: string
  readonly atMs: number
}

/** The state of an attempt. */
export interface Attempt {
  readonly isRunning: boolean
  readonly status: number | null
  readonly tookMs: number | null
  /** Headers worth reading: budget, request id, retry delay. */
  readonly headers: ReadonlyArray<readonly [string, string]>
  readonly text: string
  readonly heard: ReadonlyArray<Heard>
  /** What went wrong when no answer came; null otherwise. */
  readonly fault: string | null
}

/** Nothing sent yet. */
export const NO_ATTEMPT: Attempt = {
  isRunning: false,
  status: null,
  tookMs: null,
  headers: [],
  text: "",
  heard: [],
  fault: null
}

const MOST_HEARD = 50

const SHOWN = [
  "x-request-id",
  "x-ratelimit-budget",
  "x-ratelimit-cost",
  "x-ratelimit-remaining",
  "x-ratelimit-limit",
  "retry-after"
]

/** JSON with indentation. Other text stays as it is. */
export const pretty = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

type Change = (change: (before: Attempt) => Attempt) => void

/** Adds an event and drops the oldest beyond `MOST_HEARD`. */
export const hear =
  (name: string, text: string) =>
  (before: Attempt): Attempt => ({
    ...before,
    heard: [...before.heard, { name, text, atMs: Date.now() }].slice(-MOST_HEARD)
  })

const shownHeaders = (response: Response) =>
  SHOWN.flatMap((name) => {
    const value = response.headers.get(name)
    return value === null ? [] : [[name, value] as const]
  })

/** Sends a request and follows its answer until it ends or the signal is aborted. */
export const attempt = async (request: FilledRequest, change: Change, signal: AbortSignal): Promise<void> => {
  const began = performance.now()
  change(() => ({ ...NO_ATTEMPT, isRunning: true }))
  try {
    const response = await respond(request.operation.method, targetOf(request), {
      ...(request.body === null ? {} : { body: request.body }),
      headers: Object.fromEntries(headersOf(request)),
      signal
    })
    const isEvents = response.headers.get("content-type")?.startsWith("text/event-stream") === true
    change((before) => ({
      ...before,
      status: response.status,
      tookMs: performance.now() - began,
      headers: shownHeaders(response)
    }))
    if (isEvents) {
      await readEvents(response, ({ data, event }) => change(hear(event, data)))
    } else {
      const text = pretty(await response.text())
      change((before) => ({ ...before, text }))
    }
  } catch (cause) {
    if (!signal.aborted) {
      const fault = cause instanceof RequestFailed ? cause.message : "The answer was cut off."
      change((before) => ({ ...before, fault }))
    }
  }
  change((before) => ({ ...before, isRunning: false }))
}
