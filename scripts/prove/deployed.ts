/** The bytes of a deployed program, from its accounts. */
import { createHash } from "node:crypto"
import type { OnChainAccount } from "../../src/domain/OnChainAccount.ts"
import { Address } from "../../src/domain/Address.ts"
import { readAddress, readU32, readU64 } from "../../src/programs/math/bytes.ts"

const UPGRADEABLE_LOADER = Address.make("BPFLoaderUpgradeab1e11111111111111111111111")
const FINAL_LOADER = Address.make("BPFLoader2111111111111111111111111111111111")

/** States of the upgradeable loader's accounts: the first four bytes. */
const state = { program: 2, programData: 3 }
/** ProgramData: state (u32), slot of the deployment (u64), authority (1 + 32 bytes), then the program. */
const at = { programData: 4, slot: 4, elf: 45 }

/** A program as it is deployed. */
export interface DeployedProgram {
  readonly elf: Uint8Array
  /** Slot of its last deployment; null where that is not known. */
  readonly slot: number | null
  /** SHA-256 of the bytes, in hex. */
  readonly sha256: string
}

/** A program of which nothing but the bytes is known. */
export const programOf = (elf: Uint8Array, slot: number | null = null): DeployedProgram => ({
  elf,
  slot,
  sha256: createHash("sha256").update(elf).digest("hex")
})

/** Reads an account; null when there is none. */
export type ReadAccount = (address: Address) => Promise<OnChainAccount | null>

/** The deployed program: of a program account, its ProgramData account. Throws with the reason when there is none. */
export const readProgram = async (programId: Address, read: ReadAccount): Promise<DeployedProgram> => {
  const program = await read(programId)
  if (program === null) {
    throw new Error(`program ${programId} does not exist`)
  }
  if (program.owner === FINAL_LOADER) {
    return programOf(program.data)
  }
  if (program.owner !== UPGRADEABLE_LOADER || program.data.length < 36 || readU32(program.data, 0) !== state.program) {
    throw new Error(`program ${programId} is owned by ${program.owner}, a loader that is not read`)
  }
  const address = readAddress(program.data, at.programData)
  const data = await read(address)
  if (data === null || data.owner !== UPGRADEABLE_LOADER || data.data.length <= at.elf) {
    throw new Error(`program ${programId} is closed: ProgramData ${address} is empty`)
  }
  if (readU32(data.data, 0) !== state.programData) {
    throw new Error(`account ${address} of program ${programId} is no ProgramData account`)
  }
  return programOf(data.data.subarray(at.elf), Number(readU64(data.data, at.slot)))
}
