/** Fields that most pool accounts have at fixed offsets: mints, vaults and LP tokens. */
import { Address, addressFromBytes, addressToBytes, type Mint } from "../../domain/Address.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { LpTokens, MemoryMatch, Program } from "../interface/Program.ts"
import { readAddress, readU64 } from "./bytes.ts"

/** Search filters for pools of `dataSize` bytes that have the mint at one of these offsets. */
export const poolsWithMintAt =
  (dataSize: number, ...offsets: ReadonlyArray<number>): Program["poolsOf"] =>
  (mint) =>
    offsets.map((offset) => ({ dataSize, matches: [{ offset, bytes: addressToBytes(mint) }] }))

/** Reads the mints and their vaults at these offsets. */
export const namedVaults =
  (...pairs: ReadonlyArray<{ readonly mint: number; readonly vault: number }>) =>
  ({ data }: OnChainAccount): ReadonlyArray<{ readonly mint: Mint; readonly vault: Address }> =>
    pairs.map(({ mint, vault }) => ({ mint: readAddress(data, mint), vault: readAddress(data, vault) }))

const DISCRIMINATOR = [0, 8] as const

/** A range of bytes: where it begins, and its length. */
export type Field = readonly [offset: number, length: number]

/** Fields of 32 bytes at these offsets. */
export const addressesAt = (...offsets: ReadonlyArray<number>): ReadonlyArray<Field> =>
  offsets.map((offset) => [offset, 32])

/** True when two states of an account have the same owner, length, discriminator and fields. */
export const sameFields = (fields: ReadonlyArray<Field>): NonNullable<Program["keepsNeeds"]> => {
  const all = [DISCRIMINATOR, ...fields]
  return ({ data: before, owner }, { data: after, owner: ownerAfter }) => {
    if (owner !== ownerAfter || before.length !== after.length) {
      return false
    }
    for (const [offset, length] of all) {
      for (let i = offset; i < offset + length; i++) {
        if (before[i] !== after[i]) {
          return false
        }
      }
    }
    return true
  }
}

/**
 * Reads the LP tokens at these offsets, as a field to spread into a pool. Returns no field when no LP token is
 * issued.
 */
export const lpTokensAt = (data: Uint8Array, mintAt: number, issuedAt: number): { readonly lp?: LpTokens } => {
  const issued = readU64(data, issuedAt)
  return issued === 0n ? {} : { lp: { mint: readAddress(data, mintAt), issued } }
}

const PROBE = Address.make("Probe11111111111111111111111111111111111111")
const PROBE_TEXT = addressToBytes(PROBE).toString()

const isProbe = ({ bytes }: MemoryMatch): boolean => bytes.toString() === PROBE_TEXT

/**
 * Byte offsets of the mints in a pool account, from the program's search filters. Empty when its pools name no mint.
 */
export const mintOffsets = (program: Program): ReadonlyArray<number> =>
  program
    .poolsOf(PROBE)
    .flatMap(({ matches }) => matches)
    .filter(isProbe)
    .map(({ offset }) => offset)

/** The mints that a pool account names. */
export const mintsNamedBy = (program: Program, data: Uint8Array): ReadonlyArray<Mint> =>
  mintOffsets(program).map((offset) => addressFromBytes(data.subarray(offset, offset + 32)))

/**
 * The search conditions that every pool of the program meets, whatever its mints. Null when its pools name no mint.
 */
export const poolConditions = (
  program: Program
): { readonly dataSize?: number; readonly matches: ReadonlyArray<MemoryMatch> } | null => {
  const [first] = program.poolsOf(PROBE)
  return first === undefined ? null : { ...first, matches: first.matches.filter((match) => !isProbe(match)) }
}
