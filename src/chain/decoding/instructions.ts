/** Reads the instructions of a transaction, outer and inner, in the order in which they ran. */
import { ASSOCIATED_TOKEN_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import { Address } from "../../domain/Address.ts"
import { fromBase58 } from "../../domain/base58.ts"
import { type Fields, isAddresses, isCount, isFields, looksLikeAddress } from "./jsonFields.ts"
import { type TokenTransfer, NO_TRANSFERS, systemTransfers, tokenTransfers } from "./tokenTransfers.ts"
import { parsedTransfer } from "./parsedTransfers.ts"

export const SYSTEM_PROGRAM: Address = Address.make("11111111111111111111111111111111")

/** Top-level programs that move a wallet's tokens or lamports without trading them. */
export const plainPrograms: ReadonlySet<Address> = new Set([
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
  TOKEN_2022_PROGRAM,
  ASSOCIATED_TOKEN_PROGRAM
])

/** One instruction that ran. */
export interface Instruction {
  readonly program: Address
  readonly accounts: ReadonlyArray<Address>
  /**
   * Base58 as nodes write it in either encoding, or bytes as a Geyser sends them. Null when the node only sent the
   * parsed form. See `dataOf`.
   */
  readonly data: string | Uint8Array | null
  /** What it did to tokens or lamports; empty for other programs. */
  readonly transfers: ReadonlyArray<TokenTransfer>
  /** Index of the outer instruction that it is, or that it ran in. */
  readonly outer: number
  /** Position among the inner instructions; null for the outer instruction itself. */
  readonly inner: number | null
  /** Depth of the call, 1 for an outer instruction. Null for an inner instruction when the node does not state it. */
  readonly height: number | null
}

/** The instruction's bytes; null when the node did not send them, or sent something that is not base58. */
export const dataOf = ({ data }: Instruction): Uint8Array | null => (data === null ? null : bytesOf(data))

const bytesOf = (data: string | Uint8Array): Uint8Array | null => (typeof data === "string" ? fromBase58(data) : data)

interface Position {
  readonly outer: number
  readonly inner: number | null
  readonly height: number | null
}

const NO_ACCOUNTS: ReadonlyArray<Address> = []

/** What an instruction did to tokens or lamports. `data` is only called for programs that move them. */
export const transfersBy = (
  program: Address,
  accounts: ReadonlyArray<Address>,
  data: () => Uint8Array | null
): ReadonlyArray<TokenTransfer> => {
  const read =
    program === TOKEN_PROGRAM || program === TOKEN_2022_PROGRAM
      ? tokenTransfers
      : program === SYSTEM_PROGRAM
        ? systemTransfers
        : null
  const bytes = read === null ? null : data()
  return read === null || bytes === null ? NO_TRANSFERS : read(bytes, accounts)
}

/** Reads accounts: indexes in encoding `json`, addresses in `jsonParsed`. */
const readAccounts = (list: unknown, keys: ReadonlyArray<Address>): ReadonlyArray<Address> | null => {
  if (!Array.isArray(list) || typeof list[0] === "string") {
    return isAddresses(list) ? list : null
  }
  const accounts: Array<Address> = []
  for (const index of list) {
    const key = isCount(index) ? keys[index] : undefined
    if (key === undefined) {
      return null
    }
    accounts.push(key)
  }
  return accounts
}

const readParsed = (entry: Fields, program: Address, position: Position): Instruction | null => {
  const moved = parsedTransfer(entry["program"], entry["parsed"])
  const transfers = moved === null || moved === "malformed" ? NO_TRANSFERS : [moved]
  return moved === "malformed" ? null : { ...position, program, accounts: NO_ACCOUNTS, data: null, transfers }
}

const readInstruction = (entry: unknown, keys: ReadonlyArray<Address>, position: Position): Instruction | null => {
  if (!isFields(entry)) {
    return null
  }
  const program = isCount(entry["programIdIndex"]) ? keys[entry["programIdIndex"]] : entry["programId"]
  if (!looksLikeAddress(program)) {
    return null
  }
  if (entry["parsed"] !== undefined) {
    return readParsed(entry, program, position)
  }
  const accounts = readAccounts(entry["accounts"], keys)
  const { data } = entry
  if (accounts === null || typeof data !== "string") {
    return null
  }
  return { ...position, program, accounts, data, transfers: transfersBy(program, accounts, () => bytesOf(data)) }
}

/** Inner instructions by the index of their outer one; null when malformed. */
const readGroups = (groups: unknown): ReadonlyMap<number, ReadonlyArray<unknown>> | null => {
  if (!Array.isArray(groups)) {
    return null
  }
  const byOuter = new Map<number, ReadonlyArray<unknown>>()
  for (const group of groups) {
    if (!isFields(group) || !isCount(group["index"]) || !Array.isArray(group["instructions"])) {
      return null
    }
    byOuter.set(group["index"], group["instructions"])
  }
  return byOuter
}

const heightOf = (entry: unknown): number | null =>
  isFields(entry) && isCount(entry["stackHeight"]) ? entry["stackHeight"] : null

/** All instructions, in the order in which they ran; null when malformed. */
export const readInstructions = (
  outers: unknown,
  groups: unknown,
  keys: ReadonlyArray<Address>
): ReadonlyArray<Instruction> | null => {
  const byOuter = readGroups(groups)
  if (!Array.isArray(outers) || byOuter === null) {
    return null
  }
  const instructions: Array<Instruction> = []
  for (const [outer, entry] of outers.entries()) {
    const inners = byOuter.get(outer) ?? []
    for (let i = -1; i < inners.length; i++) {
      const isOuter = i === -1
      const position = { outer, inner: isOuter ? null : i, height: isOuter ? 1 : heightOf(inners[i]) }
      const instruction = readInstruction(isOuter ? entry : inners[i], keys, position)
      if (instruction === null) {
        return null
      }
      instructions.push(instruction)
    }
  }
  return instructions
}
