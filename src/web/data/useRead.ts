/** Reading of an operation by a component, once or again and again. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import type { Answer, Operation } from "./contract.ts"
import { call, type CallOptions, RequestFailed } from "./request.ts"

/** The state of a read. `answer` stays while a later attempt fails, so that a page never empties itself. */
export interface Read<A> {
  readonly answer: A | null
  readonly failure: RequestFailed | null
  readonly isLoading: boolean
  /** Local time of `answer`; null before the first. */
  readonly readAtMs: number | null
  /** Reads again now. */
  readonly again: () => void
}

const SLOWEST_MS = 30_000

const failureFrom = (cause: unknown): RequestFailed =>
  cause instanceof RequestFailed ? cause : new RequestFailed(0, "internal_error", String(cause), [], null)

/** Interval of reads in milliseconds, or that after an answer. */
type Every<A> = number | ((answer: A | null) => number)

/**
 * Reads by `read` at once, again when `key` changes, and every `every` after an answer where that is given. A failure is
 * repeated after its `Retry-After` or twice the interval. A hidden page does not read. `read` is null to read nothing.
 */
export const useReading = <A>(
  key: string,
  read: ((signal: AbortSignal) => Promise<A>) | null,
  every?: Every<A>
): Read<A> => {
  const [state, setState] = useState<Omit<Read<A>, "again">>({
    answer: null,
    failure: null,
    isLoading: true,
    readAtMs: null
  })
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
      setState({ answer: null, failure: null, isLoading: true, readAtMs: null })
    }
    let newest: A | null = null
    const everyMs = () => (typeof interval.current === "function" ? interval.current(newest) : interval.current)
    const waitOn = () => {
      const ms = everyMs()
      return ms === undefined ? undefined : wait(ms)
    }
    const wait = (ms: number) => {
      timer = setTimeout(() => void attempt(), ms)
    }
    const attempt = async () => {
      if (latest.current === null || document.hidden) {
        return waitOn()
      }
      try {
        const answer = await latest.current(stop.signal)
        newest = answer
        setState({ answer, failure: null, isLoading: false, readAtMs: Date.now() })
        return waitOn()
      } catch (cause) {
        if (stop.signal.aborted) {
          return undefined
        }
        const failure = failureFrom(cause)
        setState((before) => ({ ...before, failure, isLoading: false }))
        const ms = everyMs()
        const pause = failure.retryAfterMs ?? (ms === undefined ? null : Math.min(SLOWEST_MS, 2 * ms))
        return pause === null ? undefined : wait(pause)
      }
    }
    void attempt()
    return () => {
      stop.abort()
      clearTimeout(timer)
    }
    // An interval that depends on the answer counts from the next wait on: its change reads nothing at once.
  }, [key, typeof every === "number" ? every : null, turn])
  const again = useCallback(() => setTurn((before) => before + 1), [])
  return { ...state, again }
}

/** Reads an operation of the contract; see `useReading`. With `options` null nothing is read. */
export const useRead = <Name extends Operation>(
  operation: Name,
  options: CallOptions<Name> | null,
  every?: Every<Answer<Name>>
): Read<Answer<Name>> =>
  useReading(
    `${operation} ${JSON.stringify(options)}`,
    options === null ? null : (signal) => call(operation, { ...options, signal }),
    every
  )
