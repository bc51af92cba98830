/** Places of the mints in a pool account. */
import { Address, addressFromBytes, addressToBytes, type Mint } from "../../domain/Address.ts"
import type { Program } from "../Program.ts"

const PROBE = Address.make("Probe11111111111111111111111111111111111111")

/** Byte offsets of the mints in a pool account, derived from the program's search filters. Empty where a pool names none. */
export const mintOffsets = (program: Program): ReadonlyArray<number> => {
  const probe = addressToBytes(PROBE).toString()
  return program
    .poolsOf(PROBE)
    .flatMap(({ matches }) => matches)
    .filter(({ bytes }) => bytes.toString() === probe)
    .map(({ offset }) => offset)
}

/** The mints that the bytes of a pool account name. */
export const mintsNamedBy = (program: Program, data: Uint8Array): ReadonlyArray<Mint> =>
  mintOffsets(program).map((offset) => addressFromBytes(data.subarray(offset, offset + 32)))
