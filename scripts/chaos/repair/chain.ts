/**
 * A simulated chain in a process of its own that keeps every block, with two nodes: a healthy one and one that takes faults.
 * The first argument is its settings as JSON. Prints its addresses as one line of JSON, and then one for each command, a line
 * of JSON with faults to set.
 */
import { Effect } from "effect"
import { createInterface } from "node:readline"
import { type Ailment, healthy } from "../../../src/simulator/node/Faults.ts"
import { Simulator, type SimulatorOptions } from "../../../src/simulator/Simulator.ts"

const settings: Partial<SimulatorOptions> = JSON.parse(process.argv[2] ?? "{}")
const print = (value: object) => process.stdout.write(`${JSON.stringify(value)}\n`)

/** Faults of the healthy node, which halts the chain, and of the other one. */
export interface ChainCommand {
  readonly healthy?: Partial<Omit<Ailment, "lag">>
  readonly ailing?: Partial<Omit<Ailment, "lag">>
  /** Cuts every WebSocket of the other one. */
  readonly dropSockets?: boolean
}

const serve = Effect.gen(function* () {
  const { addNode, faults, mints, rpcUrl, wallets } = yield* Simulator
  const ailing = yield* addNode(healthy)
  print({ rpcUrl, ailingUrl: ailing.rpcUrl, wallets: wallets.map(({ address }) => address) })
  createInterface(process.stdin).on("line", (line) => {
    const command: ChainCommand = JSON.parse(line)
    Effect.runSync(Effect.andThen(faults.set(command.healthy ?? {}), ailing.faults.set(command.ailing ?? {})))
    if (command.dropSockets === true) {
      Effect.runSync(ailing.faults.dropSockets)
    }
    print({ mints: mints().map(({ address }) => address) })
  })
  return yield* Effect.never
})

const layer = Simulator.layer({ blocksKept: Number.MAX_SAFE_INTEGER, ...settings })
void Effect.runPromise(Effect.scoped(Effect.provide(serve, layer)))
