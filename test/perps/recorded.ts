/** Every recorded venue, behind an HTTP client without sockets. */
import { Effect, Layer } from "effect"
import { HttpClient, HttpClientError, type HttpClientRequest, HttpClientResponse } from "effect/http"
import { recordedDydx } from "./dydxAnswers.ts"
import { recordedHyperliquid } from "./hyperliquidAnswers.ts"
import { recordedLighter } from "./lighterAnswers.ts"
import { recordedParadex } from "./paradexAnswers.ts"
import { RECORDED_MS, type Recording } from "./recording.ts"
import { recordedVelocity } from "./velocityAnswers.ts"
import { recordedAster } from "./asterAnswers.ts"

export const recordings: ReadonlyArray<Recording> = [
  recordedHyperliquid,
  recordedVelocity,
  recordedDydx,
  recordedParadex,
  recordedLighter,
  recordedAster
]

/** The answer in place of a recording; undefined keeps it. */
export type Override = (asked: string, times: number, url: URL) => Response | "never" | "unreachable" | undefined

const typeOf = ({ body }: HttpClientRequest.HttpClientRequest): string => {
  const sent: unknown = body._tag === "Uint8Array" ? JSON.parse(new TextDecoder().decode(body.body)) : {}
  const type = typeof sent === "object" && sent !== null && "type" in sent ? sent.type : undefined
  return typeof type === "string" ? ` ${type}` : ""
}

/** The recorded venue behind an HTTP client without sockets. `asked` collects its requests. */
export const recordedClient = (
  answers: Recording["answers"],
  override: Override = () => undefined,
  asked: Array<string> = []
): Layer.Layer<HttpClient.HttpClient> =>
  Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request, url) => {
      const name = `${request.method} ${url.pathname}${typeOf(request)}`
      const times = asked.filter((one) => one === name).length
      asked.push(name)
      const answer = override(name, times, url) ?? recorded(answers[name])
      if (answer === "never") {
        return Effect.never
      }
      return answer === "unreachable"
        ? Effect.fail(new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request }) }))
        : Effect.succeed(HttpClientResponse.fromWeb(request, answer))
    })
  )

const date = { date: new Date(RECORDED_MS).toUTCString() }

/** An answer as JSON, dated at the time of the recording. */
export const json = (value: unknown): Response => new Response(JSON.stringify(value), { headers: date })

const recorded = (value: unknown): Response => (value === undefined ? new Response("no", { status: 404 }) : json(value))
