/** A simulated node in a process of its own: prints its endpoints as one line of JSON. */
import { Effect } from "effect"
import { Simulator } from "../../../src/simulator/Simulator.ts"

const serve = Simulator.use(({ rpcUrl, wsUrl }) => {
  process.stdout.write(`${JSON.stringify({ rpcUrl, wsUrl })}\n`)
  return Effect.never
})

void Effect.runPromise(Effect.provide(serve, Simulator.layer()))
