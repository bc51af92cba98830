import { type Config, Context, Duration, Effect, Layer, type Scope } from "effect"
import { type MessagePort, Worker } from "node:worker_threads"
import type { NewFollow } from "../api/schemas/Copying.ts"
import { startStep } from "../domain/startStep.ts"
import type { SimMint } from "./chain/SimPool.ts"
import type { Ailment } from "./node/Faults.ts"
import { simulatorConfig, type SimulatorOptions } from "./Simulator.ts"
import type { SimWallet } from "./traders/cast.ts"

/** The settings of the chain as plain data, which can be copied between threads. */
export interface SimulatorSettings extends Omit<SimulatorOptions, "ailment"> {
  readonly ailment: Omit<Ailment, "lag"> & { readonly lagMs: number }
}

/** What the thread reports once the chain answers: its endpoints, and its first mints, wallets and follows. */
export interface SimulatorPlace {
  readonly rpcUrl: string
  readonly wsUrl: string
  /** URL of the Geyser; null when there is none. */
  readonly geyserUrl: string | null
  readonly pastSlots: number
  readonly mints: ReadonlyArray<SimMint>
  readonly wallets: ReadonlyArray<SimWallet>
  readonly follows: ReadonlyArray<NewFollow>
  /** Receives every fill of these follows, starting with the first. */
  readonly fills: MessagePort
}

/** A simulated chain in a thread of its own, where its work does not delay the service. */
export class SimulatorThread extends Context.Service<SimulatorThread, SimulatorPlace>()(
  "fathom/simulator/SimulatorThread"
) {
  /** The chain lives until the layer's scope closes. Settings are the ones of `Simulator.layerConfig`. */
  static readonly layerConfig: Layer.Layer<SimulatorThread, Config.ConfigError> = Layer.effect(
    SimulatorThread,
    Effect.suspend(() =>
      Effect.flatMap(simulatorConfig, ({ ailment: { lag, ...ailment }, ...options }) =>
        start({ ...options, ailment: { ...ailment, lagMs: Duration.toMillis(lag) } })
      )
    )
  )
}

/**
 * Most allocations are short-lived, and a larger young generation would only delay their collection.
 * `--max-semi-space-size` overrides this.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 12, maxOldGenerationSizeMb: 512 }

const entry = new URL("./simulatorWorker.ts", import.meta.url)

/** Dies when the thread ends by itself. */
const failure = (worker: Worker): Effect.Effect<never> =>
  Effect.callback<never>((resume) => {
    worker.once("error", (error) => resume(Effect.die(error)))
    worker.once("exit", (code) => resume(Effect.die(new Error(`the simulated chain's thread ended with ${code}`))))
  })

const placeOf = (worker: Worker): Effect.Effect<SimulatorPlace> =>
  Effect.callback<SimulatorPlace>((resume) => {
    worker.once("message", (place: SimulatorPlace) => resume(Effect.succeed(place)))
  })

const start = Effect.fnUntraced(function* (
  settings: SimulatorSettings
): Effect.fn.Return<SimulatorPlace, never, Scope.Scope> {
  const worker = yield* Effect.acquireRelease(
    Effect.sync(() => new Worker(entry, { workerData: settings, name: "simulated chain", resourceLimits })),
    (thread) => Effect.promise(() => thread.terminate())
  )
  const place = yield* Effect.raceFirst(placeOf(worker), failure(worker)).pipe(
    startStep(`Start: the simulated market is being built, with ${settings.history} hours of history`)
  )
  yield* failure(worker).pipe(
    Effect.tapDefect((defect) => Effect.logError("The simulated chain stopped", defect)),
    Effect.ignoreCause,
    Effect.forkScoped
  )
  return place
})
