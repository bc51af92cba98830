import { Config, Context, Duration, Effect, Layer, Option, type Scope } from "effect"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { readFile } from "node:fs/promises"
import { type MessagePort, Worker } from "node:worker_threads"
import type { NewFollow } from "../api/schemas/Copying.ts"
import type { RecordedBlocks } from "../chain/blocks/RecordedBlocks.ts"
import type { TradeBlock } from "../chain/decoding/TradeBlock.ts"
import { startStep } from "../domain/startStep.ts"
import { BLOCKS_KEPT } from "./chain/Bank.ts"
import type { SimMint } from "./chain/SimPool.ts"
import { type Ailment, healthy } from "./node/Faults.ts"
import { type Past, readPast } from "./past/pastFile.ts"
import { recordedPast } from "./past/recordedPast.ts"
import { simulatorConfig, type SimulatorOptions } from "./Simulator.ts"
import type { SimWallet } from "./traders/cast.ts"
import type { SlotTime } from "./traders/startChain.ts"

/** The settings of the chain as plain data, which can be copied between threads. */
export interface SimulatorSettings extends Omit<SimulatorOptions, "ailment" | "pastRead" | "recorded"> {
  readonly ailment: Omit<Ailment, "lag"> & { readonly lagMs: number }
  /** The packed chain after its past, from the file of the past. */
  readonly recorded: Uint8Array | null
}

/** What the thread reports once the chain answers: its endpoints, and its first mints, wallets and follows. */
export interface ChainPlace {
  readonly rpcUrl: string
  readonly wsUrl: string
  /** URL of the Geyser; null when there is none. */
  readonly geyserUrl: string | null
  readonly pastSlots: number
  /** The first slot after the past. */
  readonly live: SlotTime
  readonly mints: ReadonlyArray<SimMint>
  readonly wallets: ReadonlyArray<SimWallet>
  readonly follows: ReadonlyArray<NewFollow>
  /** Receives every fill of these follows, starting with the first. */
  readonly fills: MessagePort
}

export interface SimulatorPlace extends ChainPlace {
  /** The blocks of the past; null when the service has to read them from the node. */
  readonly past: RecordedBlocks<TradeBlock> | null
}

/** A simulated chain in a thread of its own, where its work does not delay the service. */
export class SimulatorThread extends Context.Service<SimulatorThread, SimulatorPlace>()(
  "fathom/simulator/SimulatorThread"
) {
  /**
   * The chain lives until the layer's scope closes. Settings are the ones of `Simulator.layerConfig`, and
   * `SIMULATOR_PAST`, a file with the past that the build makes.
   */
  static readonly layerConfig: Layer.Layer<SimulatorThread, Config.ConfigError> = Layer.effect(
    SimulatorThread,
    Effect.suspend(() => Effect.flatMap(Config.all({ options: simulatorConfig, path: pastPath }), start))
  )
}

/** `SIMULATOR_PAST`: the file with the past of the default chain. Without a file there the past is read from the chain. */
export const pastPath = Config.option(Config.String("SIMULATOR_PAST"))

/** A past in a file is the past of a chain of the usual speed whose blocks are read from a node without faults. */
const usesPast = ({ ailment, blocksKept, source, speed }: SimulatorOptions): boolean =>
  speed === 1 && source === "rpc" && blocksKept <= BLOCKS_KEPT && JSON.stringify(ailment) === JSON.stringify(healthy)

/** The past in the file; null when it is for another chain. A file that cannot be read is logged. */
const readPastFile = (path: Option.Option<string>, options: SimulatorOptions): Effect.Effect<Past | null> =>
  Option.isNone(path) || path.value === "" || !usesPast(options)
    ? Effect.succeed(null)
    : Effect.tryPromise(async () => readPast(await readFile(path.value), options)).pipe(
        Effect.catch((failure) =>
          Effect.as(
            Effect.logWarning("The recorded past cannot be read: the past is read from the node", {
              path: path.value,
              cause: String(failure.cause)
            }),
            null
          )
        )
      )

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

const placeOf = (worker: Worker): Effect.Effect<ChainPlace> =>
  Effect.callback<ChainPlace>((resume) => {
    worker.once("message", (place: ChainPlace) => resume(Effect.succeed(place)))
  })

/** Calls `onRead` each time the process says that its market is read (`src/app/Startup.ts`), until the scope closes. */
const whenRead = (onRead: () => void): Effect.Effect<void, never, Scope.Scope> => {
  const listener = (message: unknown): void => {
    const { isReading } = message as { readonly isReading: boolean }
    if (!isReading) {
      onRead()
    }
  }
  return Effect.acquireRelease(
    Effect.sync(() => subscribe("fathom.market", listener)),
    () => Effect.sync(() => unsubscribe("fathom.market", listener))
  )
}

const start = Effect.fnUntraced(function* ({
  options,
  path
}: {
  readonly options: SimulatorOptions
  readonly path: Option.Option<string>
}): Effect.fn.Return<SimulatorPlace, never, Scope.Scope> {
  const past = yield* readPastFile(path, options)
  const { ailment: ailmentOfNode, pastRead: _, ...plain } = options
  const { lag, ...ailment } = ailmentOfNode
  const settings: SimulatorSettings = {
    ...plain,
    ailment: { ...ailment, lagMs: Duration.toMillis(lag) },
    recorded: past?.chain ?? null
  }
  const worker = yield* Effect.acquireRelease(
    Effect.sync(() => new Worker(entry, { workerData: settings, name: "simulated chain", resourceLimits })),
    (thread) => Effect.promise(() => thread.terminate())
  )
  // The chain makes its own past once the service has read the recorded one.
  yield* whenRead(() => worker.postMessage("read", []))
  const place = yield* Effect.raceFirst(placeOf(worker), failure(worker)).pipe(
    startStep(`Start: the simulated market is being built, with ${settings.history} hours of history`)
  )
  yield* failure(worker).pipe(
    Effect.tapDefect((defect) => Effect.logError("The simulated chain stopped", defect)),
    Effect.ignoreCause,
    Effect.forkScoped
  )
  return { ...place, past: past === null ? null : recordedPast(past, place.live) }
})
