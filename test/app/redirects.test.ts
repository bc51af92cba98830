import { NodeHttpClient, NodeHttpServer, NodeSocket } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, References, Stream } from "effect"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"
import { Signature } from "../../src/domain/Signature.ts"
import { FundingClient } from "../../src/funding/FundingClient.ts"
import * as FundingClientHttp from "../../src/funding/FundingClientHttp.ts"
import { EvmCandles } from "../../src/market/reads/EvmCandles.ts"
import * as EvmCandlesHttp from "../../src/market/reads/EvmCandlesHttp.ts"
import { PerpsVenues } from "../../src/perps/PerpsVenues.ts"
import * as PerpsVenuesHttp from "../../src/perps/PerpsVenuesHttp.ts"
import { ChainFeed } from "../../src/chain/ChainFeed.ts"
import * as ChainFeedRpc from "../../src/chain/accounts/ChainFeedRpc.ts"
import { SolanaRpc } from "../../src/chain/rpc/SolanaRpc.ts"
import * as SolanaRpcHttp from "../../src/chain/rpc/SolanaRpcHttp.ts"
import { TransactionStatus } from "../../src/chain/rpc/TransactionStatus.ts"
import * as TransactionStatusRpc from "../../src/chain/rpc/TransactionStatusRpc.ts"
import { TradeBlocks } from "../../src/chain/decoding/TradeBlocks.ts"
import { at, until } from "../chain/accounts/accounts.ts"

const platform = Layer.mergeAll(
  NodeHttpClient.layerUndici,
  NodeSocket.layerWebSocketConstructor,
  Layer.succeed(References.MinimumLogLevel, "None")
)

/** A server that answers with `respond`, and the methods or paths that were requested. */
const serving = Effect.fnUntraced(function* (
  respond: (wanted: string, url: string) => HttpServerResponse.HttpServerResponse
) {
  const requests: Array<string> = []
  const server = yield* NodeHttpServer.make(() => createServer(), {
    port: 0,
    host: "127.0.0.1",
    disablePreemptiveShutdown: true
  })
  yield* server.serve(
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const body = request.method === "POST" ? yield* request.text : ""
      const wanted = /"method":"(\w+)"/u.exec(body)?.[1] ?? request.url
      requests.push(wanted)
      return respond(wanted, request.url)
    })
  )
  return { url: HttpServer.formatAddress(server.address), requests }
})

const newestSlot = { jsonrpc: "2.0", id: 1, result: 110 }
const once = { retries: 0, timeout: Duration.seconds(1) }
const blocks = { tries: 1, poll: Duration.millis(20) }
const signature = Signature.make("1".repeat(64))
const second = Duration.seconds(1)

/** One call to every upstream, all to a server at this address. */
const upstreams: ReadonlyArray<{
  readonly name: string
  readonly call: (url: string) => Effect.Effect<unknown, unknown>
}> = [
  {
    name: "reads of a node",
    call: (rpcUrl) =>
      SolanaRpc.use((rpc) => rpc.getMultipleAccounts([at(1)])).pipe(
        Effect.provide(SolanaRpcHttp.layer({ rpcUrl, ...once }).pipe(Layer.provide(platform)))
      )
  },
  {
    name: "blocks",
    call: (rpcUrl) =>
      TradeBlocks.use((feed) => feed.follow(100).pipe(Stream.take(2), Stream.runDrain)).pipe(
        Effect.provide(TradeBlocks.layerRpc({ rpcUrl, ...once, blocks }).pipe(Layer.provide(platform)))
      )
  },
  {
    name: "the status of a transaction",
    call: (rpcUrl) =>
      TransactionStatus.use((status) => status.find(signature)).pipe(
        Effect.provide(TransactionStatusRpc.layer({ rpcUrl }).pipe(Layer.provide(platform)))
      )
  },
  {
    name: "subscriptions",
    call: (rpcUrl) =>
      ChainFeed.use((feed) => Effect.andThen(feed.watch([at(1)]), Effect.sleep("500 millis"))).pipe(
        Effect.provide(ChainFeedRpc.layer({ rpcUrl, ...once }).pipe(Layer.provide(platform)))
      )
  },
  {
    name: "the funding service",
    call: (url) =>
      FundingClient.use((funding) => funding.wallets("owner")).pipe(
        Effect.provide(FundingClientHttp.layer({ url }).pipe(Layer.provide(platform)))
      )
  },
  {
    name: "perps venues",
    call: (url) =>
      PerpsVenues.use((perps) => perps.read("SOL", perps.venues)).pipe(
        Effect.provide(
          PerpsVenuesHttp.layer({
            PERPS_HL_URL: url,
            PERPS_VELOCITY_BOOK_URL: url,
            PERPS_VELOCITY_DATA_URL: url,
            PERPS_DYDX_URL: url,
            PERPS_PARADEX_URL: url,
            PERPS_LIGHTER_URL: url,
            PERPS_ASTER_URL: url,
            PERPS_JUPITER_RPC_URL: url
          }).pipe(Layer.provide(platform))
        )
      )
  },
  {
    name: "EVM candles",
    call: (url) =>
      EvmCandles.use((evm) =>
        evm.candles({ chain: "base", address: `0x${"1".repeat(40)}`, interval: "1m", from: 0, to: 60, limit: 1 })
      ).pipe(Effect.provide(EvmCandlesHttp.layer(url).pipe(Layer.provide(platform))))
  }
]

describe("a redirect by an upstream", () => {
  for (const { name, call } of upstreams) {
    it.live.each([302, 307])(`is not followed: ${name}, %i`, (status) =>
      Effect.gen(function* () {
        const target = yield* serving(() => HttpServerResponse.text("{}"))
        const upstream = yield* serving((wanted) =>
          // Blocks are requested once the newest slot is known.
          name === "blocks" && wanted === "getSlot"
            ? HttpServerResponse.jsonUnsafe(newestSlot)
            : HttpServerResponse.redirect(`${target.url}/elsewhere`, { status })
        )
        // Blocks are followed for ever: until half a second after the first one was requested.
        const asked = Effect.andThen(
          until("a block is requested", () => upstream.requests.includes("getBlock")),
          Effect.sleep("500 millis")
        )
        const called = call(upstream.url)
        yield* name === "blocks"
          ? Effect.raceFirst(Effect.ignore(called), asked)
          : Effect.exit(Effect.timeout(called, Duration.times(second, 10)))
        assert.isAbove(upstream.requests.length, 0)
        assert.deepStrictEqual(target.requests, [])
      })
    )
  }
})
