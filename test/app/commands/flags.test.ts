import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Layer, Option } from "effect"
import { settings } from "../../../src/app/commands/flags.ts"

const environment = ConfigProvider.layer(
  ConfigProvider.fromEnv({ env: { PORT: "1", SIMULATOR_SOURCE: "rpc", HOST: "localhost" } })
)

describe("flags", () => {
  it.effect("win over the environment, nested settings included", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* Config.Int("PORT"), 2)
      assert.strictEqual(yield* Config.String("SOURCE").pipe(Config.nested("SIMULATOR")), "geyser")
      assert.strictEqual(yield* Config.String("HOST"), "localhost")
    }).pipe(
      Effect.provide(
        settings({ PORT: Option.some(2), SIMULATOR_SOURCE: Option.some("geyser"), HOST: Option.none() }).pipe(
          Layer.provide(environment)
        )
      )
    )
  )
})
