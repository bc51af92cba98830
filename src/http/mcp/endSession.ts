/** Ends sessions of `/mcp` by a request of the service itself. */
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { answerTo, type App } from "../middleware/innerRequests.ts"
import { MCP_PATH, SESSION_HEADER } from "./paths.ts"

const ENDING = Symbol("EndedByTheService")

/** True for a request with which the service itself ends a session. */
export const isEnding = ({ source }: HttpServerRequest.HttpServerRequest): boolean => ENDING in source

/** Ends a session in the protocol's runtime, whoever holds it. */
export const endSession = (app: App, id: string): Effect.Effect<void> =>
  Effect.suspend(() => {
    const source = new Request(`http://fathom.invalid${MCP_PATH}`, {
      method: "DELETE",
      headers: { [SESSION_HEADER]: id }
    })
    const request = HttpServerRequest.fromWeb(Object.assign(source, { [ENDING]: true })).modify({ url: MCP_PATH })
    return Effect.asVoid(answerTo(app, request))
  })
