/**
 * Lets callers take turns while the service is busy. A request is handled at once unless this turn of the event loop
 * has handled requests for TURN_MS already, or its caller has IN_FLIGHT unanswered requests. Otherwise it waits, and
 * the waiting callers take turns: many requests of one key delay other keys by one turn at most. A request counts as
 * answered when the head of its response is written, so open streams delay no request.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Handle } from "./fastPath.ts"
import { secretIn } from "../middleware/bearer.ts"
import { contextOf } from "../middleware/RequestContext.ts"
import { HEAD_WRITTEN } from "./PlainResponse.ts"

/** Milliseconds of handling after which the loop reads its sockets again. */
const TURN_MS = 4
/**
 * Unanswered requests of one caller, beyond which further ones wait. A store answers all requests that wait for it at
 * once.
 */
const IN_FLIGHT = 64
/** How many accepted keys are remembered. The oldest is forgotten first. */
const MOST_KNOWN = 10_000

/**
 * A caller. It is the key once authentication has accepted it, and the peer before that, so that invented keys share
 * one turn. On an open path (one without a key) each peer is a caller of its own, so that probes do not wait behind the
 * keys of their proxy.
 */
type Caller = number | string

type Waiting = readonly [IncomingMessage, ServerResponse]

/** Clock and scheduler of the turns, and the paths without a key. */
export interface TurnOptions {
  readonly nowMs: () => number
  /** Runs after the loop has read its sockets. */
  readonly nextTurn: (run: () => void) => void
  readonly openPaths: ReadonlySet<string>
}

/** FNV-1a. A collision only makes two callers share a turn. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  }
  return hash
}

/** Wraps a handler. */
export const fairTurns = (handle: Handle, { nextTurn, nowMs, openPaths }: TurnOptions): Handle => {
  const known = new Set<number>()
  const waiting = new Map<Caller, Array<Waiting>>()
  const inFlight = new Map<Caller, number>()
  let spentMs = 0
  let isArmed = false

  const callerOf = ({ headers, socket, url = "" }: IncomingMessage): Caller => {
    const secret = secretIn(headers)
    const hash = secret === undefined ? undefined : hashOf(secret)
    if (hash !== undefined && known.has(hash)) {
      return hash
    }
    const [path = ""] = url.split("?", 1)
    const peer = socket.remoteAddress ?? ""
    return openPaths.has(path) ? `${peer} ${path}` : peer
  }

  /**
   * Remembers the key that a request was admitted with. The status alone proves nothing, because open paths accept any
   * key.
   */
  const answered = (caller: Caller, request: IncomingMessage): void => {
    const isAccepted = typeof caller !== "number" && contextOf(request)?.caller !== undefined
    const secret = isAccepted ? secretIn(request.headers) : undefined
    if (secret === undefined) {
      return
    }
    for (const oldest of known.size >= MOST_KNOWN ? known.values().take(1) : []) {
      known.delete(oldest)
    }
    known.add(hashOf(secret))
  }

  const start = (caller: Caller, request: IncomingMessage, response: ServerResponse): void => {
    const startedAt = nowMs()
    handle(request, response)
    spentMs += nowMs() - startedAt
    if (response.headersSent) {
      return answered(caller, request)
    }
    inFlight.set(caller, (inFlight.get(caller) ?? 0) + 1)
    const settle = () => {
      response.off(HEAD_WRITTEN, settle)
      response.off("close", settle)
      const left = (inFlight.get(caller) ?? 1) - 1
      if (left > 0) {
        inFlight.set(caller, left)
      } else {
        inFlight.delete(caller)
      }
      answered(caller, request)
      arm()
    }
    response.once(HEAD_WRITTEN, settle)
    response.once("close", settle)
  }

  const hasRoom = (caller: Caller): boolean => (inFlight.get(caller) ?? 0) < IN_FLIGHT

  const hasTime = (): boolean => spentMs < TURN_MS

  /**
   * Handles waiting requests, one of each caller after the other, until the turn's time is spent. A caller without room
   * waits for its next answer, which continues.
   */
  const drain = (): void => {
    isArmed = false
    spentMs = 0
    for (const [caller, requests] of waiting) {
      if (!hasTime()) {
        return arm()
      }
      const next = hasRoom(caller) ? requests.shift() : undefined
      if (next !== undefined) {
        // Puts the caller at the end of the line, where this loop comes to it again.
        waiting.delete(caller)
        if (requests.length > 0) {
          waiting.set(caller, requests)
        }
        start(caller, ...next)
      }
    }
  }

  const arm = (): void => {
    if (!isArmed) {
      isArmed = true
      nextTurn(drain)
    }
  }

  return (request, response) => {
    const caller = callerOf(request)
    arm()
    if (hasTime() && !waiting.has(caller) && hasRoom(caller)) {
      return start(caller, request, response)
    }
    const requests = waiting.get(caller) ?? []
    requests.push([request, response])
    waiting.set(caller, requests)
  }
}
