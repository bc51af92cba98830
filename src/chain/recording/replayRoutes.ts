/** `GET` and `POST /replay` for operators: how far a replay is, and going on, pausing, stepping and seeking. */
import { Effect, Layer, Schema } from "effect"
import { type Headers, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { CurrentReplay, type OpenReplay } from "./Replay.ts"

const slots = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))

const Order = Schema.Union([
  Schema.Struct({ action: Schema.Literals(["pause", "resume"]) }),
  Schema.Struct({ action: Schema.Literal("step"), slots: Schema.optionalKey(slots) }),
  Schema.Struct({ action: Schema.Literal("seek"), slot: Schema.Int }),
  Schema.Struct({
    action: Schema.Literal("speed"),
    speed: Schema.Union([Schema.Literal("max"), Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }))])
  })
])

const USAGE =
  'The body is JSON: {"action": "pause"}, {"action": "resume"}, {"action": "step", "slots": 1}, {"action": "seek", "slot": N} or {"action": "speed", "speed": 1 to 100, or "max"}.'

const answer = ({ from, pace, to }: OpenReplay) =>
  HttpServerResponse.jsonUnsafe({
    slot: pace.slot,
    from,
    to,
    isPaused: pace.isPaused,
    speed: pace.speed ?? "max"
  })

const refusal = (field: string, message: string) =>
  HttpServerResponse.jsonUnsafe(
    { error: { code: "invalid_request", message, details: [{ in: "body", field, issue: "out_of_range" }] } },
    { status: 400 }
  )

/** True for a request that a page in a browser may have sent: it names its origin, or sends text without asking. */
const isOfPage = (headers: Headers.Headers): boolean =>
  headers["origin"] !== undefined || headers["content-type"]?.split(";")[0]?.trim() !== "application/json"

const fromPage = HttpServerResponse.jsonUnsafe(
  {
    error: {
      code: "origin_not_allowed",
      message: "Send application/json, and no Origin: a page in a browser may not change a replay."
    }
  },
  { status: 403 }
)

/** Carries an order out. Returns what is wrong with it, or null. */
const obey = ({ pace, to }: OpenReplay, order: typeof Order.Type) => {
  switch (order.action) {
    case "pause":
      pace.pause()
      return null
    case "resume":
      pace.resume()
      return null
    case "step":
      pace.step(order.slots ?? 1)
      return null
    case "speed":
      pace.speed = order.speed === "max" ? null : order.speed
      return null
    case "seek": {
      if (order.slot <= pace.slot) {
        return `slot must be after slot ${pace.slot}: a replay only goes forward. Start it again with --from.`
      }
      if (to !== null && order.slot > to) {
        return `slot must be at most ${to}, the last slot of the replay.`
      }
      pace.seek(order.slot)
      return null
    }
  }
}

const routesOf = (replay: OpenReplay) =>
  Layer.merge(
    HttpRouter.add(
      "GET",
      "/replay",
      Effect.sync(() => answer(replay))
    ),
    HttpRouter.add(
      "POST",
      "/replay",
      Effect.gen(function* () {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        if (isOfPage(headers)) {
          return fromPage
        }
        const order = yield* HttpServerRequest.schemaBodyJson(Order)
        const wrong = obey(replay, order)
        return wrong === null ? answer(replay) : refusal("slot", wrong)
      }).pipe(Effect.catch(() => Effect.succeed(refusal("action", USAGE))))
    )
  )

/** The routes of the replay of this process; none without one. */
export const replayRoutes: Layer.Layer<never, never, HttpRouter.HttpRouter> = Layer.unwrap(
  Effect.map(CurrentReplay, (replay): Layer.Layer<never, never, HttpRouter.HttpRouter> =>
    replay === null ? Layer.empty : routesOf(replay)
  )
)
