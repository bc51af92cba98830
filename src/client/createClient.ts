/** The client for callers who do not write Effect: promises, plain data, one kind of error. */
import { type Brand, Cause, Context, Effect, Exit, Stream } from "effect"
import { FetchHttpClient, HttpClient, type HttpClientResponse } from "effect/http"
import type { HttpApi, HttpApiClient, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import type { Api } from "../api/Api.ts"
import type { Frame } from "../domain/quotes/QuoteStream.ts"
import { asFathomError } from "./FathomError.ts"
import { FathomClient, type FathomClientOptions } from "./FathomClient.ts"
import { framesOf } from "./quoteFrames.ts"

/** What may be said besides the call itself. */
export interface CallOptions {
  /** Gives the call up; its promise is then rejected with the reason of the signal. */
  readonly signal?: AbortSignal
}

/** A value as a caller writes it: an address is any string until the contract has looked at it. */
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

/** The parts of a request; those that may be empty may be left out. */
export type Call<E extends HttpApiEndpoint.ConstraintRequest> = Part<"params", E["~Params"]["Type"]> &
  Part<"query", E["~Query"]["Type"]> &
  Part<"headers", E["~Headers"]["Type"]> &
  Part<"payload", E["~Payload"]["Type"]>

type Answer<E extends HttpApiEndpoint.ConstraintRequest> =
  E["~Success"] extends HttpApiSchema.StreamSse<infer _Events, infer _Error, infer _Value>
    ? AsyncIterable<Frame>
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

/** Every call of the contract, by group. Each gives a promise; the quote stream gives an async iterable. */
export type Client = {
  readonly [Group in GroupsOf<typeof Api> as HttpApiGroup.Identifier<Group>]: Endpoints<Group>
}

/** Which service is called, as whom, and over what. */
export interface ClientOptions extends Omit<FathomClientOptions, "key"> {
  /** The secret of an API key. */
  readonly key: string
  /** In place of the `fetch` of the platform. */
  readonly fetch?: typeof globalThis.fetch
}

/** What the service sent last in the course of one call. */
interface Heard {
  response: HttpClientResponse.HttpClientResponse | undefined
}

const Hearing = Context.Reference<Heard>("fathom/client/createClient/Hearing", {
  defaultValue: () => ({ response: undefined })
})

const overhear = (http: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.transform(http, (send) =>
    Effect.tap(send, (response) => Effect.map(Hearing, (heard) => void (heard.response = response)))
  )

type Send = (call: object) => Effect.Effect<unknown, unknown>

/** A call of one's own, whose failure is told in one way. */
const telling = (send: Send, call: object | undefined) =>
  Effect.suspend(() => {
    const heard: Heard = { response: undefined }
    return send({ query: {}, ...call }).pipe(
      Effect.provideService(Hearing, heard),
      Effect.catch((failure) => Effect.flatMap(asFathomError(failure, heard.response), Effect.fail))
    )
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

/** Fails with the reason of the signal once it is given. */
const aborted = (signal: AbortSignal) =>
  Effect.callback<never, unknown>((resume) => {
    const give = () => resume(Effect.fail(signal.reason))
    if (signal.aborted) {
      give()
      return
    }
    signal.addEventListener("abort", give, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", give))
  })

/** The stream as something to loop over; leaving the loop, or the signal, ends it. */
export const iterableOf = <A>(stream: Stream.Stream<A, unknown>, signal: AbortSignal | undefined): AsyncIterable<A> =>
  Stream.toAsyncIterable(signal === undefined ? stream : Stream.interruptWhen(stream, aborted(signal)))

type Sends = Readonly<Record<string, Readonly<Record<string, Send>>>>
type Pair = readonly [unknown, HttpClientResponse.HttpClientResponse]

const quoteFrames = (send: Send, call: object | undefined): Stream.Stream<Frame, unknown> =>
  telling(send, { ...call, responseMode: "decoded-and-response" }).pipe(
    // What this mode gives: what was decoded, and the answer it came from. The frames are read from its bytes, because the
    // heartbeats between them count too.
    Effect.map((pair) => framesOf((pair as Pair)[1].stream)),
    Stream.unwrap
  )

const methodOf = (id: string, send: Send) =>
  id === "spot.stream"
    ? (call?: object, { signal }: CallOptions = {}) => iterableOf(quoteFrames(send, call), signal)
    : (call?: object, { signal }: CallOptions = {}) => run(telling(send, call), signal)

const httpClient = (fetch: ClientOptions["fetch"]): HttpClient.HttpClient => {
  const http = Effect.runSync(Effect.provide(HttpClient.HttpClient, FetchHttpClient.layer))
  return fetch === undefined
    ? http
    : http.pipe(HttpClient.transform((send) => Effect.provideService(send, FetchHttpClient.Fetch, fetch)))
}

/** The client of one service. Nothing is sent before the first call. */
export const createClient = ({ fetch, ...options }: ClientOptions): Client => {
  const client = FathomClient.pipe(
    Effect.provide(FathomClient.layer(options)),
    Effect.provideService(HttpClient.HttpClient, overhear(httpClient(fetch))),
    Effect.runSync
  )
  // Names and calls are those of the contract, of which both types are made; no type says so for all of them at once.
  const groups = Object.entries(client as unknown as Sends).map(([group, sends]) => {
    const methods = Object.entries(sends).map(([name, send]) => [name, methodOf(`${group}.${name}`, send)])
    return [group, Object.fromEntries(methods)]
  })
  return Object.fromEntries(groups)
}
