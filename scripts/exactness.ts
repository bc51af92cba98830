/** Quotes recorded swaps with the engine's own programs and compares them to the unit. */
import { globSync } from "node:fs"
import { basename, join } from "node:path"
import { addTallies, emptyTally, type Tally } from "../src/quotes/execution/compareFixture.ts"
import { check } from "./exactness/check.ts"
import { readFixture } from "../src/quotes/execution/poolFixture.ts"

const help = `Usage: npm run exactness -- DIR [--quiet]

Reads every *.json in DIR, decodes the pools in it and quotes every case. One JSON line a file on standard output,
{"file","cases","exact","refused","wrong","skipped","errorsRefused","errorsWrong"}, and a last one for "total".
Cases that are not exact go to standard error, unless --quiet. Exits with 1 when anything is wrong or unreadable.

A file: {"dex","programId","accounts":[{"pubkey","owner","lamports","dataBase64"}],"slot","epoch","unixTimestamp",
"case":[{"inputMint","amountIn","expectedOut","expectedIn"}],"errors":[{"inputMint","amountIn"}]}. A case may carry its
own slot, epoch and unixTimestamp, may be {"kind":"exactOut","amountOut","expectedIn"}, and counts as skipped when
tagged oldRounding. errors are swaps that the program refused: filling one is wrong.

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

const main = (args: ReadonlyArray<string>): number => {
  const directory = args.find((arg) => !arg.startsWith("--"))
  if (directory === undefined || args.includes("--help")) {
    process.stdout.write(help)
    return directory === undefined ? 2 : 0
  }
  const paths = globSync(join(directory, "*.json")).toSorted()
  if (paths.length === 0) {
    process.stderr.write(`no *.json in ${directory}\n`)
    return 2
  }
  let total: Tally = emptyTally
  let unreadable = 0
  for (const path of paths) {
    const { unreadable: failed, ...tally } = run(path, args.includes("--quiet"))
    process.stdout.write(`${JSON.stringify({ file: basename(path), ...tally })}\n`)
    total = addTallies(total, tally)
    unreadable += failed
  }
  process.stdout.write(`${JSON.stringify({ file: "total", ...total })}\n`)
  return total.wrong + total.errorsWrong + unreadable > 0 ? 1 : 0
}

process.exitCode = main(process.argv.slice(2))
