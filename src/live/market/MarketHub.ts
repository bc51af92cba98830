import { Result } from "effect"
import {
  type Channel,
  type MarketControlFrame,
  MAX_SUBSCRIPTIONS,
  type ResumePoint,
  type SubscribeMessage
} from "../../api/schemas/MarketFrame.ts"
import type { LiveGap } from "../../api/schemas/LiveFrame.ts"
import type { FeedHealth } from "../FeedHealth.ts"
import { encodeFrame, type FrameRun, type SharedFrame } from "../frames.ts"
import { type ConnectionOwner, type Fault, LiveConnection } from "../LiveConnection.ts"
import { type HubLimits, LiveHub } from "../LiveHub.ts"
import type { LiveWire } from "../LiveWire.ts"
import { jsonOf } from "../../domain/jsonOf.ts"
import type { MarketGrant } from "./MarketTickets.ts"
import { newestRuns } from "./newestRuns.ts"
import { readMessage } from "./readMessage.ts"
import {
  type Ending,
  keyOf,
  MarketStream,
  type Opening,
  type Subscription,
  type Terms,
  termsOf,
  Topic
} from "./Topic.ts"

/** With this many unsent bytes, a reader gets only the newest frame of a price or a candle. */
export const COALESCE_FROM = 64 * 1024
/** Most messages of a connection in a minute. */
export const MOST_MESSAGES = 300
const MINUTE_MS = 60_000

const NO_TOPICS: ReadonlySet<Topic> = new Set()

type Connection = LiveConnection<MarketStream>

/** The sources of a hub. */
export interface MarketHubSources {
  readonly health: (nowMs: number) => FeedHealth
  /** Takes an accepted subscription. `opened` or `end` follows. */
  readonly opening: (opening: Opening) => void
  /** Takes a topic that has lost its last reader. */
  readonly released?: (topic: Topic) => void
  /** Takes a stream whose connection is closed. */
  readonly detached?: (stream: MarketStream) => void
}

/**
 * The streams of the market socket. Each set of terms is one topic. Its frames are encoded and numbered once, however
 * many subscriptions read it.
 */
export class MarketHub extends LiveHub<MarketGrant, MarketStream> implements ConnectionOwner<MarketStream> {
  readonly #sources: MarketHubSources
  readonly #topics = new Map<string, Topic>()
  /** Topics by channel, then by address. Keys that were joined for every trade would have to be hashed again. */
  readonly #index = new Map<Channel, Map<string, Set<Topic>>>()
  // Subscriptions that skipped frames and have not got the newest one yet.
  readonly #behind = new Set<Subscription>()

  constructor(sources: MarketHubSources, limits: HubLimits) {
    super(limits)
    this.#sources = sources
  }

  /** Topics in use. */
  get topics(): Iterable<Topic> {
    return this.#topics.values()
  }

  /** True while a topic is in use. */
  get hasTopics(): boolean {
    return this.#topics.size > 0
  }

  /** The topics of a channel that concern an address; without one, those of the whole channel. */
  topicsOf(channel: Channel, address = ""): ReadonlySet<Topic> {
    return this.#index.get(channel)?.get(address) ?? NO_TOPICS
  }

  /** Opens a stream without subscriptions; null at the connection limit. */
  open(grant: MarketGrant, wire: LiveWire, nowMs: number): Connection | null {
    if (this.isFull) {
      return null
    }
    const stream = new MarketStream(grant, nowMs)
    const connection = new LiveConnection(stream, wire, this, nowMs)
    stream.connection = connection
    this.admit(connection, nowMs)
    const { streamId } = grant
    this.#control(stream, { type: "open", streamId, subscriptions: MAX_SUBSCRIPTIONS, sentAtMs: nowMs })
    return connection
  }

  handle(connection: Connection, message: { readonly op: unknown } | null, nowMs: number): Fault | null {
    const { stream } = connection
    if (nowMs - stream.messages.fromMs >= MINUTE_MS) {
      stream.messages = { fromMs: nowMs, count: 0 }
    }
    if (++stream.messages.count > MOST_MESSAGES) {
      return { code: "rate_limited", message: `Send at most ${MOST_MESSAGES} messages a minute.` }
    }
    const read = readMessage(message)
    if (Result.isFailure(read)) {
      return read.failure
    }
    return read.success.op === "subscribe"
      ? this.#subscribe(stream, read.success, nowMs)
      : this.#unsubscribe(stream, read.success.id, nowMs)
  }

  /** Subscribes an open stream, as a message of its client would. Returns the fault, or null. */
  subscribe(streamId: string, message: SubscribeMessage, nowMs: number): Fault | null {
    const stream = this.held.get(streamId)
    return stream === undefined ? null : this.#subscribe(stream, message, nowMs)
  }

  heartbeat({ subscriptions }: MarketStream): { readonly subscriptions: number } {
    return { subscriptions: subscriptions.size }
  }

  /** True while the subscription is wanted by a connected client. */
  isWanted(subscription: Subscription): boolean {
    const { id, stream } = subscription
    return stream.connection !== null && stream.subscriptions.get(id) === subscription
  }

  /** Sends the snapshot of a subscription, and the frames after the number it resumes from. Later frames follow. */
  opened({ resume, subscription }: Opening, data: unknown, nowMs: number): void {
    if (!this.isWanted(subscription)) {
      return
    }
    const { topic } = subscription
    const resumed = resume === null ? null : this.#resume(subscription, resume, nowMs)
    const missed = resumed !== null && "missed" in resumed ? resumed.missed : null
    subscription.base = missed === null ? topic.last : subscription.base
    subscription.sent = topic.last
    subscription.isOpen = true
    const snapshot = this.#snapshot(
      subscription,
      data,
      resumed !== null && "gap" in resumed ? resumed.gap : null,
      missed
    )
    const seq = missed === null ? 0 : (resume?.seq ?? 0)
    const { connection } = subscription.stream
    const runs: Array<FrameRun> = [{ frames: snapshot, firstSeq: seq, mark: subscription.mark }]
    if (missed !== null) {
      runs.push({ frames: missed, firstSeq: seq + 1, mark: subscription.mark })
      connection?.replay(runs, nowMs)
    } else if (connection !== null) {
      this.#deliver(connection, runs, nowMs)
    }
  }

  /** Ends a subscription with a frame that states the reason. */
  end(subscription: Subscription, { code, message, retryAfterMs = null }: Ending, nowMs: number): void {
    const { id, stream } = subscription
    if (stream.subscriptions.get(id) === subscription) {
      stream.subscriptions.delete(id)
      this.#control(stream, { type: "ended", id, code, message, retryAfterMs, sentAtMs: nowMs })
    }
    this.#release(subscription)
  }

  /** Sends frames to the readers of their topics, in one write per connection. */
  publish(batches: ReadonlyMap<Topic, ReadonlyArray<SharedFrame>>, nowMs: number): void {
    const runs = new Map<Connection, Array<FrameRun>>()
    for (const [topic, frames] of batches) {
      const first = topic.push(frames)
      for (const subscription of topic.readers) {
        const { connection } = subscription.stream
        if (connection !== null && subscription.isOpen) {
          const own = runs.get(connection) ?? []
          runs.set(connection, own)
          own.push(...this.#runsOf(connection, subscription, frames, first, nowMs))
        }
      }
    }
    for (const [connection, own] of runs) {
      this.#deliver(connection, own, nowMs)
    }
    // After the frames were sent, because frames that do not fit into the buffer are dropped at once.
    const distinct = new Set(Array.from(batches.values()).flat())
    distinct.forEach((frame) => this.replay.add(frame, nowMs))
  }

  /** Sends the newest frame to readers that skipped some and have caught up. */
  catchUp(nowMs: number): void {
    for (const subscription of Array.from(this.#behind)) {
      const { connection } = subscription.stream
      if (connection === null || !subscription.topic.readers.has(subscription)) {
        this.#behind.delete(subscription)
      } else if (connection.unsentBytes <= COALESCE_FROM) {
        this.#deliver(connection, this.#newestOf(subscription, nowMs), nowMs)
      }
    }
  }

  override *tickInSteps(nowMs: number): Generator<void, void> {
    // First, because blocks may be published between two steps.
    this.catchUp(nowMs)
    yield* super.tickInSteps(nowMs)
  }

  protected override health(nowMs: number): FeedHealth {
    return this.#sources.health(nowMs)
  }

  protected override detach(connection: Connection, nowMs: number): void {
    const { stream } = connection
    if (stream.connection === connection) {
      stream.connection = null
      stream.left = { atMs: nowMs }
      this.#sources.detached?.(stream)
    }
  }

  protected override drop(stream: MarketStream): void {
    stream.subscriptions.forEach((subscription) => this.#release(subscription))
    stream.subscriptions.clear()
  }

  #subscribe(stream: MarketStream, message: SubscribeMessage, nowMs: number): Fault | null {
    const { id, resume = null } = message
    if (stream.subscriptions.has(id)) {
      return { code: "duplicate_subscription", message: "A subscription has this id.", detail: { id, field: "id" } }
    }
    if (stream.subscriptions.size >= MAX_SUBSCRIPTIONS) {
      const text = `A connection has ${MAX_SUBSCRIPTIONS} subscriptions at most.`
      return { code: "too_many_subscriptions", message: text, detail: { id, field: null } }
    }
    const subscription: Subscription = {
      id,
      topic: this.#topicOf(termsOf(message), message.channel === "quote" ? `${stream.grant.streamId} ${id} ` : ""),
      stream,
      mark: `,"id":"${id}"`,
      base: -1,
      sent: -1,
      isOpen: false,
      paidUntilMs: stream.grant.paidUntilMs ?? nowMs
    }
    stream.subscriptions.set(id, subscription)
    subscription.topic.readers.add(subscription)
    this.#sources.opening({ subscription, resume })
    return null
  }

  #unsubscribe(stream: MarketStream, id: string, nowMs: number): Fault | null {
    const subscription = stream.subscriptions.get(id)
    if (subscription === undefined) {
      return { code: "unknown_subscription", message: "No subscription has this id.", detail: { id, field: "id" } }
    }
    this.end(subscription, { code: "unsubscribed", message: "As asked." }, nowMs)
    return null
  }

  /**
   * The frames after a number of an earlier stream whose subscription this one takes over; a gap when they are gone.
   */
  #resume(
    subscription: Subscription,
    { seq, streamId }: ResumePoint,
    nowMs: number
  ): { readonly missed: ReadonlyArray<SharedFrame> } | { readonly gap: LiveGap } {
    const { grant } = subscription.stream
    const old = this.held.get(streamId)
    const before = old?.subscriptions.get(subscription.id)
    const isResumable =
      old !== undefined &&
      old !== subscription.stream &&
      old.grant.accountId === grant.accountId &&
      old.grant.keyId === grant.keyId &&
      old.grant.session === grant.session &&
      before?.isOpen === true &&
      keyOf(before.topic.terms) === keyOf(subscription.topic.terms)
    if (!isResumable) {
      return { gap: { fromMs: null, toMs: nowMs, reason: "unknown_stream" } }
    }
    if (old.connection !== null) {
      const { connection: stale } = old
      stale.close(4409, "resumed elsewhere")
      this.closed(stale, nowMs)
    }
    // The ticks of a quote end with their connection, so there are none to resume.
    const missed = before.topic === subscription.topic ? subscription.topic.after(before.base + seq) : null
    subscription.base = before.base
    old.subscriptions.delete(before.id)
    this.#release(before)
    return missed === null ? { gap: { fromMs: old.left?.atMs ?? null, toMs: nowMs, reason: "expired" } } : { missed }
  }

  #snapshot(
    { topic }: Subscription,
    data: unknown,
    gap: LiveGap | null,
    missed: ReadonlyArray<SharedFrame> | null
  ): ReadonlyArray<SharedFrame> {
    const body = { channel: topic.terms.channel, resumed: missed !== null, gap, data }
    return [encodeFrame({ type: "snapshot", json: jsonOf(body) })]
  }

  #runsOf(
    connection: Connection,
    subscription: Subscription,
    frames: ReadonlyArray<SharedFrame>,
    first: number,
    nowMs: number
  ): ReadonlyArray<FrameRun> {
    if (!subscription.topic.isCoalesced) {
      subscription.sent = first + frames.length - 1
      return [{ frames, firstSeq: first - subscription.base, mark: subscription.mark }]
    }
    if (connection.unsentBytes > COALESCE_FROM) {
      this.#behind.add(subscription)
      return []
    }
    return this.#newestOf(subscription, nowMs)
  }

  #newestOf(subscription: Subscription, nowMs: number): ReadonlyArray<FrameRun> {
    const runs = newestRuns(subscription, nowMs)
    subscription.sent = subscription.topic.last
    this.#behind.delete(subscription)
    return runs
  }

  #deliver(connection: Connection, runs: ReadonlyArray<FrameRun>, nowMs: number): void {
    connection.deliver(runs, nowMs)
    if (connection.closed) {
      this.closed(connection, nowMs)
    }
  }

  #control({ connection }: MarketStream, frame: MarketControlFrame): void {
    connection?.control(frame)
  }

  #topicOf(terms: Terms, owner: string): Topic {
    const made = new Topic(terms, owner)
    const topic = this.#topics.get(made.key) ?? made
    this.#topics.set(topic.key, topic)
    const { channel } = topic.terms
    const topics = this.#index.get(channel) ?? new Map<string, Set<Topic>>()
    this.#index.set(channel, topics.set(topic.address, (topics.get(topic.address) ?? new Set()).add(topic)))
    return topic
  }

  #release(subscription: Subscription): void {
    const { topic } = subscription
    topic.readers.delete(subscription)
    this.#behind.delete(subscription)
    const topics = this.#index.get(topic.terms.channel)
    const others = topics?.get(topic.address)
    if (topic.readers.size === 0 && others?.delete(topic) === true) {
      this.#topics.delete(topic.key)
      this.#sources.released?.(topic)
      if (others.size === 0) {
        topics?.delete(topic.address)
      }
    }
  }
}
