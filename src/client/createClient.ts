/** The client without Effect: promises, plain data, one error class. */
import { type Brand, Cause, Context, Effect, Exit, Stream } from "effect"
import { FetchHttpClient, HttpClient, type HttpClientResponse } from "effect/http"
import type { HttpApi, HttpApiClient, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import type { Api } from "../api/Api.ts"
import type { StreamFrame } from "../api/Spot.ts"
import type { Frame } from "../api/schemas/QuoteStream.ts"
import { withFathomError } from "./withFathomError.ts"
import { FathomClient, type FathomClientOptions } from "./FathomClient.ts"
import { eventsOf, streamDecoders } from "./quoteFrames.ts"

/** Options of one call. */
export interface CallOptions {
  /** Aborts the call; its promise is rejected with the reason of the signal. */
  readonly signal?: AbortSignal
}

/** A value without brands. An address is any string until the service validates it. */
export type Plain<A> = A extends bigint | number | boolean | null | undefined
  ? A
  : A extends Brand.Brand<infer _Name>
    ? Brand.Brand.Unbranded<A>
    : A extends string
      ? A
      : { readonly [K in keyof A]: Plain<A[K]> }

type Part<Name extends string, A> = [A] extends [never]
  ? unknown
  : {} extends A
    ? { readonly [_ in Name]?: Plain<A> }
    : { readonly [_ in Name]: Plain<A> }

/** The parts of a request. Parts that may be empty are optional. */
export type Call<E extends HttpApiEndpoint.ConstraintRequest> = Part<"params", E["~Params"]["Type"]> &
  Part<"query", E["~Query"]["Type"]> &
  Part<"headers", E["~Headers"]["Type"]> &
  Part<"payload", E["~Payload"]["Type"]>

type FrameOf<Events> = Events extends typeof StreamFrame
  ? Frame
  : Events extends { readonly Type: infer Event }
    ? Event
    : never

type Answer<E extends HttpApiEndpoint.ConstraintRequest> =
  E["~Success"] extends HttpApiSchema.StreamSse<infer Events, infer _Error, infer _Value>
    ? AsyncIterable<FrameOf<Events>>
    : E["~Success"] extends HttpApiSchema.StreamUint8Array
      ? AsyncIterable<Uint8Array>
      : Promise<HttpApiClient.SuccessType<E["~Success"]>>

type Method<E extends HttpApiEndpoint.ConstraintRequest> =
  {} extends Call<E>
    ? (call?: Call<E>, options?: CallOptions) => Answer<E>
    : (call: Call<E>, options?: CallOptions) => Answer<E>

type Endpoints<Group extends HttpApiGroup.Constraint> = Group["endpoints"] extends infer Named extends Readonly<
  Record<string, HttpApiEndpoint.ConstraintRequest>
>
  ? { readonly [Id in keyof Named]: Method<Named[Id]> }
  : never

type GroupsOf<A> = A extends HttpApi.HttpApi<infer _Id, infer Groups> ? Groups : never

/** Every call of the contract, by group. Calls return promises; streams return an async iterable of their events. */
export type Client = {
  readonly [Group in GroupsOf<typeof Api> as HttpApiGroup.Identifier<Group>]: Endpoints<Group>
}

export interface ClientOptions extends Omit<FathomClientOptions, "key"> {
  /** The secret of an API key. */
  readonly key: string
  /** Replaces the `fetch` of the platform. */
  readonly fetch?: typeof globalThis.fetch
}

/** The last response during one call. */
interface LastResponse {
  response: HttpClientResponse.HttpClientResponse | undefined
}

const CurrentCall = Context.Reference<LastResponse>("fathom/client/createClient/CurrentCall", {
  defaultValue: () => ({ response: undefined })
})

const recordResponses = (http: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.transform(http, (send) =>
    Effect.tap(send, (response) => Effect.map(CurrentCall, (last) => void (last.response = response)))
  )

type Send = (call: object) => Effect.Effect<unknown, unknown>

/** Sends a call; every failure becomes a `FathomError`. */
const sendCall = (send: Send, call: object | undefined) =>
  Effect.suspend(() => {
    const last: LastResponse = { response: undefined }
    return withFathomError(Effect.provideService(send({ query: {}, headers: {}, ...call }), CurrentCall, last), last)
  })

const run = async <A>(effect: Effect.Effect<A, unknown>, signal: AbortSignal | undefined): Promise<A> => {
  signal?.throwIfAborted()
  const exit = await Effect.runPromiseExit(effect, { signal })
  if (Exit.isSuccess(exit)) {
    return exit.value
  }
  signal?.throwIfAborted()
  throw Cause.squash(exit.cause)
}

/** Fails with the reason of the signal once it is aborted. */
const aborted = (signal: AbortSignal) =>
  Effect.callback<never, unknown>((resume) => {
    const fail = () => resume(Effect.fail(signal.reason))
    if (signal.aborted) {
      fail()
      return
    }
    signal.addEventListener("abort", fail, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", fail))
  })

/** The stream as an async iterable. Leaving the loop or aborting the signal ends the stream. */
export const iterableOf = <A>(stream: Stream.Stream<A, unknown>, signal: AbortSignal | undefined): AsyncIterable<A> =>
  Stream.toAsyncIterable(signal === undefined ? stream : Stream.interruptWhen(stream, aborted(signal)))

type Sends = Readonly<Record<string, Readonly<Record<string, Send>>>>
type Pair = readonly [unknown, HttpClientResponse.HttpClientResponse]

type StreamId = keyof typeof streamDecoders

const isStreamId = (id: string): id is StreamId => Object.hasOwn(streamDecoders, id)

const streamFrames = (id: StreamId, send: Send, call: object | undefined): Stream.Stream<unknown, unknown> =>
  sendCall(send, { ...call, responseMode: "decoded-and-response" }).pipe(
    // This mode returns the decoded value and its response. The frames are read from the bytes, because heartbeats
    // between them must restart the silence timeout.
    Effect.map((pair) => eventsOf<{ readonly event: string }, unknown>((pair as Pair)[1].stream, streamDecoders[id])),
    Stream.unwrap
  )

/** Calls whose answer is a file: an async iterable of its bytes. */
const FILES: ReadonlySet<string> = new Set(["exports.day"])

/** The bytes of a file. */
const fileBytes = (send: Send, call: object | undefined): Stream.Stream<Uint8Array, unknown> =>
  Stream.unwrap(Effect.map(sendCall(send, call), (answer) => answer as Stream.Stream<Uint8Array, unknown>))

const methodOf = (id: string, send: Send) => {
  if (isStreamId(id)) {
    return (call?: object, { signal }: CallOptions = {}) => iterableOf(streamFrames(id, send, call), signal)
  }
  return FILES.has(id)
    ? (call?: object, { signal }: CallOptions = {}) => iterableOf(fileBytes(send, call), signal)
    : (call?: object, { signal }: CallOptions = {}) => run(sendCall(send, call), signal)
}

const httpClient = (fetch: ClientOptions["fetch"]): HttpClient.HttpClient => {
  const http = Effect.runSync(Effect.provide(HttpClient.HttpClient, FetchHttpClient.layer))
  return fetch === undefined
    ? http
    : http.pipe(HttpClient.transform((send) => Effect.provideService(send, FetchHttpClient.Fetch, fetch)))
}

/** Makes the client of one service. Nothing is sent before the first call. */
export const createClient = ({ fetch, ...options }: ClientOptions): Client => {
  const client = FathomClient.pipe(
    Effect.provide(FathomClient.layer(options)),
    Effect.provideService(HttpClient.HttpClient, recordResponses(httpClient(fetch))),
    Effect.runSync
  )
  // Both types derive from the contract, but no type relates all groups and calls at once.
  const groups = Object.entries(client as unknown as Sends).map(([group, sends]) => {
    const methods = Object.entries(sends).map(([name, send]) => [name, methodOf(`${group}.${name}`, send)])
    return [group, Object.fromEntries(methods)]
  })
  return Object.fromEntries(groups)
}
