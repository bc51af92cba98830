/** What decoders read of a log: which program runs, and the events that it writes as base64. */
import type { Address } from "../../domain/Address.ts"

/**
 * What a line of a log says: the address of a program that is called, null for the end of the running program, or the
 * bytes of an event.
 */
export type LogStep = Address | Uint8Array | null

export const PROGRAM = "Program "
export const DATA = "data: "
export const RAY_LOG = "log: ray_log: "
export const INVOKED = "invoke ["
export const ENDED = ["success", "failed"] as const
/** Letters of addresses. */
export const SHORTEST_ADDRESS = 32
export const LONGEST_ADDRESS = 44

/** The step of a line; undefined for other lines. */
const stepOf = (line: string): LogStep | undefined => {
  if (!line.startsWith(PROGRAM)) {
    return undefined
  }
  for (const prefix of [DATA, RAY_LOG]) {
    if (line.startsWith(prefix, PROGRAM.length)) {
      return Buffer.from(line.slice(PROGRAM.length + prefix.length), "base64")
    }
  }
  const end = line.indexOf(" ", PROGRAM.length)
  const letters = end - PROGRAM.length
  if (letters < SHORTEST_ADDRESS || letters > LONGEST_ADDRESS) {
    return undefined
  }
  if (line.startsWith(INVOKED, end + 1)) {
    // Of the runtime, which writes addresses.
    return line.slice(PROGRAM.length, end) as Address
  }
  return ENDED.some((word) => line.startsWith(word, end + 1)) ? null : undefined
}

/** The steps of lines like "Program <address> invoke [2]", "Program data: <base64>" and "Program <address> success". */
export const stepsIn = (lines: ReadonlyArray<string>): ReadonlyArray<LogStep> =>
  lines.flatMap((line) => {
    const step = stepOf(line)
    return step === undefined ? [] : [step]
  })
