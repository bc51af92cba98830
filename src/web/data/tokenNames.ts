/** Symbols of tokens that an answer names by mint only. They are asked for together, and kept while the page is open. */
import { useEffect, useState } from "preact/hooks"
import { isRefusal } from "../../client/reconnect.ts"
import { call, failureFrom } from "./request.ts"

/** Milliseconds in which mints are gathered before the service is asked. */
const GATHER_MS = 30
/** Most mints of one request. */
const MOST = 100
/** Milliseconds until tokens that are still being loaded are asked for again, and how often. */
const AGAIN_MS = 3000
const MOST_TRIES = 5

const symbols = new Map<string, string | null>()
const tries = new Map<string, number>()
const waiting = new Set<string>()
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setTimeout> | undefined

/** Asks for a mint again later, unless it was asked for often enough. */
const later = (mint: string): void => {
  if ((tries.get(mint) ?? 0) < MOST_TRIES) {
    waiting.add(mint)
  }
}

const ask = async (mints: ReadonlyArray<string>): Promise<number> => {
  try {
    const { data } = await call("GET /api/v1/tokens", { query: { addresses: mints.join(",") } })
    for (const { address, facts, state } of data) {
      if (state === "loading" || state === "deferred") {
        later(address)
      } else {
        symbols.set(address, facts?.token.symbol ?? null)
      }
    }
    return AGAIN_MS
  } catch (cause) {
    const failure = failureFrom(cause)
    if (!isRefusal(failure)) {
      mints.forEach(later)
    }
    return failure.retryAfterMs ?? AGAIN_MS
  }
}

const deliver = async (): Promise<void> => {
  const mints = Array.from(waiting).slice(0, MOST)
  mints.forEach((mint) => {
    waiting.delete(mint)
    tries.set(mint, (tries.get(mint) ?? 0) + 1)
  })
  const pauseMs = await ask(mints)
  listeners.forEach((listener) => listener())
  timer = waiting.size === 0 ? undefined : setTimeout(() => void deliver(), pauseMs)
}

const want = (mint: string): void => {
  if (!symbols.has(mint) && !waiting.has(mint) && !tries.has(mint)) {
    waiting.add(mint)
    timer ??= setTimeout(() => void deliver(), GATHER_MS)
  }
}

/** The symbol of a token: the given one where it is known, otherwise the one that the service knows; null for none. */
export const useSymbol = (mint: string, given: string | null): string | null => {
  const [, setTurn] = useState(0)
  useEffect(() => {
    if (given !== null) {
      return undefined
    }
    want(mint)
    const listener = () => setTurn((turn) => turn + 1)
    listeners.add(listener)
    // The answer may have come between the render and this effect.
    listener()
    return () => {
      listeners.delete(listener)
    }
  }, [mint, given])
  return given ?? symbols.get(mint) ?? null
}
