/** Keys without the service, for commands that need nothing else. */
import { ConfigProvider, Effect, Layer, Option } from "effect"
import * as KeyStorePg from "../access/KeyStorePg.ts"
import * as Database from "../storage/Database.ts"
import { CleansUp } from "../storage/purge.ts"
import { nodeUrl } from "./marketSettings.ts"

/** Without a real node, keys are test keys unless `KEY_ENVIRONMENT` is set. */
const keyEnvironment = Layer.unwrap(
  Effect.map(nodeUrl, (url) =>
    Option.isSome(url) ? Layer.empty : ConfigProvider.layerAdd(ConfigProvider.fromUnknown({ KEY_ENVIRONMENT: "test" }))
  )
)

export const keyStore = KeyStorePg.layer.pipe(Layer.provide([Database.layer, keyEnvironment]))

/** The same keys for a short command while a service runs on the same data. */
export const keyStoreBeside = KeyStorePg.layer.pipe(
  Layer.provide([Database.layerBeside, keyEnvironment, Layer.succeed(CleansUp, false)])
)
