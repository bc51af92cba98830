import type { IncomingMessage, ServerResponse } from "node:http"

type Handle = (request: IncomingMessage, response: ServerResponse) => void

/** A handler that can be held up for a moment: requests wait, in order, and then go through. */
export interface RequestGate {
  readonly handle: Handle
  readonly hold: () => void
  readonly release: () => void
}

/** A requestGate that is open. */
export const makeTurnstile = (handle: Handle): RequestGate => {
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
