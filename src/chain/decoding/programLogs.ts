/** Finds the swap events in a log, and the program of each. */
import type { Address } from "../../domain/Address.ts"
import { addReport, type CallReport } from "./swapCalls.ts"
import { swapDecoderOf } from "../../programs/registry.ts"
import type { LogStep } from "./logSteps.ts"

/** The swap events of each program in the log, in order. A truncated log has fewer events than there were swaps. */
export const loggedReports = (log: ReadonlyArray<LogStep>): ReadonlyMap<Address, ReadonlyArray<CallReport>> => {
  const reports = new Map<Address, Array<CallReport>>()
  const running: Array<Address> = []
  for (const step of log) {
    if (step === null) {
      running.pop()
      continue
    }
    if (typeof step === "string") {
      running.push(step)
      continue
    }
    const caller = running.at(-1)
    const program = caller === undefined ? undefined : swapDecoderOf.get(caller)
    const report = program?.logged?.(step) ?? null
    if (program !== undefined && report !== null) {
      const known = reports.get(program.programId) ?? []
      addReport(known, { ...report, dex: program.dex })
      reports.set(program.programId, known)
    }
  }
  return reports
}
