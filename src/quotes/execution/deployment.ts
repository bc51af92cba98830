/** Finds out how programs are deployed, from their accounts under the loaders. */
import { createHash } from "node:crypto"
import { Address, addressToBytes } from "../../domain/Address.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { readAddress, readU32, readU64 } from "../../programs/layout/bytes.ts"
import type { DeriveAddress } from "../../programs/interface/Program.ts"

const UPGRADEABLE_LOADER = Address.make("BPFLoaderUpgradeab1e11111111111111111111111")
const LOADER_V4 = Address.make("LoaderV411111111111111111111111111111111111")
const FINAL_LOADERS: ReadonlySet<Address> = new Set([
  Address.make("BPFLoader2111111111111111111111111111111111"),
  Address.make("BPFLoader1111111111111111111111111111111111")
])

/** The upgradeable loader's account states: the first four bytes. */
const state = { program: 2, programData: 3 }
/**
 * Offsets. A program account: state (u32), address of its ProgramData account. ProgramData: state (u32), slot of the
 * deployment (u64), authority (1 + 32 bytes), then the program.
 */
const at = { programData: 4, slot: 4, authority: 12, elf: 45 }
const PROGRAM_SIZE = 36
/**
 * Offsets in a program of loader v4: slot of the deployment (u64), authority (32 bytes), status (u64: 0 retracted, 1
 * deployed, 2 finalized), then the program.
 */
const atV4 = { slot: 0, status: 40, elf: 48 }
const statusV4 = { retracted: 0n, finalized: 2n }

/** The part of these accounts that describes the deployment. */
export const HEADER = { offset: 0, length: 48 }

export interface Deployment {
  /** Slot of the last deployment or extension; null where the loader keeps none. */
  readonly slot: number | null
  /** True when the program can no longer change: it has no authority, is finalized, or its loader has no upgrades. */
  readonly isImmutable: boolean
  /** The account with the program's bytes, and where they begin. */
  readonly code: { readonly address: Address; readonly offset: number }
}

/** Why a program is not deployed, or why that is unknown. */
export interface NotDeployed {
  readonly reason: string
}

/** The address where the upgradeable loader keeps a program's bytes. */
export const programDataAddress = (programId: Address, derive: DeriveAddress): Address =>
  derive(UPGRADEABLE_LOADER, [addressToBytes(programId)])

type ReadState = (address: Address) => OnChainAccount | null | undefined

const upgradeable = (program: OnChainAccount, read: ReadState): Deployment | NotDeployed => {
  if (program.data.length < PROGRAM_SIZE || readU32(program.data, 0) !== state.program) {
    return { reason: `account ${program.address} is not a program account` }
  }
  const address = readAddress(program.data, at.programData)
  const data = read(address)
  if (data === undefined || data === null || data.owner !== UPGRADEABLE_LOADER || data.data.length < at.elf) {
    return { reason: `the program is closed: ProgramData ${address} is empty` }
  }
  return readU32(data.data, 0) === state.programData
    ? {
        slot: Number(readU64(data.data, at.slot)),
        isImmutable: data.data[at.authority] === 0,
        code: { address, offset: at.elf }
      }
    : { reason: `account ${address} is not a ProgramData account` }
}

const ofLoaderV4 = ({ address, data }: OnChainAccount): Deployment | NotDeployed => {
  const status = data.length < atV4.elf ? statusV4.retracted : readU64(data, atV4.status)
  return status === statusV4.retracted
    ? { reason: "the program is retracted" }
    : {
        slot: Number(readU64(data, atV4.slot)),
        isImmutable: status === statusV4.finalized,
        code: { address, offset: atV4.elf }
      }
}

/**
 * Reads the deployment from the program account and, under the upgradeable loader, from its ProgramData account.
 * Their headers are enough.
 */
export const deploymentOf = (programId: Address, read: ReadState): Deployment | NotDeployed => {
  const program = read(programId)
  if (program === undefined || program === null) {
    return { reason: "there is no program account" }
  }
  if (program.owner === UPGRADEABLE_LOADER) {
    return upgradeable(program, read)
  }
  if (program.owner === LOADER_V4) {
    return ofLoaderV4(program)
  }
  return FINAL_LOADERS.has(program.owner)
    ? { slot: null, isImmutable: true, code: { address: programId, offset: 0 } }
    : { reason: `the program is owned by ${program.owner}, an unknown loader` }
}

/** A deployed program with its bytes. */
export interface DeployedProgram {
  readonly elf: Uint8Array
  /** Slot of its last deployment; null where that is not known. */
  readonly slot: number | null
  /** SHA-256 of the bytes, in hex. */
  readonly sha256: string
}

/** A program made from its bytes alone, without its account. */
export const programOf = (elf: Uint8Array, slot: number | null = null): DeployedProgram => ({
  elf,
  slot,
  sha256: createHash("sha256").update(elf).digest("hex")
})

/** Reads the deployed program with its bytes, from the same accounts in full length. */
export const deployedProgram = (programId: Address, read: ReadState): DeployedProgram | NotDeployed => {
  const deployment = deploymentOf(programId, read)
  if ("reason" in deployment) {
    return deployment
  }
  const { code, slot } = deployment
  const elf = read(code.address)?.data.subarray(code.offset) ?? new Uint8Array(0)
  return elf.length === 0 ? { reason: `the program is closed: account ${code.address} is empty` } : programOf(elf, slot)
}
