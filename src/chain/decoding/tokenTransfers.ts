/** What instructions of the token and system programs did, the same for both encodings of a node. */
import type { Address, Mint } from "../../domain/Address.ts"
import { readU32, readU64 } from "../../programs/layout/bytes.ts"
import { keyTexts } from "./KeyTexts.ts"

/** One effect of a token or system instruction. */
export type TokenTransfer =
  /** Tokens between two token accounts. */
  | {
      readonly kind: "transfer"
      readonly source: Address
      readonly destination: Address
      readonly authority: Address | null
      /** Null when the instruction does not name it. The accounts do. */
      readonly mint: Mint | null
      /** Units that left the source. */
      readonly amount: bigint
    }
  /** Lamports between two accounts. `created` when they pay for a new account, which is rent and not a payment. */
  | {
      readonly kind: "lamports"
      readonly source: Address
      readonly destination: Address
      readonly amount: bigint
      readonly created: boolean
    }
  /** A token account was opened. */
  | { readonly kind: "open"; readonly account: Address; readonly mint: Mint; readonly owner: Address }
  /** A token account was closed. Its lamports, including wrapped SOL, went to the destination. */
  | { readonly kind: "close"; readonly account: Address; readonly destination: Address }
  /** Tokens were minted or burned in an account. */
  | { readonly kind: "mint" | "burn"; readonly account: Address; readonly mint: Mint; readonly amount: bigint }

/** Tokens from one account to another. */
export type TokenPayment = Extract<TokenTransfer, { readonly kind: "transfer" }>

/** The effects of an instruction of any other program. */
export const NO_TRANSFERS: ReadonlyArray<TokenTransfer> = []

type Accounts = ReadonlyArray<Address>

const transfer = (
  source: Address | undefined,
  destination: Address | undefined,
  authority: Address | undefined,
  mint: Mint | null,
  amount: bigint
): TokenTransfer | null =>
  source === undefined || destination === undefined
    ? null
    : { kind: "transfer", source, destination, authority: authority ?? null, mint, amount }

const opened = (
  account: Address | undefined,
  mint: Mint | undefined,
  owner: Address | undefined
): TokenTransfer | null =>
  account === undefined || mint === undefined || owner === undefined ? null : { kind: "open", account, mint, owner }

const closed = (account: Address | undefined, destination: Address | undefined): TokenTransfer | null =>
  account === undefined || destination === undefined ? null : { kind: "close", account, destination }

const supply = (
  kind: "mint" | "burn",
  account: Address | undefined,
  mint: Mint | undefined,
  amount: bigint
): TokenTransfer | null => (account === undefined || mint === undefined ? null : { kind, account, mint, amount })

/** The least length of each instruction of the token program, by its first byte. */
const tokenLengths: Readonly<Record<number, number>> = {
  1: 1,
  3: 9,
  7: 9,
  8: 9,
  9: 1,
  12: 10,
  14: 10,
  15: 10,
  16: 33,
  18: 33,
  26: 11
}

/** Layout: `spl-token` and `spl-token-2022`. */
const tokenTransfer = (data: Uint8Array, accounts: Accounts): TokenTransfer | null => {
  const tag = data[0] ?? -1
  const least = tokenLengths[tag]
  if (least === undefined || data.length < least) {
    return null
  }
  const a = accounts[0]
  const b = accounts[1]
  const c = accounts[2]
  const d = accounts[3]
  switch (tag) {
    case 1:
      return opened(a, b, c)
    case 3:
      return transfer(a, b, c, null, readU64(data, 1))
    case 7:
    case 14:
      return supply("mint", b, a, readU64(data, 1))
    case 8:
    case 15:
      return supply("burn", a, b, readU64(data, 1))
    case 9:
      return closed(a, b)
    case 12:
      return transfer(a, c, d, b ?? null, readU64(data, 1))
    case 16:
    case 18:
      return opened(a, b, keyTexts.ofKey(data, 1))
    default:
      // 26 is the transfer-fee extension; its instruction 1 is a transfer.
      return data[1] === 1 ? transfer(a, c, d, b ?? null, readU64(data, 2)) : null
  }
}

const BATCH = 255

/** Several instructions in one, each with its count of accounts, its length and its bytes. Layout: `p-token`. */
const batchTransfers = (data: Uint8Array, accounts: Accounts): ReadonlyArray<TokenTransfer> => {
  const transfers: Array<TokenTransfer> = []
  let at = 1
  let from = 0
  while (at + 2 <= data.length) {
    const to = from + (data[at] ?? 0)
    const end = at + 2 + (data[at + 1] ?? 0)
    const moved = tokenTransfer(data.subarray(at + 2, end), accounts.slice(from, to))
    if (moved !== null) {
      transfers.push(moved)
    }
    at = end
    from = to
  }
  return transfers
}

/** The effects of an instruction of either token program. */
export const tokenTransfers = (data: Uint8Array, accounts: Accounts): ReadonlyArray<TokenTransfer> => {
  if (data[0] === BATCH) {
    return batchTransfers(data, accounts)
  }
  const moved = tokenTransfer(data, accounts)
  return moved === null ? NO_TRANSFERS : [moved]
}

const lamports = (
  source: Address | undefined,
  destination: Address | undefined,
  amount: bigint,
  created: boolean
): TokenTransfer | null =>
  source === undefined || destination === undefined ? null : { kind: "lamports", source, destination, amount, created }

const systemTransfer = (data: Uint8Array, accounts: Accounts): TokenTransfer | null => {
  if (data.length < 12) {
    return null
  }
  const a = accounts[0]
  const b = accounts[1]
  const c = accounts[2]
  switch (readU32(data, 0)) {
    case 0:
      return lamports(a, b, readU64(data, 4), true)
    case 2:
      return lamports(a, b, readU64(data, 4), false)
    case 3:
      return createdWithSeed(data, a, b)
    case 11:
      return lamports(a, c, readU64(data, 4), false)
    default:
      return null
  }
}

/** A base key and a seed of any length precede the lamports. */
const createdWithSeed = (data: Uint8Array, payer: Address | undefined, account: Address | undefined) => {
  const seedLengthAt = 36
  if (data.length < seedLengthAt + 8) {
    return null
  }
  const at = seedLengthAt + 8 + readU32(data, seedLengthAt)
  return data.length < at + 8 ? null : lamports(payer, account, readU64(data, at), true)
}

/** The effects of an instruction of the system program on lamports. */
export const systemTransfers = (data: Uint8Array, accounts: Accounts): ReadonlyArray<TokenTransfer> => {
  const moved = systemTransfer(data, accounts)
  return moved === null ? NO_TRANSFERS : [moved]
}
