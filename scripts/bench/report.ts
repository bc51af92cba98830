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

/** Prints one benchmark's figures. */
export const report = (bench: string, figures: Record<string, unknown>): void => {
  if (isJson) {
    print(`${JSON.stringify({ bench, machine, ...figures })}\n`)
    return
  }
  process.stdout.write(`${bench}  (${machine.cpu}, ${machine.cores} cores, Node ${machine.node})\n`)
  for (const [name, value] of Object.entries(figures)) {
    process.stdout.write(`  ${name.padEnd(24)} ${typeof value === "object" ? JSON.stringify(value) : String(value)}\n`)
  }
}
