/** The market's live stream. */
import { Effect, Schema, type Stream } from "effect"
import type { Socket } from "effect/socket"
import { MarketControlFrame, MarketDataFrame, type MarketSession } from "../api/schemas/MarketFrame.ts"
import type { FathomClient } from "./FathomClient.ts"
import { clientError, type FathomError } from "./FathomError.ts"
import { withFathomError } from "./withFathomError.ts"
import { liveEvents, type LiveProtocol, type Taken } from "./liveEvents.ts"
import { type MarketEvent, MarketMemory, type MarketSubscription } from "./MarketMemory.ts"

const decodeFrame = Schema.decodeUnknownEffect(
  Schema.fromJsonString(Schema.Union([MarketDataFrame, MarketControlFrame]))
)

const isData = (frame: MarketDataFrame | MarketControlFrame): frame is MarketDataFrame => "seq" in frame

class MarketProtocol implements LiveProtocol<MarketEvent> {
  readonly name = "market socket"
  readonly closedCode = "market_closed"
  readonly #memory: MarketMemory

  constructor(subscriptions: ReadonlyArray<MarketSubscription>) {
    this.#memory = new MarketMemory(subscriptions)
  }

  get failures(): number {
    return this.#memory.failures
  }

  set failures(count: number) {
    this.#memory.failures = count
  }

  opening(): ReadonlyArray<string> {
    return this.#memory.opening()
  }

  readonly take = (text: string): Effect.Effect<Taken<MarketEvent>, FathomError> =>
    decodeFrame(text).pipe(
      Effect.mapError(({ message }) => clientError("invalid_answer", message)),
      Effect.flatMap((frame) =>
        isData(frame) ? Effect.succeed({ events: this.#memory.take(frame) }) : this.#control(frame)
      )
    )

  #control(frame: MarketControlFrame): Effect.Effect<Taken<MarketEvent>, FathomError> {
    switch (frame.type) {
      case "open":
        this.#memory.open(frame.streamId)
        return Effect.succeed({ events: [] })
      case "ended":
        return Effect.succeed(this.#ended(frame))
      case "error":
        return frame.code === "rate_limited"
          ? Effect.succeed({ events: [], isBroken: true })
          : Effect.fail(clientError("invalid_call", frame.message))
      default:
        return Effect.succeed({ events: [] })
    }
  }

  #ended(frame: MarketControlFrame & { readonly type: "ended" }): Taken<MarketEvent> {
    const again = this.#memory.ended(frame)
    if (again === null) {
      return { events: this.#memory.isOver ? [frame, null] : [frame] }
    }
    return { events: [frame], later: { message: () => this.#memory.messageOf(again.id), afterMs: again.afterMs } }
  }
}

export interface MarketEventsOptions {
  readonly session: Effect.Effect<MarketSession, FathomError>
  readonly subscriptions: ReadonlyArray<MarketSubscription>
}

/**
 * Every frame of the subscriptions across reconnections; each subscription resumes where it stopped. A `gap` stands for
 * events that could not be recovered. An `ended` subscription is requested again when waiting helps. The stream ends
 * once every subscription has ended. Fails when the service rejects permanently or a subscription is malformed.
 */
export const marketEvents = ({
  session,
  subscriptions
}: MarketEventsOptions): Stream.Stream<MarketEvent, FathomError, Socket.WebSocketConstructor> =>
  liveEvents(session, () => new MarketProtocol(subscriptions))

/** The session request of the Effect client for `marketEvents`. */
export const marketSession = (client: FathomClient["Service"]): Effect.Effect<MarketSession, FathomError> =>
  withFathomError(client.marketRealtime.session({ query: {} }))
