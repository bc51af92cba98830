/** Runs a simulated chain in a worker thread; the other side of `SimulatorThread.ts`. */
import { Duration, Effect } from "effect"
import { MessageChannel, type MessagePort, parentPort, workerData } from "node:worker_threads"
import type { NewFollow } from "../domain/wallets/Copying.ts"
import type { SimWallet } from "./traders/cast.ts"
import type { Ailment } from "./node/Faults.ts"
import { Simulator, type SimulatorOptions } from "./Simulator.ts"
import type { SimMint } from "./chain/SimPool.ts"

/** The settings of the chain as plain data, which is copied between threads. */
export interface SimulatorSettings extends Omit<SimulatorOptions, "ailment"> {
  readonly ailment: Omit<Ailment, "lag"> & { readonly lagMs: number }
}

/** The endpoints of the chain once it answers, with its first mints, wallets and follows. */
export interface SimulatorPlace {
  readonly rpcUrl: string
  readonly wsUrl: string
  readonly pastSlots: number
  readonly mints: ReadonlyArray<SimMint>
  readonly wallets: ReadonlyArray<SimWallet>
  readonly follows: ReadonlyArray<NewFollow>
  /** Receives every fill of these follows, from the first. */
  readonly fills: MessagePort
}

/** Runs the chain of the thread's settings until the thread ends. Only the worker's entry calls it. */
export const serveSimulator = (): void => {
  const port = parentPort
  if (port === null) {
    return
  }
  const settings: SimulatorSettings = workerData
  const { lagMs, ...ailment } = settings.ailment
  const post = (place: SimulatorPlace): void => port.postMessage(place, [place.fills])
  const fills = new MessageChannel()
  const live = Simulator.use(({ copies, mints, pastSlots, rpcUrl, wallets, wsUrl }) =>
    Effect.andThen(
      Effect.sync(() => {
        const { follows } = copies
        copies.listen((fill) => fills.port1.postMessage(fill))
        post({ rpcUrl, wsUrl, pastSlots, wallets, mints: mints(), follows, fills: fills.port2 })
      }),
      Effect.never
    )
  )
  const options = { ...settings, ailment: { ...ailment, lag: Duration.millis(lagMs) } }
  // An unhandled failure ends the thread, which `SimulatorThread` reports.
  void Effect.runPromise(Effect.provide(live, Simulator.layer(options)))
}
