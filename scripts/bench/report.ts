/**
 * Output of every benchmark: the machine and the figures, as one JSON line with `--json` or as a table without. With `--json`
 * nothing else reaches standard output: logs and whatever is written there go to standard error.
 */
import { cpus, totalmem } from "node:os"

const print = process.stdout.write.bind(process.stdout)
const isJson = process.argv.includes("--json")
if (isJson) {
  process.stdout.write = process.stderr.write.bind(process.stderr)
}

/** The machine a figure was measured on. */
export const machine = {
  cpu: cpus()[0]?.model.trim() ?? "unknown",
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  node: process.version,
  platform: `${process.platform}-${process.arch}`
}

/** The value below which the share `p` (0 to 1) of the samples lies; null without samples. */
export const percentile = (samples: ReadonlyArray<number> | Float64Array, p: number): number | null => {
  const sorted = Float64Array.from(samples).toSorted()
  return sorted.length === 0 ? null : (sorted[Math.min(sorted.length - 1, Math.ceil(p * sorted.length) - 1)] ?? null)
}

/** A bound that a figure must keep: true where it did not, and what happened, as a sentence. */
export type Bound = readonly [isMissed: boolean, sentence: string]

/** The sentences of the bounds that were missed. */
export const missedOf = (bounds: ReadonlyArray<Bound>): ReadonlyArray<string> =>
  bounds.flatMap(([isMissed, sentence]) => (isMissed ? [sentence] : []))

/** A bound of the most that a figure may be. One that is unknown misses it. */
export const atMost = (name: string, figure: number | null, most: number): Bound => [
  figure === null || !(figure <= most),
  `${name}: ${figure ?? "unknown"}, and at most ${most} was wanted.`
]

/** A bound of the least that a figure may be. One that is unknown misses it. */
export const atLeast = (name: string, figure: number | null, least: number): Bound => [
  figure === null || !(figure >= least),
  `${name}: ${figure ?? "unknown"}, and at least ${least} was wanted.`
]

/** Prints one benchmark's figures. With bounds, those that were `missed` are one of them, and the process ends with 1 if there are any. */
export const report = (bench: string, given: Record<string, unknown>, bounds?: ReadonlyArray<Bound>): void => {
  const missed = missedOf(bounds ?? [])
  const figures = bounds === undefined ? given : { missed, ...given }
  if (missed.length > 0) {
    process.exitCode = 1
  }
  if (isJson) {
    print(`${JSON.stringify({ bench, machine, ...figures })}\n`)
    return
  }
  process.stdout.write(`${bench}  (${machine.cpu}, ${machine.cores} cores, Node ${machine.node})\n`)
  for (const [name, value] of Object.entries(figures)) {
    process.stdout.write(`  ${name.padEnd(24)} ${typeof value === "object" ? JSON.stringify(value) : String(value)}\n`)
  }
}
