/** Quotes on the market socket: the ticks of a quote stream, which go on as long as their connection. */
import { Clock, Effect, type Fiber, type Scope } from "effect"
import type { Charge } from "../../api/schemas/Budget.ts"
import { EndCode, type SubscribeMessage } from "../../api/schemas/MarketFrame.ts"
import type { QuoteRefusal } from "../../api/schemas/Quote.ts"
import { type Frame, type StreamTerms, tickDefaults } from "../../api/schemas/QuoteStream.ts"
import { Requester } from "../../quotes/pools/Requester.ts"
import { describeRefusal, NOT_SEARCHED_RETRY_MS } from "../../quotes/describeRefusal.ts"
import { QuoteSession } from "../../quotes/QuoteSession.ts"
import { QuoteTicks, tickRequest } from "../../quotes/QuoteTicks.ts"
import { countedMeter, runTicks, type TickMeter } from "../../quotes/runTicks.ts"
import { monotonicMs } from "../../domain/loopTime.ts"
import { TopicFrames } from "./blockFrames.ts"
import { type ChargeParts, endingOf, OPERATION } from "./charges.ts"
import type { MarketGrant } from "./MarketTickets.ts"
import type { Ending, MarketStream, Opening, Terms, Topic } from "./Topic.ts"

type QuoteTerms = Extract<Terms, { readonly channel: "quote" }>

/** The ticks of the quotes that have a reader. */
export interface LiveQuotes {
  /** Sends the first tick of a quote as its snapshot, and starts its ticks. */
  readonly open: (opening: Opening) => Effect.Effect<void, Ending>
  /** Ends the ticks of a topic that has no reader. */
  readonly stop: (topic: Topic) => void
  /** Ends the ticks of a stream that has no connection. */
  readonly detached: (stream: MarketStream) => void
}

/** Ticks that go on until their reader leaves. */
const streamTerms = (terms: QuoteTerms & Partial<SubscribeMessage>): StreamTerms => ({
  inputMint: terms.inputMint,
  outputMint: terms.outputMint,
  amount: terms.amount,
  outputDecimals: terms.outputDecimals ?? null,
  slippageBps: terms.slippageBps ?? tickDefaults.slippageBps,
  intervalMs: terms.intervalMs ?? tickDefaults.intervalMs,
  durationSeconds: Number.POSITIVE_INFINITY,
  changesOnly: terms.changesOnly ?? false
})

const retryAfterMs = (refusal: QuoteRefusal): number | null => {
  switch (refusal._tag) {
    case "StateCold":
      return refusal.readyInMs ?? null
    case "TooManyColdMints":
      return refusal.fitsInMs
    case "PoolsNotSearched":
      return NOT_SEARCHED_RETRY_MS
    default:
      return null
  }
}

/** Ends a quote whose first tick has no price. Refunds its unit when this service is at fault. */
const refused = (meter: TickMeter, charge: Charge) => (refusal: QuoteRefusal) => {
  const { code, message, isOurFault } = describeRefusal(refusal)
  const ending: Ending = { code, message, retryAfterMs: retryAfterMs(refusal) }
  return Effect.andThen(isOurFault ? Effect.ignore(meter.refund(charge)) : Effect.void, Effect.fail(ending))
}

const isEndCode = (code: string): code is EndCode => EndCode.literals.some((known) => known === code)

/** The end of a quote when its ticks fail. */
const endingAfter = (last: { readonly code: string; readonly message: string } | null): Ending => ({
  code: last !== null && isEndCode(last.code) ? last.code : "data_unavailable",
  message: last?.message ?? "The quote could not be priced: subscribe again."
})

const framesOf = { quote: "quote", error: "quote_error", throttled: "quote_throttled" } as const

/** The frame without its number in the quote stream: its subscription numbers it. */
const bodyOf = ({ data: { atMs: _at, seq: _seq, streamId: _id, ...body } }: Frame): object => body

/** Quotes of a hub until the scope closes. */
export const makeLiveQuotes = Effect.fnUntraced(function* ({
  hub,
  limiter,
  usage
}: ChargeParts): Effect.fn.Return<LiveQuotes, never, QuoteTicks | Scope.Scope> {
  const { quote, tickQuote, wheel } = yield* QuoteTicks
  const scope = yield* Effect.scope
  const clock = yield* Clock.Clock
  const now = () => clock.currentTimeMillisUnsafe()
  const runs = new Map<Topic, Fiber.Fiber<void>>()

  const stop = (topic: Topic): void => {
    const run = runs.get(topic)
    runs.delete(topic)
    run?.interruptUnsafe()
  }

  const meterOf = ({ accountId, keyId: id, plan }: MarketGrant): TickMeter =>
    countedMeter(
      {
        admit: (clock) => limiter.admit({ key: { id, plan }, budget: "quote", cost: 1 }, clock),
        refund: (charge) => limiter.refund(charge)
      },
      (units) => usage.addUnits({ id, accountId }, OPERATION, units)
    )

  /** Sends the first quote as the snapshot, later frames to the topic, and the last one as the end. */
  const sessionOf = (opening: Opening, terms: StreamTerms): QuoteSession => {
    const { subscription } = opening
    const { topic } = subscription
    let last: { readonly code: string; readonly message: string } | null = null
    return new QuoteSession("", terms, (frame) => {
      if (frame.event === "close") {
        hub.end(subscription, endingAfter(last), now())
      } else if (frame.event !== "open" && !subscription.isOpen) {
        hub.opened(opening, bodyOf(frame), now())
      } else if (frame.event !== "open") {
        last = frame.event === "error" ? frame.data.error : last
        const frames = new TopicFrames()
        frames.add([topic], framesOf[frame.event], () => bodyOf(frame))
        hub.publish(frames.batches, now())
      }
      return true
    })
  }

  const open = Effect.fnUntraced(function* (opening: Opening): Effect.fn.Return<void, Ending> {
    const { subscription } = opening
    const { stream, topic } = subscription
    if (topic.terms.channel !== "quote") {
      return
    }
    const terms = streamTerms(topic.terms)
    const request = tickRequest(terms)
    const meter = meterOf(stream.grant)
    const [startedAt, openedAtMs] = [monotonicMs(clock), now()]
    const charge = yield* Effect.mapError(meter.admit(clock), (error) => endingOf(error, now()))
    const first = yield* quote(request).pipe(
      Effect.tapDefect(() => Effect.ignore(meter.refund(charge))),
      Effect.catch(refused(meter, charge))
    )
    const session = sessionOf(opening, terms)
    session.open({ ...charge, remaining: charge.remaining + charge.cost }, openedAtMs)
    session.quoted(0, first, charge.remaining, now())
    if (!subscription.isOpen || !hub.isWanted(subscription)) {
      return
    }
    const run = { session, request, intervalMs: terms.intervalMs, durationMs: terms.durationSeconds, startedAt, meter }
    const fiber = yield* runTicks(wheel, tickQuote, run).pipe(
      Effect.catchDefect((defect) => {
        session.close("failed", now())
        return Effect.logError("A quote of the market socket failed", defect)
      }),
      Effect.forkIn(scope)
    )
    runs.set(topic, fiber)
    fiber.addObserver(() => runs.delete(topic))
  })

  return {
    open: (opening) => Effect.provideService(open(opening), Requester, opening.subscription.stream.grant.keyId),
    stop,
    detached: ({ subscriptions }) => subscriptions.forEach(({ topic }) => stop(topic))
  }
})
