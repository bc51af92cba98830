import { ByteSize, Context, Effect, Layer } from "effect"
import { HttpIncomingMessage, HttpServerRequest } from "effect/http"
import { BodyLimit, JsonBody } from "../../api/middleware/JsonBody.ts"
import { BodyTooLarge, type InvalidRequest, UnsupportedMediaType } from "../../api/errors/problems.ts"
import { invalid } from "../problems.ts"
import { RequestContext } from "./RequestContext.ts"
import { type Flaw, readJson } from "./strictJson.ts"

type Request = HttpServerRequest.HttpServerRequest

const JSON_TYPE = /^application\/json[\t ]*(?:;[\t ]*charset[\t ]*=[\t ]*"?utf-8"?[\t ]*)?$/iu

const flawMessages: Partial<Record<Flaw["issue"], string>> = {
  missing: "Send a JSON body.",
  format: "The body is not JSON in UTF-8."
}

const flawed = ({ field, issue }: Flaw) =>
  invalid(
    { in: "body", field, issue },
    flawMessages[issue] ?? (issue === "duplicate" ? `${field} is sent twice.` : `${field} is unknown.`)
  )

const hasBody = ({ headers }: Request): boolean =>
  headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0"

/** True for a body with a content encoding. None is supported. */
const isEncoded = ({ headers }: Request): boolean =>
  !/^(?:identity)?$/iu.test((headers["content-encoding"] ?? "").trim())

/** The bytes of the body, at most `limit`. A body with a larger Content-Length is not read. */
export const bytesOf = (request: Request, limit: number): Effect.Effect<Uint8Array, BodyTooLarge | InvalidRequest> => {
  if (Number(request.headers["content-length"] ?? 0) > limit) {
    return Effect.fail(new BodyTooLarge())
  }
  return request.arrayBuffer.pipe(
    Effect.map((buffer) => new Uint8Array(buffer)),
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(limit)),
    Effect.mapError(({ reason }) =>
      reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge"
        ? new BodyTooLarge()
        : flawed({ field: "", issue: "format" })
    )
  )
}

const read = Effect.fnUntraced(function* (request: Request, limit: number) {
  if (!hasBody(request)) {
    return yield* flawed({ field: "", issue: "missing" })
  }
  if (!JSON_TYPE.test(request.headers["content-type"] ?? "") || isEncoded(request)) {
    return yield* new UnsupportedMediaType()
  }
  const reading = readJson(yield* bytesOf(request, limit))
  return "issue" in reading ? yield* flawed(reading) : reading
})

/** The request with the checked text instead of its stream. */
const withText = (request: Request, text: string): Request =>
  Object.create(request, { text: { value: Effect.succeed(text) } })

export const layer: Layer.Layer<JsonBody> = Layer.succeed(
  JsonBody,
  JsonBody.of((httpEffect, { endpoint }) =>
    Effect.withFiber((fiber) => {
      const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
      return Effect.flatMap(read(request, Context.get(endpoint.annotations, BodyLimit)), (body) => {
        fiber.getRef(RequestContext).body = body
        return Effect.provideService(httpEffect, HttpServerRequest.HttpServerRequest, withText(request, body.text))
      })
    })
  )
)
