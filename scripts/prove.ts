/** Executes random swaps with the deployed programs and compares them with the quotes, to the unit. */
import { parseArgs } from "node:util"
import { numberOption } from "./options.ts"
import { folderSource } from "./prove/folderSource.ts"
import { nodeSource } from "./prove/nodeSource.ts"
import { hasPassed, type ProgramProof, proveAll } from "./prove/proof.ts"
import { seededRandom } from "../src/quotes/execution/provePool.ts"
import { loadRuntime } from "../src/quotes/execution/programRuntime.ts"
import type { ProofSource } from "./prove/sources.ts"

const help = `Usage: npm run prove -- [--rpc URL | --programs DIR] [--pools N] [--states N] [--swaps N] [--seed N] [--fixtures DIR] [--json]

Executes swaps in LiteSVM (optional package litesvm) with the deployed programs, and compares what they took and paid with
the quotes. Amounts are random, of every size, one unit and the largest among them, in both directions, by exact input, and by
exact output where a program is quoted so.

--rpc URL        programs, and pools that their newest transactions name, from this node. Default: SOLANA_RPC_URL.
--programs DIR   programs from DIR/PROGRAM_ID.so, pools from the fixtures DIR/*.json (format: npm run exactness -- --help).
                 With --rpc, the programs of DIR and the pools of the node: an upgrade before it is deployed.
--accounts DIR   the folder of the fixtures, where that is another one. Mints, vaults and other accounts that a fixture
                 leaves out are filled in, as npm run exactness does; what the price reads must be there.
--pools N        pools of each program (5)
--states N       states of each pool (1): each further one is what an executed swap left behind, at a later time
--swaps N        swaps in each state (32)
--seed N         another sequence of amounts (1)
--fixtures DIR   where the accounts of wrong cases are written for npm run exactness (prove-wrong)
--json           one line of JSON

exact: took and paid what was quoted. refused: not quoted, or refused by both. wrong: anything else.
A program without a row of numbers is unproven, with the cause. Exits with 1 when a swap is wrong or none was executed.
`

const options = {
  rpc: { type: "string" },
  programs: { type: "string" },
  accounts: { type: "string" },
  pools: { type: "string", default: "5" },
  states: { type: "string", default: "1" },
  swaps: { type: "string", default: "32" },
  seed: { type: "string", default: "1" },
  fixtures: { type: "string", default: "prove-wrong" },
  json: { type: "boolean", default: false },
  help: { type: "boolean", default: false }
} as const

const countOf = (name: string, text: string): number =>
  numberOption(`--${name}`, text, { most: 9_999_999, whole: true })

const sourceOf = async (given: {
  readonly rpc?: string | undefined
  readonly programs?: string | undefined
  readonly accounts?: string | undefined
}): Promise<ProofSource> => {
  const { accounts, programs } = given
  const url = given.rpc ?? (programs === undefined ? process.env["SOLANA_RPC_URL"]?.split(",")[0] : undefined)
  if (url === undefined || url === "") {
    if (programs === undefined) {
      throw new TypeError("--rpc, --programs or SOLANA_RPC_URL must say where the programs are")
    }
    return folderSource(programs, accounts ?? programs)
  }
  if (!URL.canParse(url)) {
    throw new TypeError("--rpc must be a URL")
  }
  const node = await nodeSource(url)
  return programs === undefined ? node : { ...node, program: folderSource(programs, programs).program }
}

const line = (row: ProgramProof): string => {
  if (row.unproven !== null) {
    return `${row.dex.padEnd(18)} unproven: ${row.unproven}`
  }
  const refused = row.refused + row.errorsRefused
  const slot = row.deployedAtSlot === null ? "" : `, deployed at slot ${row.deployedAtSlot}`
  return (
    `${row.dex.padEnd(18)} exact ${row.exact}, refused ${refused}, wrong ${row.wrong + row.errorsWrong}` +
    ` in ${row.states} states of ${row.pools} pools${slot}, sha256 ${row.sha256?.slice(0, 8) ?? ""}`
  )
}

const print = (rows: ReadonlyArray<ProgramProof>, json: boolean): void => {
  if (json) {
    const unproven = rows.flatMap((row) => (row.unproven === null ? [] : [row.dex]))
    process.stdout.write(`${JSON.stringify({ passed: hasPassed(rows), unproven, programs: rows })}\n`)
    return
  }
  for (const row of rows) {
    process.stdout.write(`${line(row)}\n`)
    row.left.forEach(({ pool, reason }) => process.stdout.write(`  pool ${pool} was left out: ${reason}\n`))
    row.fixtures.forEach((path) => process.stdout.write(`  wrong cases: ${path}\n`))
  }
}

const main = async (): Promise<number> => {
  const { values } = parseArgs({ options })
  if (values.help) {
    process.stdout.write(help)
    return 0
  }
  const settings = {
    pools: countOf("pools", values.pools),
    states: countOf("states", values.states),
    swaps: countOf("swaps", values.swaps),
    random: seededRandom(countOf("seed", values.seed)),
    fixtures: values.fixtures
  }
  const source = await sourceOf(values)
  const makeRuntime = loadRuntime()
  if (typeof makeRuntime !== "function") {
    process.stderr.write(`${makeRuntime.reason}\n`)
    return 2
  }
  const rows = await proveAll(source, makeRuntime, settings)
  print(rows, values.json)
  return hasPassed(rows) ? 0 : 1
}

try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 2
}
