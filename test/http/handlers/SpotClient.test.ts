import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { FetchHttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { Api } from "../../../src/api/Api.ts"
import { Authorization } from "../../../src/api/middleware/Authorization.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { createClient } from "../../../src/client/createClient.ts"
import { Listening } from "../../../src/http/server/NodeServer.ts"
import { running, secretOf } from "../../support/http.ts"
import { engineOver, LONELY, makeMarket, TOKEN } from "../../support/market.ts"
import { readerOver } from "../../wallets/readers.ts"
import { tradeOf, WALLET } from "../../wallets/trades.ts"

const authorized = HttpApiMiddleware.layerClient(Authorization, ({ next, request }) =>
  next(HttpClientRequest.bearerToken(request, secretOf("a")))
)

const client = Effect.flatMap(Listening, ({ url }) => HttpApiClient.make(Api, { baseUrl: url })).pipe(
  Effect.provide([authorized, FetchHttpClient.layer])
)

const pair = { inputMint: TOKEN, outputMint: SOL }

const wallets = readerOver({
  trades: { [WALLET]: [tradeOf({ mint: TOKEN, amount: 90_000_000n, held: { before: 0n, after: 90_000_000n } })] }
})

layer(Layer.orDie(running({ engine: engineOver(makeMarket()), wallets })))(
  "the client that the contract generates",
  (it) => {
    it.effect("understands a quote", () =>
      Effect.gen(function* () {
        const { spot } = yield* client
        const quote = yield* spot.quote({ query: { ...pair, amount: 1_000_000_000n, venues: ["pumpswap"] } })
        assert.strictEqual(quote.outAmount, 495_000_000n)
      })
    )

    it.effect("understands a refusal", () =>
      Effect.gen(function* () {
        const { spot } = yield* client
        const error = yield* Effect.flip(spot.quote({ query: { inputMint: LONELY, outputMint: SOL, amount: 5n } }))
        assert.strictEqual(error._tag, "RouteNotFound")
      })
    )

    it.effect("understands every frame of a stream", () =>
      Effect.gen(function* () {
        const { spot } = yield* client
        const frames = yield* spot.stream({ query: { ...pair, amount: 1_000_000n, intervalMs: 250 } })
        const [open, quote] = yield* frames.pipe(Stream.take(2), Stream.runCollect)
        assert.strictEqual(open?.event, "open")
        assert.strictEqual(open?.data.seq, 0)
        assert.strictEqual(quote?.event === "quote" && quote.data.quote.outAmount, 1_979_779n)
      })
    )

    it.effect("understands an exit check", () =>
      Effect.gen(function* () {
        const { spot } = yield* client
        const check = yield* spot.exitCheck({
          query: {},
          payload: { mint: TOKEN, uiAmount: 90, decimals: 6, ladder: [0.01, 1] }
        })
        assert(!("positions" in check))
        assert.strictEqual(check.summary.verdict, "clean")
        assert.strictEqual(check.rungs[1]?.amount, 90_000_000n)
      })
    )

    it.effect("understands an exit check of a wallet, as does the promise client", () =>
      Effect.gen(function* () {
        const { spot } = yield* client
        const check = yield* spot.exitCheck({ query: {}, payload: { wallet: WALLET, ladder: [0.01, 1] } })
        assert("positions" in check)
        assert.strictEqual(check.positions[0]?.exit?.summary.verdict, "clean")
        assert.strictEqual(check.total.outAmount, 176_435_642n)
        const { url: baseUrl } = yield* Listening
        const promised = createClient({ baseUrl, key: secretOf("a") })
        const same = yield* Effect.promise(() =>
          promised.spot.exitCheck({ payload: { wallet: WALLET, ladder: [0.01, 1] } })
        )
        assert("positions" in same)
        assert.deepStrictEqual(same.total, check.total)
      })
    )
  }
)
