/** What the live streams of the promise client share: how they get a session, and their WebSocket. */
import { Effect, Stream } from "effect"
import { Socket } from "effect/socket"
import { type CallOptions, iterableOf } from "./createClient.ts"
import { withFathomError } from "./withFathomError.ts"

export interface SocketOptions {
  /** Ends the loop with the reason of the signal. */
  readonly signal?: AbortSignal
  /** Replaces the `WebSocket` of the platform. With the package `ws`: `(url) => new WebSocket(url)`. */
  readonly webSocket?: (url: string) => Socket.WebSocketLike
}

const platformSocket = (): NonNullable<SocketOptions["webSocket"]> => {
  if (typeof WebSocket === "undefined") {
    throw new TypeError(
      "This platform has no WebSocket. Use Node 22 or later, or pass one: { webSocket: (url) => new WebSocket(url) } with the package ws."
    )
  }
  return (url) => new WebSocket(url)
}

/** Requests a session with a call of the promise client. */
export const sessionOf = <A>(call: (options: CallOptions) => Promise<A>) =>
  withFathomError(Effect.tryPromise({ try: (signal) => call({ signal }), catch: (failure) => failure }))

/** The events as an async iterable. Throws a `TypeError` at once when there is no WebSocket to use. */
export const eventsOver = <A>(
  events: Stream.Stream<A, unknown, Socket.WebSocketConstructor>,
  { signal, webSocket = platformSocket() }: SocketOptions
): AsyncIterable<A> => iterableOf(Stream.provideService(events, Socket.WebSocketConstructor, webSocket), signal)
