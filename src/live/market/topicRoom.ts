/** Limits of topics that a process evaluates again and again: how many there may be, and how many one account may bring. */
import type { Channel } from "../../api/schemas/MarketFrame.ts"
import type { MarketHub } from "./MarketHub.ts"
import type { Ending, Subscription, Topic } from "./Topic.ts"

/** The limits of a channel. */
export interface RoomLimits {
  readonly channel: Channel
  /** Most topics of this process. */
  readonly most: number
  /** Most topics that count for one account. */
  readonly share: number
  /** Names a number of topics, for messages. */
  readonly named: (count: number) => string
}

const full = (message: string): Ending => ({ code: "rate_limited", message, retryAfterMs: 30_000 })

/**
 * The room of a channel. A topic takes room while a subscription that was let in reads it. It counts for the account
 * that opened it, however many others join. When that account leaves, the topic counts for the next one that stays.
 */
export class TopicRoom {
  readonly #hub: MarketHub
  readonly #limits: RoomLimits
  readonly #entered = new WeakSet<Subscription>()
  readonly #holders = new WeakMap<Topic, string>()

  constructor(hub: MarketHub, limits: RoomLimits) {
    this.#hub = hub
    this.#limits = limits
  }

  /** Lets a subscription of the channel in: null. Returns its end when it wants a new topic that there is no room for. */
  enter(subscription: Subscription): Ending | null {
    const { topic } = subscription
    const ending = this.#isOpen(topic) ? null : this.#refusal(subscription.stream.grant.accountId)
    if (ending === null) {
      this.#entered.add(subscription)
      this.#holderOf(topic)
    }
    return ending
  }

  #refusal(accountId: string): Ending | null {
    const { channel, most, named, share } = this.#limits
    const open = Array.from(this.#hub.topicsOf(channel)).filter((topic) => this.#isOpen(topic))
    if (open.length >= most) {
      return full(`This process follows ${named(most)} for subscriptions already.`)
    }
    const own = open.filter((topic) => this.#holderOf(topic) === accountId)
    return own.length >= share ? full(`This process follows ${named(share)} for your account already.`) : null
  }

  #isOpen({ readers }: Topic): boolean {
    return readers.values().some((reader) => this.#entered.has(reader))
  }

  #holderOf(topic: Topic): string | undefined {
    const holder = this.#holders.get(topic)
    const accounts = () =>
      topic.readers
        .values()
        .filter((reader) => this.#entered.has(reader))
        .map(({ stream }) => stream.grant.accountId)
    if (holder !== undefined && accounts().some((account) => account === holder)) {
      return holder
    }
    const next = accounts().next().value
    if (next !== undefined) {
      this.#holders.set(topic, next)
    }
    return next
  }
}
