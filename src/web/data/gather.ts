/** Milliseconds between two deliveries of gathered values. */
export const GATHER_MS = 200

/**
 * Hands values over together, so that a page renders once for all of them: the first at once, then what arrived,
 * every `GATHER_MS`. A service that catches up sends thousands of events a second.
 */
export const gather = <A>(take: (values: ReadonlyArray<A>) => void) => {
  let waiting: Array<A> = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const deliver = () => {
    timer = waiting.length === 0 ? undefined : setTimeout(deliver, GATHER_MS)
    if (waiting.length > 0) {
      const values = waiting
      waiting = []
      take(values)
    }
  }
  return {
    push: (value: A): void => {
      waiting.push(value)
      if (timer === undefined) {
        deliver()
      }
    },
    /** Drops what waits. */
    stop: (): void => {
      clearTimeout(timer)
      waiting = []
    }
  }
}
