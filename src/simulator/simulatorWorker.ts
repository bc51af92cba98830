/** Entry of the worker thread, started by `SimulatorThread.ts`. Runs a simulated chain until the thread ends. */
import { Duration, Effect } from "effect"
import { MessageChannel, parentPort, workerData } from "node:worker_threads"
import { lowerThreadPriority } from "../chain/blocks/threadPriority.ts"
import { unpackChain } from "./past/recordedChain.ts"
import { Simulator } from "./Simulator.ts"
import type { ChainPlace, SimulatorSettings } from "./SimulatorThread.ts"

const settings: SimulatorSettings = workerData
const { lagMs, ...ailment } = settings.ailment
const recorded = settings.recorded === null ? null : unpackChain(settings.recorded)
const fills = new MessageChannel()

lowerThreadPriority()

/** Completes when the service says that it has read its past. A message that comes earlier waits in the port. */
const pastRead = Effect.callback<void>((resume) => {
  parentPort?.once("message", () => resume(Effect.void))
})

const post = (place: ChainPlace): void => parentPort?.postMessage(place, [place.fills])

const serve = Effect.gen(function* () {
  const { addGeyser, copies, live, mints, pastSlots, rpcUrl, wallets, wsUrl } = yield* Simulator
  const geyserUrl = settings.source === "geyser" ? (yield* addGeyser()).url : null
  copies.listen((fill) => fills.port1.postMessage(fill))
  const { follows } = copies
  post({ rpcUrl, wsUrl, geyserUrl, pastSlots, live, wallets, mints: mints(), follows, fills: fills.port2 })
  return yield* Effect.never
})

// An unhandled failure ends the thread, and `SimulatorThread` reports that.
void Effect.runPromise(
  Effect.provide(
    Effect.scoped(serve),
    Simulator.layer({ ...settings, recorded, pastRead, ailment: { ...ailment, lag: Duration.millis(lagMs) } })
  )
)
