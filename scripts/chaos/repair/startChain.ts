/** The process of the simulated chain. */
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import type { SimulatorOptions } from "../../../src/simulator/Simulator.ts"
import type { ChainCommand } from "./chain.ts"

interface Addresses {
  readonly rpcUrl: string
  readonly ailingUrl: string
  readonly wallets: ReadonlyArray<string>
}

/** One call of a node. */
const call = async (rpcUrl: string, method: string, params: ReadonlyArray<unknown>): Promise<number> => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
  const response = await fetch(rpcUrl, { method: "POST", headers: { "content-type": "application/json" }, body })
  const { result }: { readonly result: number } = JSON.parse(await response.text())
  return result
}

/** Starts the chain; its process ends with the scope. */
export const startChain = Effect.fnUntraced(function* (settings: Partial<SimulatorOptions>) {
  const file = new URL("chain.ts", import.meta.url).pathname
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [file, JSON.stringify(settings)], { stdio: ["pipe", "pipe", "inherit"] })
    ),
    (started) => Effect.sync(() => started.kill("SIGKILL"))
  )
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const next = Effect.promise(async () => {
    const { done, value } = await lines.next()
    if (done === true) {
      throw new Error("the simulated chain ended")
    }
    return String(value)
  })
  const addresses: Addresses = JSON.parse(yield* next)
  /** Sets faults and returns the mints of the chain. */
  const command = (change: ChainCommand) =>
    Effect.andThen(
      Effect.sync(() => child.stdin.write(`${JSON.stringify(change)}\n`)),
      Effect.map(next, (line): ReadonlyArray<string> => JSON.parse(line).mints)
    )
  const newest = Effect.promise(() => call(addresses.rpcUrl, "getSlot", []))
  /** Time of the newest block, in milliseconds. */
  const newestMs = Effect.flatMap(newest, (slot) =>
    Effect.promise(async () => 1000 * (await call(addresses.rpcUrl, "getBlockTime", [slot])))
  )
  return { ...addresses, command, newest, newestMs }
})
