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
 * that opened it, however many others join. When that account leaves, the topic counts for the first account that reads
 * it and has room. When none has, `recount` ends the topic: otherwise accounts could collect what others have opened.
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
    const { accountId } = subscription.stream.grant
    const isOpen = this.#isOpen(topic)
    const ending = isOpen ? null : this.#refusal(accountId)
    if (ending === null) {
      this.#entered.add(subscription)
      if (!isOpen) {
        this.#holders.set(topic, accountId)
      }
    }
    return ending
  }

  /** Passes on the topics whose account has left, and ends those that no reading account has room for. */
  recount(nowMs: number): void {
    const { named, share } = this.#limits
    const ending = full(`The account that opened this has left, and yours has ${named(share)} already.`)
    for (const topic of this.#passOn()) {
      Array.from(topic.readers)
        .filter((reader) => this.#entered.has(reader))
        .forEach((reader) => this.#hub.end(reader, ending, nowMs))
    }
  }

  #refusal(accountId: string): Ending | null {
    const { most, named, share } = this.#limits
    this.#passOn()
    if (this.#open.length >= most) {
      return full(`This process follows ${named(most)} for subscriptions already.`)
    }
    return this.#countOf(accountId) >= share
      ? full(`This process follows ${named(share)} for your account already.`)
      : null
  }

  /** Counts each topic whose account has left for another reader's account. Returns the topics that none has room for. */
  #passOn(): ReadonlyArray<Topic> {
    return this.#open.filter((topic) => {
      if (this.#holderOf(topic) !== null) {
        return false
      }
      const next = this.#accountsOf(topic).find((account) => this.#countOf(account) < this.#limits.share)
      if (next !== undefined) {
        this.#holders.set(topic, next)
      }
      return next === undefined
    })
  }

  get #open(): ReadonlyArray<Topic> {
    return Array.from(this.#hub.topicsOf(this.#limits.channel)).filter((topic) => this.#isOpen(topic))
  }

  #isOpen(topic: Topic): boolean {
    return this.#accountsOf(topic).next().done !== true
  }

  /** How many topics count for an account. */
  #countOf(accountId: string): number {
    return this.#open.filter((topic) => this.#holderOf(topic) === accountId).length
  }

  /** The account that a topic counts for; null once this account has left. */
  #holderOf(topic: Topic): string | null {
    const holder = this.#holders.get(topic)
    return holder !== undefined && this.#accountsOf(topic).some((account) => account === holder) ? holder : null
  }

  /** The accounts that read a topic, in the order in which they came. */
  #accountsOf({ readers }: Topic): IteratorObject<string> {
    return readers
      .values()
      .filter((reader) => this.#entered.has(reader))
      .map(({ stream }) => stream.grant.accountId)
  }
}
