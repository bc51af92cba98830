/** Reads of the API by a component, once or repeatedly. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import { isRefusal } from "../../client/reconnect.ts"
import type { Answer, Operation } from "./contract.ts"
import { call, type CallOptions, failureFrom, type RequestFailed } from "./request.ts"

/** The state of a read. `answer` stays while later attempts fail, so that a page never empties itself. */
export interface Read<A> {
  readonly answer: A | null
  readonly failure: RequestFailed | null
  readonly isLoading: boolean
  /** True after a failure, while another attempt is due. */
  readonly isRetrying: boolean
  /** Local time when `answer` arrived; null before the first. */
  readonly readAtMs: number | null
  /** Reads again now. */
  readonly again: () => void
}

const NOTHING = { answer: null, failure: null, isLoading: true, isRetrying: false, readAtMs: null } as const
const SLOWEST_MS = 30_000

/** Milliseconds between reads, fixed or chosen by the answer. */
type Every<A> = number | ((answer: A | null) => number)

/**
 * Calls `read` at once, again when `key` changes, and repeatedly after each answer when `every` is given. After a
 * failure it waits for `Retry-After`, or else twice the interval (at most 30 seconds). A refusal ends the repetition. It
 * does not read while the page is hidden, unless `whileHidden` says so. With `read` null it reads nothing.
 */
export const useReading = <A>(
  key: string,
  read: ((signal: AbortSignal) => Promise<A>) | null,
  every?: Every<A>,
  whileHidden = false
): Read<A> => {
  const [state, setState] = useState<Omit<Read<A>, "again">>(NOTHING)
  const [turn, setTurn] = useState(0)
  const latest = useRef(read)
  latest.current = read
  const interval = useRef(every)
  interval.current = every
  const shown = useRef(key)
  useEffect(() => {
    const stop = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    if (shown.current !== key) {
      shown.current = key
      setState(NOTHING)
    }
    let newest: A | null = null
    const everyMs = () => (typeof interval.current === "function" ? interval.current(newest) : interval.current)
    const wait = (ms: number) => {
      timer = setTimeout(() => void attempt(), ms)
    }
    const attempt = async () => {
      if (latest.current === null) {
        return undefined
      }
      if (document.hidden && !whileHidden) {
        return document.addEventListener("visibilitychange", () => void attempt(), { once: true, signal: stop.signal })
      }
      try {
        const answer = await latest.current(stop.signal)
        newest = answer
        setState({ answer, failure: null, isLoading: false, isRetrying: false, readAtMs: Date.now() })
        const ms = everyMs()
        return ms === undefined ? undefined : wait(ms)
      } catch (cause) {
        if (stop.signal.aborted) {
          return undefined
        }
        const failure = failureFrom(cause)
        const ms = everyMs()
        const usual = ms === undefined ? null : Math.min(SLOWEST_MS, 2 * ms)
        const pause = isRefusal(failure) ? null : (failure.retryAfterMs ?? usual)
        setState((before) => ({ ...before, failure, isLoading: false, isRetrying: pause !== null }))
        return pause === null ? undefined : wait(pause)
      }
    }
    void attempt()
    return () => {
      stop.abort()
      clearTimeout(timer)
    }
    // An interval chosen by the answer counts from the next wait on: its change does not trigger a read.
  }, [key, typeof every === "number" ? every : null, turn])
  const again = useCallback(() => setTurn((before) => before + 1), [])
  return { ...state, again }
}

/** Reads an operation of the contract; see `useReading`. With `options` null it reads nothing. */
export const useRead = <Name extends Operation>(
  operation: Name,
  options: CallOptions<Name> | null,
  every?: Every<Answer<Name>>,
  whileHidden = false
): Read<Answer<Name>> =>
  useReading(
    `${operation} ${JSON.stringify(options)}`,
    options === null ? null : (signal) => call(operation, { ...options, signal }),
    every,
    whileHidden
  )
