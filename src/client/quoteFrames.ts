/** Decodes the frames of event streams. */
import { Effect, Schema, Stream } from "effect"
import { Sse } from "effect/encoding"
import { CandlesEvent, LiquidityStreamEvent, TradesEvent } from "../api/MarketStreams.ts"
import { StreamFrame } from "../api/Spot.ts"
import type { Frame } from "../api/schemas/QuoteStream.ts"
import type { FathomClient } from "./FathomClient.ts"
import { FathomError, clientError } from "./FathomError.ts"
import { SILENCE_MS } from "./reconnect.ts"

/** Most bytes of one frame; longer than any frame of the contract. */
const LONGEST_FRAME = 1024 * 1024

/** A frame by the name of its event. Every stream ends with `close`. */
interface AnyFrame {
  readonly event: string
}

type Decode<A> = (event: Sse.Event) => Effect.Effect<A, Schema.SchemaError>

const decodeFrame: Decode<Frame> = Schema.decodeUnknownEffect(StreamFrame)

/** Decoders for the events of each stream, by operation id. */
export const streamDecoders = {
  "spot.stream": decodeFrame,
  "marketStreams.trades": Schema.decodeUnknownEffect(TradesEvent),
  "marketStreams.liquidity": Schema.decodeUnknownEffect(LiquidityStreamEvent),
  "marketStreams.candles": Schema.decodeUnknownEffect(CandlesEvent)
} as const

const silent = () =>
  Stream.fail(
    clientError("stream_silent", `The stream sent neither frames nor heartbeats for ${SILENCE_MS / 1000} seconds.`)
  )

const broken = (cause: unknown) =>
  cause instanceof FathomError
    ? cause
    : clientError("stream_broken", "The connection of the stream was lost.", { cause })

const events = (text: Stream.Stream<string, FathomError>): Stream.Stream<Sse.Event, FathomError> =>
  Stream.suspend(() => {
    const parsed: Array<Sse.Event> = []
    const parser = Sse.makeParser((event) => event._tag === "Event" && parsed.push(event), {
      maxEventSize: LONGEST_FRAME
    })
    return text.pipe(
      Stream.mapEffect((chunk) => {
        const fault = parser.feed(chunk)
        return fault === undefined
          ? Effect.succeed(parsed.splice(0))
          : Effect.fail(clientError("invalid_answer", fault.message, { status: 200 }))
      }),
      Stream.flattenIterable
    )
  })

/**
 * The frames in order, up to and including `close`. Fails with `stream_silent` when neither a frame nor a heartbeat
 * arrives for too long, with `stream_broken` when the bytes end before `close`, and with `invalid_answer` when a frame
 * does not fit the contract.
 */
export const eventsOf = <A extends AnyFrame, E>(
  bytes: Stream.Stream<Uint8Array, E>,
  decode: Decode<A>
): Stream.Stream<A, FathomError> =>
  bytes.pipe(
    Stream.mapError(broken),
    Stream.timeoutOrElse({ duration: SILENCE_MS, orElse: silent }),
    Stream.decodeText,
    events,
    Stream.mapEffect((event) =>
      Effect.mapError(decode(event), ({ message }) => clientError("invalid_answer", message, { status: 200 }))
    ),
    Stream.concat(Stream.fail(clientError("stream_broken", "The stream ended without its last frame."))),
    Stream.takeUntil(({ event }) => event === "close")
  )

/** `eventsOf` for a quote stream. */
export const framesOf = <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<Frame, FathomError> =>
  eventsOf(bytes, decodeFrame)

type StreamQuery = Parameters<FathomClient["Service"]["spot"]["stream"]>[0]["query"]

/**
 * The quote stream of the Effect client, with a silence timeout once it is open. A rejected stream fails like any call.
 */
export const quoteStream = (client: FathomClient["Service"], query: StreamQuery) =>
  client.spot.stream({ query, responseMode: "decoded-and-response" }).pipe(
    Effect.map(([, response]) => framesOf(response.stream)),
    Stream.unwrap
  )
