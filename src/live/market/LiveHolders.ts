/** Live holders: number and concentration of the holders of tokens, sent when they change. */
import { Clock, Effect } from "effect"
import type { LiveHolders as Figures } from "../../api/schemas/TokenHolders.ts"
import type { Scalar } from "../../domain/Scalar.ts"
import type { Mint } from "../../domain/Address.ts"
import { monotonicMs } from "../../domain/loopTime.ts"
import type { MarketReader } from "../../market/reads/MarketReader.ts"
import { TopicFrames } from "./blockFrames.ts"
import { jsonOf } from "../../domain/jsonOf.ts"
import type { MarketHub } from "./MarketHub.ts"
import { takeTurns } from "./takeTurns.ts"
import type { Ending, Subscription, Topic } from "./Topic.ts"
import { type RoomLimits, TopicRoom } from "./topicRoom.ts"

/** Shortest time between two looks at the holders of a token, in milliseconds. */
export const HOLDERS_MS = 5000
/** Tokens whose holders are read by subscriptions. */
export const HELD_TOKENS: RoomLimits = {
  channel: "holders",
  most: 200,
  share: 50,
  named: (count) => `the holders of ${count} tokens`
}

interface Seen {
  readonly text: string
  /** Time of the monotonic clock. */
  readonly atMs: number
}

const scalarText = ({ coverage, status, value }: Scalar) => [value, status, coverage]

/** The figures without their times and their slot, which every block makes anew. */
const textOf = ({ heldAmount, holders, state, top10Pct, top50Pct }: Figures): string =>
  jsonOf([state, heldAmount, ...[holders, top10Pct, top50Pct].map(scalarText)])

/** The holders of tokens that are subscribed to. */
export class LiveHolders {
  readonly #hub: MarketHub
  readonly #room: TopicRoom
  readonly #whole: Effect.Effect<void>
  readonly #reader: Pick<MarketReader["Service"], "holdersNow">
  readonly #seen = new WeakMap<Topic, Seen>()

  /** `whole` waits until no block of the market is half applied. */
  constructor(hub: MarketHub, reader: Pick<MarketReader["Service"], "holdersNow">, whole: Effect.Effect<void>) {
    this.#whole = whole
    this.#hub = hub
    this.#room = new TopicRoom(hub, HELD_TOKENS)
    this.#reader = reader
  }

  /** Lets a subscription in: null. Returns its end when there is no room for it. */
  enter(subscription: Subscription): Ending | null {
    return subscription.topic.terms.channel === "holders" ? this.#room.enter(subscription) : null
  }

  /** The data of a snapshot. */
  open(topic: Topic, mint: Mint): Effect.Effect<() => Figures, Ending> {
    return Effect.gen({ self: this }, function* () {
      const figures = yield* Effect.mapError(this.#reader.holdersNow(mint), ({ _tag }): Ending =>
        _tag === "UnknownToken"
          ? { code: "not_found", message: "The token is unknown." }
          : { code: "data_unavailable", message: "The token is being loaded: subscribe again." }
      )
      const atMs = monotonicMs(yield* Clock.Clock)
      // For the first reader. Others have the same figures, or get a frame soon.
      if (!this.#seen.has(topic)) {
        this.#seen.set(topic, { text: textOf(figures), atMs })
      }
      return () => figures
    })
  }

  /** Ends tokens that no account has room for any more, looks at those that are due, and sends what changed. */
  readonly lookDue: Effect.Effect<void> = Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
    this.#room.recount(nowMs)
    return takeTurns(
      this.#hub.topicsOf("holders"),
      this.#whole,
      (topic, atMs) => atMs - (this.#seen.get(topic)?.atMs ?? atMs) >= HOLDERS_MS,
      (topic) => Effect.ignore(this.#look(topic))
    )
  })

  readonly #look = Effect.fnUntraced({ self: this }, function* (this: LiveHolders, topic: Topic) {
    const { terms } = topic
    if (terms.channel !== "holders") {
      return
    }
    const clock = yield* Clock.Clock
    const figures = yield* this.#reader.holdersNow(terms.mint)
    const text = textOf(figures)
    const isChanged = text !== this.#seen.get(topic)?.text
    this.#seen.set(topic, { text, atMs: monotonicMs(clock) })
    if (isChanged) {
      const frames = new TopicFrames()
      frames.add([topic], "holders", () => figures)
      this.#hub.publish(frames.batches, clock.currentTimeMillisUnsafe())
    }
  })
}
