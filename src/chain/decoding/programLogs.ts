/** Finds the events that programs write into the log as base64, and the program of each. */
import type { Address } from "../../domain/Address.ts"
import { addReport, type CallReport } from "./swapCalls.ts"
import { swapDecoderOf } from "../../programs/registry.ts"

const DATA = "Program data: "
const RAY_LOG = "Program log: ray_log: "

const payloadOf = (line: string): Uint8Array | null => {
  if (line.startsWith(DATA)) {
    return Buffer.from(line.slice(DATA.length), "base64")
  }
  return line.startsWith(RAY_LOG) ? Buffer.from(line.slice(RAY_LOG.length), "base64") : null
}

const PROGRAM = "Program "
const SHORTEST_ADDRESS = 32

/** Tracks which program is running, from lines like "Program <address> invoke [2]" and "Program <address> success". */
const step = (running: Array<string>, line: string): void => {
  const end = line.startsWith(PROGRAM) ? line.indexOf(" ", PROGRAM.length) : -1
  if (end - PROGRAM.length < SHORTEST_ADDRESS) {
    return
  }
  if (line.startsWith("invoke [", end + 1)) {
    running.push(line.slice(PROGRAM.length, end))
  } else if (line.startsWith("success", end + 1) || line.startsWith("failed", end + 1)) {
    running.pop()
  }
}

/** The swap events of each program in the log, in order. A truncated log has fewer events than there were swaps. */
export const loggedReports = (logs: ReadonlyArray<string>): ReadonlyMap<Address, ReadonlyArray<CallReport>> => {
  const reports = new Map<Address, Array<CallReport>>()
  const running: Array<string> = []
  for (const line of logs) {
    const payload = payloadOf(line)
    if (payload === null) {
      step(running, line)
      continue
    }
    const program = swapDecoderOf.get((running.at(-1) ?? "") as Address)
    const report = program?.logged?.(payload) ?? null
    if (program !== undefined && report !== null) {
      const known = reports.get(program.programId) ?? []
      addReport(known, { ...report, dex: program.dex })
      reports.set(program.programId, known)
    }
  }
  return reports
}
