import {
  type Channel,
  type EndCode,
  type ResumePoint,
  type SubscribeMessage,
  subscriptionCosts
} from "../../api/schemas/MarketFrame.ts"
import { FrameSequence } from "../FrameSequence.ts"
import type { SharedFrame } from "../frames.ts"
import type { LiveConnection } from "../LiveConnection.ts"
import { jsonOf } from "../../domain/jsonOf.ts"
import type { MarketGrant } from "./MarketTickets.ts"

type OfMessage<M> = M extends SubscribeMessage ? Omit<M, "id" | "op" | "resume"> : never

/** Channel and parameters of a subscription. */
export type Terms = OfMessage<SubscribeMessage>

/** The terms of a message. */
export const termsOf = ({ id: _id, op: _op, resume: _resume, ...terms }: SubscribeMessage): Terms => terms

/** Text that is the same for equal terms. */
export const keyOf = (terms: Terms): string => jsonOf(Object.entries(terms).toSorted(([a], [b]) => (a < b ? -1 : 1)))

/** Channels in which a slow reader gets only the newest frame. */
const COALESCED: ReadonlySet<Channel> = new Set(["candles", "price", "movers", "holders", "quote", "freshness"])

/** Frames that even a reader of newest frames gets: no later frame replaces them. */
export const WHOLE: ReadonlySet<string> = new Set(["candle_closed", "gap"])

/** The address under which the feed finds a topic of a channel; empty for the whole channel. */
const addressOf = (terms: Terms): string => {
  switch (terms.channel) {
    case "trades":
      return terms.mint ?? terms.pool ?? terms.wallet ?? ""
    case "liquidity":
    case "candles":
      return terms.mint ?? terms.pool ?? ""
    case "price":
      return terms.mint
    default:
      return ""
  }
}

/** Units that the terms cost per minute. */
export const costOf = (terms: Terms): number => {
  const isAll = terms.channel === "trades" && (terms.mint ?? terms.pool ?? terms.wallet) === undefined
  return isAll ? subscriptionCosts.allTrades : subscriptionCosts[terms.channel]
}

/**
 * The frames of one set of terms, numbered once for all its readers. The ticks of a quote have one reader, who pays for
 * them.
 */
export class Topic extends FrameSequence {
  readonly key: string
  readonly terms: Terms
  readonly address: string
  readonly isCoalesced: boolean
  readonly readers = new Set<Subscription>()

  /** `owner` is the name of the only reader. Empty for a topic that anybody may read. */
  constructor(terms: Terms, owner: string) {
    super()
    this.key = `${owner}${keyOf(terms)}`
    this.terms = terms
    this.address = addressOf(terms)
    this.isCoalesced = COALESCED.has(terms.channel)
  }

  protected override isForgettable({ type }: SharedFrame): boolean {
    return !(this.isCoalesced && WHOLE.has(type))
  }
}

/** One subscription of a stream: a reader of a topic. Its numbers are the topic's minus `base`. */
export interface Subscription {
  readonly id: string
  readonly topic: Topic
  readonly stream: MarketStream
  readonly mark: string
  /** Number of the topic's frame that the snapshot replaces. */
  base: number
  /** Number of the topic's last frame that was sent or skipped. */
  sent: number
  /** False until its snapshot is sent. */
  isOpen: boolean
  /** Paid up to this time, in milliseconds. */
  paidUntilMs: number
}

/** The subscriptions of one client. They stay when its connection closes, so that the client can resume them. */
export class MarketStream {
  readonly grant: MarketGrant
  readonly openedAtMs: number
  readonly subscriptions = new Map<string, Subscription>()
  connection: LiveConnection<MarketStream> | null = null
  /** Time of the disconnect; null while connected. */
  left: { readonly atMs: number } | null = null
  /** Messages of the current minute, and its start. */
  messages = { fromMs: 0, count: 0 }

  constructor(grant: MarketGrant, nowMs: number) {
    this.grant = grant
    this.openedAtMs = nowMs
  }
}

/** A subscription that waits for its charge and its snapshot. */
export interface Opening {
  readonly subscription: Subscription
  readonly resume: ResumePoint | null
}

/** The end of a subscription. */
export interface Ending {
  readonly code: EndCode
  readonly message: string
  readonly retryAfterMs?: number | null
}
