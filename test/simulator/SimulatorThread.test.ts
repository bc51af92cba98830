import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Exit, Layer, Scope } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { constants, getPriority } from "node:os"
import { SOL } from "../../src/domain/Address.ts"
import { SimulatorThread } from "../../src/simulator/SimulatorThread.ts"
import { at, call } from "./node/client.ts"

const settings = (env: Readonly<Record<string, string>>) => ConfigProvider.layer(ConfigProvider.fromEnv({ env }))

/** Place of the nice value after the name of a thread in its `stat`. */
const NICE = 16
const LOWEST = constants.priority.PRIORITY_LOW

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

  // Nothing is behind a process that has the lowest priority already.
  it.live.runIf(process.platform === "linux" && getPriority() < LOWEST)(
    "makes the chain behind the threads of the service",
    () =>
      Effect.gen(function* () {
        yield* SimulatorThread
        const stats = readdirSync("/proc/self/task").map((thread) =>
          readFileSync(`/proc/self/task/${thread}/stat`, "utf8")
        )
        const niceness = stats.flatMap((stat) => {
          const [name = "", rest = ""] = stat.slice(stat.indexOf("(") + 1).split(") ", 2)
          return name === "simulated chain" ? [Number(rest.split(" ")[NICE])] : []
        })
        assert.deepStrictEqual(niceness, [Math.min(LOWEST, getPriority() + 5)])
      }).pipe(Effect.provide(SimulatorThread.layerConfig.pipe(Layer.provide(settings(quiet)))))
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
