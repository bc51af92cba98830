import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Exit, Layer, Scope } from "effect"
import { SOL } from "../../src/domain/Address.ts"
import { SimulatorThread } from "../../src/simulator/SimulatorThread.ts"
import { at, call } from "./node/client.ts"

const settings = (env: Readonly<Record<string, string>>) => ConfigProvider.layer(ConfigProvider.fromEnv({ env }))

const quiet = { SIMULATOR_SEED: "thread", SIMULATOR_SPEED: "0", SIMULATOR_HISTORY: "0.01" }

describe("SimulatorThread", () => {
  it.live("serves a chain with the given settings until its scope closes", () =>
    Effect.gen(function* () {
      const life = yield* Scope.make()
      const built = SimulatorThread.layerConfig.pipe(Layer.provide(settings(quiet)))
      const { geyserUrl, mints, pastSlots, rpcUrl, wallets } = Context.get(
        yield* Layer.buildWithScope(built, life),
        SimulatorThread
      )
      assert.strictEqual(mints[0]?.address, SOL)
      assert.isTrue(wallets.some(({ label }) => label === "treasury"))
      assert.strictEqual(pastSlots, 90)
      assert.isNull(geyserUrl)
      const slot = at(yield* call(rpcUrl, "getSlot"), "result")
      const first = at(yield* call(rpcUrl, "getFirstAvailableBlock"), "result")
      assert.strictEqual(Number(slot) - Number(first), pastSlots - 1)
      yield* Scope.close(life, Exit.void)
      const refused = yield* Effect.promise(() => fetch(rpcUrl).catch((error: unknown) => error))
      assert.instanceOf(refused, Error)
    })
  )

  it.live("serves a Geyser when its settings ask for one", () =>
    Effect.gen(function* () {
      const { geyserUrl } = yield* SimulatorThread
      assert.match(geyserUrl ?? "", /^http:\/\/127\.0\.0\.1:\d+$/u)
    }).pipe(
      Effect.provide(
        SimulatorThread.layerConfig.pipe(Layer.provide(settings({ ...quiet, SIMULATOR_SOURCE: "geyser" })))
      )
    )
  )

  it.live("has the faults of its settings", () =>
    Effect.gen(function* () {
      const { rpcUrl } = yield* SimulatorThread
      const { status } = yield* Effect.promise(() => fetch(rpcUrl, { method: "POST" }))
      assert.strictEqual(status, 503)
    }).pipe(
      Effect.provide(
        SimulatorThread.layerConfig.pipe(
          Layer.provide(settings({ ...quiet, SIMULATOR_FAULTS_HTTP: "503", SIMULATOR_FAULTS_LAG: "1 millis" }))
        )
      )
    )
  )
})
