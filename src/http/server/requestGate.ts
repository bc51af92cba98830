import type { IncomingMessage, ServerResponse } from "node:http"

type Handle = (request: IncomingMessage, response: ServerResponse) => void

/** A handler that can be paused. Requests that arrive while it is held are queued and handled in order on release. */
export interface RequestGate {
  readonly handle: Handle
  readonly hold: () => void
  readonly release: () => void
}

/** An open gate in front of `handle`. */
export const makeRequestGate = (handle: Handle): RequestGate => {
  const waiting: Array<Parameters<Handle>> = []
  let isHeld = false
  return {
    handle: (request, response) => {
      if (isHeld) {
        waiting.push([request, response])
      } else {
        handle(request, response)
      }
    },
    hold: () => {
      isHeld = true
    },
    release: () => {
      isHeld = false
      waiting.splice(0).forEach((held) => handle(...held))
    }
  }
}
