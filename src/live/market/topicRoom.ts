/** Limits of topics that a process evaluates again and again: how many there may be, and how many one account may bring. */
import type { Channel } from "../../api/schemas/MarketFrame.ts"
import type { MarketHub } from "./MarketHub.ts"
import type { Ending, Subscription, Topic } from "./Topic.ts"

/** The room of a channel. */
export interface TopicRoom {
  readonly channel: Channel
  /** Most topics of this process. */
  readonly most: number
  /** Most topics that only one account reads. */
  readonly share: number
  /** Names a number of topics, for messages. */
  readonly named: (count: number) => string
}

const full = (message: string): Ending => ({ code: "rate_limited", message, retryAfterMs: 30_000 })

/** The end of a subscription to a new topic that there is no room for; null when there is room. */
export const refusalIn = (
  hub: MarketHub,
  { channel, most, named, share }: TopicRoom,
  { stream, topic }: Pick<Subscription, "stream" | "topic">
): Ending | null => {
  const others = Array.from(hub.topicsOf(channel)).filter((other) => other !== topic)
  if (others.length >= most) {
    return full(`This process follows ${named(most)} for subscriptions already.`)
  }
  const { accountId } = stream.grant
  const isOwn = ({ readers }: Topic): boolean =>
    Array.from(readers).every((each) => each.stream.grant.accountId === accountId)
  return others.filter(isOwn).length >= share ? full(`Your account alone follows ${named(share)} already.`) : null
}
