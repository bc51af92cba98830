/** Live screens: every distinct request is evaluated again and again, and its readers get what changed. */
import { Clock, Effect } from "effect"
import type { ScreenChange } from "../../api/schemas/MarketFrame.ts"
import { screenDefaults, type ScreenRow } from "../../api/schemas/TokenScreen.ts"
import type { Address } from "../../domain/Address.ts"
import { monotonicMs } from "../../domain/loopTime.ts"
import type { MarketReader } from "../../market/reads/MarketReader.ts"
import type { RankedPage } from "../../market/reads/pages.ts"
import { selectorsOf } from "../../market/reads/screenSelectors.ts"
import { TopicFrames } from "./blockFrames.ts"
import { jsonOf } from "../../domain/jsonOf.ts"
import type { MarketHub } from "./MarketHub.ts"
import { takeTurns } from "./takeTurns.ts"
import type { Ending, Subscription, Terms, Topic } from "./Topic.ts"
import { type RoomLimits, TopicRoom } from "./topicRoom.ts"

/** Shortest time between two evaluations of a screen, in milliseconds. */
export const SCREEN_MS = 3000
/** An unchanged screen is confirmed after this long, in milliseconds. */
const CONFIRM_MS = 10_000
/** Distinct screens. */
export const SCREENS: RoomLimits = {
  channel: "screen",
  most: 32,
  share: 8,
  named: (count) => `${count} different screens`
}

type Page = RankedPage<ScreenRow>
type ScreenTerms = Extract<Terms, { readonly channel: "screen" }>

/** The rows that the readers of a topic know. */
interface Shown {
  page: Page
  texts: ReadonlyMap<Address, string>
  /** Times of the monotonic clock. */
  evaluatedAtMs: number
  sentAtMs: number
}

/** A row without the times of its values, which every evaluation makes anew. */
const textOf = ({ values, ...row }: ScreenRow): string =>
  jsonOf([row, Object.entries(values).map(([name, { coverage, status, value }]) => [name, value, status, coverage])])

const textsOf = (rows: ReadonlyArray<ScreenRow>): ReadonlyMap<Address, string> =>
  new Map(rows.map((row) => [row.token.address, textOf(row)]))

/** What a page says beside its rows. */
const aboutOf = ({ coverage, excluded, observedAtMs, screened, slot, status }: Page) => ({
  slot,
  observedAtMs,
  status,
  coverage,
  tokens: screened?.tokens ?? 0,
  examined: screened?.examined ?? 0,
  excluded: { unknownFilter: excluded.unknownFilter }
})

const changeOf = (before: ReadonlyMap<Address, string>, texts: ReadonlyMap<Address, string>, page: Page) => ({
  entered: page.data.filter(({ token }) => !before.has(token.address)),
  changed: page.data.filter(
    ({ token: { address } }) => before.has(address) && before.get(address) !== texts.get(address)
  ),
  left: Array.from(before.keys()).filter((mint) => !texts.has(mint)),
  ...aboutOf(page)
})

const isChange = ({ changed, entered, left }: Pick<ScreenChange, "changed" | "entered" | "left">): boolean =>
  changed.length + entered.length + left.length > 0

/** The screens of the market socket, evaluated one after the other. */
export class LiveScreens {
  readonly #hub: MarketHub
  readonly #room: TopicRoom
  readonly #whole: Effect.Effect<void>
  readonly #reader: Pick<MarketReader["Service"], "screenNow">
  readonly #shown = new WeakMap<Topic, Shown>()

  /** `whole` waits until no block of the market is half applied. */
  constructor(hub: MarketHub, reader: Pick<MarketReader["Service"], "screenNow">, whole: Effect.Effect<void>) {
    this.#whole = whole
    this.#hub = hub
    this.#room = new TopicRoom(hub, SCREENS)
    this.#reader = reader
  }

  /** Lets a subscription in: null. Returns its end when there is no room for it. */
  enter(subscription: Subscription): Ending | null {
    return subscription.topic.terms.channel === "screen" ? this.#room.enter(subscription) : null
  }

  /** The data of a snapshot: what the readers of the topic know, so that later frames fit to it. */
  open(topic: Topic, terms: ScreenTerms): Effect.Effect<() => unknown, Ending> {
    return Effect.gen({ self: this }, function* () {
      if (!this.#shown.has(topic)) {
        const page = yield* Effect.mapError(this.#evaluate(terms), ({ detail }): Ending => ({
          code: "data_unavailable",
          message: detail
        }))
        const atMs = monotonicMs(yield* Clock.Clock)
        // Another reader's snapshot may have come first. Its rows stay the ones that frames are relative to.
        if (!this.#shown.has(topic)) {
          this.#shown.set(topic, { page, texts: textsOf(page.data), evaluatedAtMs: atMs, sentAtMs: atMs })
        }
      }
      return () => {
        const page = this.#shown.get(topic)?.page
        return { rows: page?.data ?? [], sort: terms.sort ?? screenDefaults.sort, ...(page && aboutOf(page)) }
      }
    })
  }

  /** Ends screens that no account has room for any more, evaluates those that are due, and sends what changed. */
  readonly evaluateDue: Effect.Effect<void> = Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
    this.#room.recount(nowMs)
    return takeTurns(
      this.#hub.topicsOf("screen"),
      this.#whole,
      (topic, atMs) => atMs - (this.#shown.get(topic)?.evaluatedAtMs ?? atMs) >= SCREEN_MS,
      (topic) => {
        const shown = this.#shown.get(topic)
        return shown === undefined ? Effect.void : Effect.ignore(this.#send(topic, shown))
      }
    )
  })

  #evaluate(terms: ScreenTerms) {
    return this.#reader.screenNow(selectorsOf(terms), terms.limit ?? screenDefaults.rows)
  }

  readonly #send = Effect.fnUntraced({ self: this }, function* (this: LiveScreens, topic: Topic, shown: Shown) {
    const { terms } = topic
    if (terms.channel !== "screen") {
      return
    }
    const clock = yield* Clock.Clock
    shown.evaluatedAtMs = monotonicMs(clock)
    const page = yield* this.#evaluate(terms)
    const atMs = monotonicMs(clock)
    const texts = textsOf(page.data)
    const change = changeOf(shown.texts, texts, page)
    if (isChange(change) || atMs - shown.sentAtMs >= CONFIRM_MS) {
      Object.assign(shown, { page, texts, sentAtMs: atMs })
      const frames = new TopicFrames()
      frames.add([topic], "screen", () => change)
      this.#hub.publish(frames.batches, clock.currentTimeMillisUnsafe())
    }
  })
}
