/**
 * A service of several processes on this machine, for trying out: `npm run cluster [-- --port 3000]`. Two processes of the
 * role `ingest`, two of `api`, one of `live` and one of `keeper` behind a small balancer, beside a simulated chain, PostgreSQL
 * over TCP, and `valkey-server` or `redis-server`, which has to be installed. Everything is removed at the end.
 */
import { Console, Effect } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { startChain } from "./chaos/repair/startChain.ts"
import { balance } from "./cluster/balancer.ts"
import { startParts } from "./cluster/parts.ts"
import { numberOption } from "./options.ts"

const { values } = parseArgs({ options: { port: { type: "string", default: "3000" } } })

const port = numberOption("--port", values.port, { least: 0, most: 65_535, whole: true })

const run = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "fathom-cluster-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
  )
  const chain = yield* startChain({ history: 0, swapsPerSecond: 20 })
  const mints = yield* chain.command({})
  const settings = { SOLANA_RPC_URL: chain.rpcUrl, PRELOAD_MINTS: mints.join(), HISTORY: "0 seconds" }
  const { processes, secret } = yield* startParts(folder, settings)
  const of = (role: string) => processes.filter((each) => each.role === role).map(({ baseUrl }) => baseUrl)
  const url = yield* balance({ api: of("api"), live: of("live") }, port)
  yield* Effect.forEach(processes, ({ baseUrl, role }) => Console.log(`  ${role.padEnd(8)} ${baseUrl}`))
  yield* Console.log(`The service answers at ${url}\n  Test key ${secret}`)
  yield* Effect.callback<void>((resume) => {
    const end = () => resume(Effect.void)
    process.once("SIGINT", end)
    process.once("SIGTERM", end)
  })
})

await Effect.runPromise(Effect.scoped(run))
