/** Quotes recorded swaps with the engine's own programs and compares them to the unit. */
import { globSync } from "node:fs"
import { basename, join } from "node:path"
import { parseArgs } from "node:util"
import { addTallies, emptyTally, type Tally } from "../src/quotes/execution/compareFixture.ts"
import { check } from "./exactness/check.ts"
import { readFixture } from "../src/quotes/execution/poolFixture.ts"
import { loadRuntime } from "../src/quotes/execution/programRuntime.ts"
import { seededRandom } from "../src/quotes/execution/provePool.ts"
import { executeRecorded } from "./exactness/executed.ts"
import { numberOption } from "./options.ts"

const help = `Usage: npm run exactness -- DIR [--quiet] [--executed PROGRAMS [--states N] [--swaps N] [--seed N]]

Reads every *.json in DIR, decodes the pools in it and quotes every case. One JSON line a file on standard output,
{"file","cases","exact","refused","wrong","skipped","errorsRefused","errorsWrong"}, and a last one for "total".
Cases that are not exact go to standard error, unless --quiet. Exits with 1 when anything is wrong or unreadable.

A file: {"dex","programId","accounts":[{"pubkey","owner","lamports","dataBase64"}],"slot","epoch","unixTimestamp",
"case":[{"inputMint","amountIn","expectedOut","expectedIn"}],"errors":[{"inputMint","amountIn"}]}. A case may carry its
own slot, epoch and unixTimestamp, may be {"kind":"exactOut","amountOut","expectedIn"}, and counts as skipped when
tagged oldRounding. errors are swaps that the program refused: filling one is wrong.

--executed PROGRAMS executes the swaps too: the programs are PROGRAMS/PROGRAM_ID.so. Every recorded amount of every file whose
program is there, and then --swaps (16) random swaps in each of --states (3) states of its pool, are executed as a quote by execution
is, and compared with the computed quote to the unit. One line a file, {"file","dex","recorded","random","states","left"}, and a last one
for each program. Files of other programs are named in "left". Needs the optional package litesvm.

Accounts that a dump leaves out do not exist, with these exceptions: a mint is a plain SPL mint without transfer fee,
and the switches of the pump programs are all at their default.
`

const run = (path: string, quiet: boolean): Tally & { readonly unreadable: number } => {
  const file = basename(path)
  const note = (line: string) => {
    if (!quiet) {
      process.stderr.write(`${file}: ${line}\n`)
    }
  }
  try {
    return { ...check(readFixture(path), note), unreadable: 0 }
  } catch (error) {
    note(`unreadable: ${String(error)}`)
    return { ...emptyTally, unreadable: 1 }
  }
}

const compareRecorded = (paths: ReadonlyArray<string>, quiet: boolean): number => {
  let total: Tally = emptyTally
  let unreadable = 0
  for (const path of paths) {
    const { unreadable: failed, ...tally } = run(path, quiet)
    process.stdout.write(`${JSON.stringify({ file: basename(path), ...tally })}\n`)
    total = addTallies(total, tally)
    unreadable += failed
  }
  process.stdout.write(`${JSON.stringify({ file: "total", ...total })}\n`)
  return total.wrong + total.errorsWrong + unreadable > 0 ? 1 : 0
}

const options = {
  quiet: { type: "boolean", default: false },
  executed: { type: "string" },
  states: { type: "string", default: "3" },
  swaps: { type: "string", default: "16" },
  seed: { type: "string", default: "1" },
  help: { type: "boolean", default: false }
} as const

const main = (): number => {
  const { positionals, values } = parseArgs({ options, allowPositionals: true })
  const [directory] = positionals
  if (directory === undefined || values.help) {
    process.stdout.write(help)
    return directory === undefined ? 2 : 0
  }
  const paths = globSync(join(directory, "*.json")).toSorted()
  if (paths.length === 0) {
    process.stderr.write(`no *.json in ${directory}\n`)
    return 2
  }
  if (values.executed === undefined) {
    return compareRecorded(paths, values.quiet)
  }
  const makeRuntime = loadRuntime()
  if (typeof makeRuntime !== "function") {
    process.stderr.write(`${makeRuntime.reason}\n`)
    return 2
  }
  const countOf = (name: "states" | "swaps" | "seed") =>
    numberOption(`--${name}`, values[name], { most: 9_999_999, whole: true })
  return executeRecorded(paths, values.executed, makeRuntime, {
    states: countOf("states"),
    swaps: countOf("swaps"),
    random: seededRandom(countOf("seed"))
  })
}

try {
  process.exitCode = main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 2
}
