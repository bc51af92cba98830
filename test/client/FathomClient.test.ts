/** The Effect client against the service. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { Socket } from "effect/socket"
import { FathomClient } from "../../src/client/FathomClient.ts"
import { quoteStream } from "../../src/client/quoteFrames.ts"
import { trackerEvents, trackerSession } from "../../src/client/trackerEvents.ts"
import { SOL } from "../../src/domain/Address.ts"
import { Listening } from "../../src/http/server/NodeServer.ts"
import { keyOf, running, secretOf } from "../support/http.ts"
import { liveService, trackAll } from "../support/live.ts"
import { engineOver, LONELY, makeMarket, TOKEN } from "../support/market.ts"
import { walletOf } from "../wallets/tracker/liveScene.ts"

const client = Layer.unwrap(
  Effect.map(Listening, ({ url }) => FathomClient.layer({ baseUrl: url, key: secretOf("a"), retry: { tries: 1 } }))
).pipe(Layer.provide(FetchHttpClient.layer))

const world = client.pipe(Layer.provideMerge(running({ engine: engineOver(makeMarket()) })))

layer(world)("FathomClient", (it) => {
  const query = { inputMint: TOKEN, outputMint: SOL, amount: 1_000_000n, intervalMs: 250 }

  it.effect("streams quotes", () =>
    Effect.gen(function* () {
      const frames = quoteStream(yield* FathomClient, query)
      const [open, quote] = yield* frames.pipe(Stream.take(2), Stream.runCollect)
      assert.strictEqual(open?.event, "open")
      assert.strictEqual(quote?.event === "quote" && quote.data.quote.outAmount, 1_979_779n)
    })
  )

  it.effect("fails with the typed problem when a stream is rejected", () =>
    Effect.gen(function* () {
      const frames = quoteStream(yield* FathomClient, { ...query, inputMint: LONELY })
      const failure = yield* Effect.flip(Stream.runDrain(frames))
      assert.strictEqual(failure._tag, "RouteNotFound")
    })
  )
})

const keys = [keyOf("a", { accountId: "a", scopes: ["tracker.read"] })]

layer(client.pipe(Layer.provideMerge(liveService({ keys }))))("FathomClient, on the tracker", (it) => {
  it.effect("fails with the problem of the contract", () =>
    Effect.gen(function* () {
      const denied = FathomClient.layer({ baseUrl: (yield* Listening).url, key: "unknown" })
      const session = FathomClient.use(trackerSession).pipe(
        Effect.provide(denied.pipe(Layer.provide(FetchHttpClient.layer)))
      )
      const { code, status } = yield* Effect.flip(session)
      assert.deepStrictEqual([code, status], ["invalid_api_key", 401])
    })
  )

  it.effect("streams the events of tracked wallets", () =>
    Effect.gen(function* () {
      yield* trackAll([walletOf(1)], "a")
      const events = trackerEvents({ session: trackerSession(yield* FathomClient) })
      const [first] = yield* events.pipe(
        Stream.take(1),
        Stream.provide(Socket.layerWebSocketConstructorGlobal),
        Stream.runCollect
      )
      assert.strictEqual(first?.type, "snapshot")
    })
  )
})
