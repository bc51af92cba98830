/** `/spot/quote` through the whole stack: the contract, admission, the engine and the edge. */
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { KeyStore } from "../../../src/access/KeyStore.ts"
import { RateLimiter } from "../../../src/access/RateLimiter.ts"
import { PerpsVenues } from "../../../src/perps/PerpsVenues.ts"
import { Listening } from "../../../src/server/NodeServer.ts"
import * as Server from "../../../src/server/Server.ts"
import { Settings } from "../../../src/server/Settings.ts"
import { TransactionStatus } from "../../../src/solana/TransactionStatus.ts"
import { warmMarket } from "../warmPools.ts"
import { announce, knownKeys } from "./world.ts"

const serving = Server.layer.pipe(
  Layer.provide([
    KeyStore.layerMemory({ keys: knownKeys }),
    RateLimiter.layerMemory,
    Settings.layer({ port: 0 }),
    TransactionStatus.layerUnreachable,
    PerpsVenues.layer([]),
    warmMarket
  ])
)

const tell = Layer.effectDiscard(Effect.map(Listening, ({ port }) => announce(port)))

NodeRuntime.runMain(Layer.launch(tell.pipe(Layer.provide(serving))))
