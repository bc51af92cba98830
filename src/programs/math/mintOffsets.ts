/** Places of the mints in a pool account, and the conditions that every pool account meets. */
import { Address, addressFromBytes, addressToBytes, type Mint } from "../../domain/Address.ts"
import type { MemoryMatch, Program } from "../Program.ts"

const PROBE = Address.make("Probe11111111111111111111111111111111111111")
const PROBE_TEXT = addressToBytes(PROBE).toString()

const isProbe = ({ bytes }: MemoryMatch): boolean => bytes.toString() === PROBE_TEXT

/** Byte offsets of the mints in a pool account, derived from the program's search filters. Empty where a pool names none. */
export const mintOffsets = (program: Program): ReadonlyArray<number> =>
  program
    .poolsOf(PROBE)
    .flatMap(({ matches }) => matches)
    .filter(isProbe)
    .map(({ offset }) => offset)

/** The mints that the bytes of a pool account name. */
export const mintsNamedBy = (program: Program, data: Uint8Array): ReadonlyArray<Mint> =>
  mintOffsets(program).map((offset) => addressFromBytes(data.subarray(offset, offset + 32)))

/** The conditions of a search that do not depend on the mint: all pools of the program meet them. Null where a pool names no mint. */
export const poolConditions = (
  program: Program
): { readonly dataSize?: number; readonly matches: ReadonlyArray<MemoryMatch> } | null => {
  const [first] = program.poolsOf(PROBE)
  return first === undefined ? null : { ...first, matches: first.matches.filter((match) => !isProbe(match)) }
}
