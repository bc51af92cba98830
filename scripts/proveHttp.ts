/** Quotes over HTTP, each followed by the real swap in a chain that LiteSVM executes. */
import { Effect } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { numberOption } from "./options.ts"
import { folderSource } from "./prove/folderSource.ts"
import { HttpTally } from "./proveHttp/tally.ts"
import { type Place, worldsOf } from "./proveHttp/worlds.ts"
import { obstacle, seededRandom } from "../src/quotes/execution/provePool.ts"
import { loadRuntime } from "../src/quotes/execution/programRuntime.ts"
import { pumpCurve } from "../src/programs/pump/curve.ts"
import type { Venue } from "../src/quotes/execution/swapVenue.ts"
import { venues } from "../src/quotes/execution/swapVenues.ts"

const help = `Usage: npm run prove:http -- --programs DIR [--accounts DIR] [--swaps N] [--seed N] [--json]

Starts the service over a node whose transactions LiteSVM executes with real programs. Asks it for a quote over HTTP, executes
the swap on the node, and compares what was taken and paid with the quote, to the unit. The next quote follows from what the
swap left behind. Two of three swaps are in one pool; the third is a route in one transaction. Amounts are of every size, one
unit and the largest among them.

--programs DIR   programs from DIR/PROGRAM_ID.so. Default: PROVE_PROGRAMS. Programs without a file are left out, and named.
--accounts DIR   recorded pools (format: npm run exactness -- --help). Default: test/vectors/pools
--swaps N        swaps in total (2000)
--seed N         another sequence of amounts (1)
--json           one line of JSON

exact: took and paid what was quoted. refused: not quoted, with the service's code and the program's own error. wrong: the rest.
Exits with 1 when a swap is wrong or none was executed, and with 2 without programs or without LiteSVM.
`

const vectors = fileURLToPath(new URL("../test/vectors/pools/", import.meta.url))
const EVERY = 10_000

/** Why a program is left out: its swaps would need another comparison than the one of token accounts. */
const movesLamports = ({ program }: Venue): string | null =>
  program.dex === pumpCurve.dex ? "it trades lamports, which npm run prove compares" : null

const main = async (): Promise<number> => {
  const { values } = parseArgs({
    options: {
      programs: { type: "string", default: process.env["PROVE_PROGRAMS"] ?? "" },
      accounts: { type: "string", default: vectors },
      swaps: { type: "string", default: "2000" },
      seed: { type: "string", default: "1" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false }
    }
  })
  if (values.help) {
    process.stdout.write(help)
    return 0
  }
  const whole = { most: 9_999_999, whole: true }
  const swaps = numberOption("--swaps", values.swaps, whole)
  const random = seededRandom(numberOption("--seed", values.seed, whole))
  if (values.programs === "") {
    process.stderr.write(
      "No folder with programs is given: --programs DIR or PROVE_PROGRAMS, with PROGRAM_ID.so in it\n"
    )
    return 2
  }
  const makeRuntime = loadRuntime()
  if (typeof makeRuntime !== "function") {
    process.stderr.write(`${makeRuntime.reason}\n`)
    return 2
  }
  const source = folderSource(values.programs, values.accounts)
  const fileOf = (programId: string): string => join(values.programs, `${programId}.so`)
  const given = venues.filter(({ program }) => existsSync(fileOf(program.programId)))
  const absent = venues.filter((venue) => !given.includes(venue)).map(({ program }) => program.dex)
  const programs = new Map(given.map(({ program }) => [program.programId, readFileSync(fileOf(program.programId))]))
  const places: Array<Place> = []
  const left: Array<{ readonly pool: string; readonly reason: string }> = []
  for (const venue of given) {
    for (const snapshot of await source.pools(venue, EVERY)) {
      const reason = movesLamports(venue) ?? obstacle(venue, snapshot)
      if (reason === null) {
        places.push({ venue, snapshot })
      } else {
        left.push({ pool: snapshot.pool.address, reason })
      }
    }
  }
  if (places.length === 0) {
    process.stderr.write(`No pool of ${values.accounts} can be executed with the programs of ${values.programs}\n`)
    return 2
  }
  const worlds = worldsOf(places)
  // Loads the service, which takes a while.
  const { runWorld } = await import("./proveHttp/runWorld.ts")
  const tally = new HttpTally()
  let begun = 0
  for (const world of worlds) {
    // A chain gets its share of the swaps by its pools.
    const until = begun + world.places.length
    const own = Math.floor((swaps * until) / places.length) - Math.floor((swaps * begun) / places.length)
    begun = until
    await Effect.runPromise(runWorld(makeRuntime, programs, world, { swaps: own, random, tally }))
  }
  const passed = tally.wrong.length === 0 && tally.exact > 0
  const summary = {
    passed,
    swaps: tally.total,
    exact: tally.exact,
    routed: tally.routed,
    wrong: tally.wrong.length,
    refused: tally.refused,
    pools: places.length,
    chains: worlds.length,
    programs: Object.fromEntries(tally.venues),
    refusals: Object.fromEntries([...tally.refusals].toSorted(([, a], [, b]) => b - a)),
    absent,
    left,
    wrongSwaps: tally.wrong.slice(0, 20)
  }
  process.stdout.write(`${JSON.stringify(summary, null, values.json ? undefined : 2)}\n`)
  return passed ? 0 : 1
}

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 2
}
