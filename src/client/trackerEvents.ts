/** The tracker's live stream. */
import { Effect, Schema, type Stream } from "effect"
import type { Socket } from "effect/socket"
import { ControlFrame, DataFrame } from "../api/schemas/LiveFrame.ts"
import type { GroupId, RealtimeSession } from "../api/schemas/Tracker.ts"
import type { FathomClient } from "./FathomClient.ts"
import { clientError, type FathomError } from "./FathomError.ts"
import { withFathomError } from "./withFathomError.ts"
import { liveEvents, type LiveProtocol, type Taken } from "./liveEvents.ts"
import { type TrackerEvent, TrackerMemory } from "./TrackerMemory.ts"

const decodeFrame = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Union([DataFrame, ControlFrame])))

const isData = (frame: DataFrame | ControlFrame): frame is DataFrame => "seq" in frame && frame.type !== "heartbeat"

export interface SubscriptionOptions {
  /** Requests a session with control frames. Their heartbeats show that a quiet connection is alive. */
  readonly session: Effect.Effect<RealtimeSession, FathomError>
  /** Delivers control frames too. */
  readonly control?: boolean
}

class TrackerProtocol implements LiveProtocol<TrackerEvent> {
  readonly name = "tracker"
  readonly closedCode = "tracker_closed"
  readonly #memory = new TrackerMemory()
  readonly #control: boolean

  constructor(control: boolean) {
    this.#control = control
  }

  get failures(): number {
    return this.#memory.failures
  }

  set failures(count: number) {
    this.#memory.failures = count
  }

  opening(): ReadonlyArray<string> {
    const message = this.#memory.resumeMessage()
    return message === null ? [] : [message]
  }

  readonly take = (text: string): Effect.Effect<Taken<TrackerEvent>, FathomError> =>
    Effect.mapBoth(decodeFrame(text), {
      onFailure: ({ message }) => clientError("invalid_answer", message),
      onSuccess: (frame) => {
        if (isData(frame)) {
          return { events: this.#memory.take(frame) }
        }
        return this.#memory.isStuck(frame) ? { events: [], isBroken: true } : { events: this.#control ? [frame] : [] }
      }
    })
}

/**
 * Every frame of the stream across reconnections, each trade once. A lost connection resumes where it stopped. A `gap`
 * stands for events that could not be recovered. Ends when the service closes normally; fails when it rejects
 * permanently.
 */
export const trackerEvents = ({
  control = false,
  session
}: SubscriptionOptions): Stream.Stream<TrackerEvent, FathomError, Socket.WebSocketConstructor> =>
  liveEvents(session, () => new TrackerProtocol(control))

/** The session request of the Effect client for `trackerEvents`: one group, or all wallets of the account. */
export const trackerSession = (
  client: FathomClient["Service"],
  group?: GroupId
): Effect.Effect<RealtimeSession, FathomError> =>
  withFathomError(client.tracker.session({ query: group === undefined ? { control: true } : { control: true, group } }))
