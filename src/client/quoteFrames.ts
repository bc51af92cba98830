/** The frames of a quote stream from the bytes of its answer. */
import { Effect, Schema, Stream } from "effect"
import { Sse } from "effect/encoding"
import { StreamFrame } from "../api/Spot.ts"
import type { Frame } from "../domain/quotes/QuoteStream.ts"
import type { FathomClient } from "./FathomClient.ts"
import { FathomError, ownError } from "./FathomError.ts"

/** The service says at least a heartbeat every twenty seconds: two of them and a half may be missed. */
export const SILENCE = "50 seconds"

/** More than any frame needs. */
const LONGEST_FRAME = 1024 * 1024

const decodeFrame = Schema.decodeUnknownEffect(StreamFrame)

const silent = () => Stream.fail(ownError("stream_silent", `Nothing was heard of the stream for ${SILENCE}.`))

const broken = (cause: unknown) =>
  cause instanceof FathomError ? cause : ownError("stream_broken", "The connection of the stream was lost.")

const events = (text: Stream.Stream<string, FathomError>): Stream.Stream<Sse.Event, FathomError> =>
  Stream.suspend(() => {
    const heard: Array<Sse.Event> = []
    const parser = Sse.makeParser((event) => event._tag === "Event" && heard.push(event), {
      maxEventSize: LONGEST_FRAME
    })
    return text.pipe(
      Stream.mapEffect((chunk) => {
        const fault = parser.feed(chunk)
        return fault === undefined
          ? Effect.succeed(heard.splice(0))
          : Effect.fail(ownError("invalid_answer", fault.message, 200))
      }),
      Stream.flattenIterable
    )
  })

/**
 * The frames in order, up to and including `close`. Fails with `stream_silent` when neither frame nor heartbeat arrives for
 * too long, with `stream_broken` when the bytes end before the stream does, and with `invalid_answer` at a frame that the
 * contract does not know.
 */
export const framesOf = <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<Frame, FathomError> =>
  bytes.pipe(
    Stream.mapError(broken),
    Stream.timeoutOrElse({ duration: SILENCE, orElse: silent }),
    Stream.decodeText,
    events,
    Stream.mapEffect((event) =>
      Effect.mapError(decodeFrame(event), ({ message }) => ownError("invalid_answer", message, 200))
    ),
    Stream.concat(Stream.fail(ownError("stream_broken", "The stream ended without its last frame."))),
    Stream.takeUntil(({ event }) => event === "close")
  )

type StreamQuery = Parameters<FathomClient["Service"]["spot"]["stream"]>[0]["query"]

/** The quote stream for callers of the Effect client: refused like any call, and watched over once it is open. */
export const quoteStream = (client: FathomClient["Service"], query: StreamQuery) =>
  client.spot.stream({ query, responseMode: "decoded-and-response" }).pipe(
    Effect.map(([, response]) => framesOf(response.stream)),
    Stream.unwrap
  )
