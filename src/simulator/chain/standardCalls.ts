/** Instructions of the programs that every transaction uses: compute budget, system, tokens, associated accounts. */
import { Address, type Mint, SOL } from "../../domain/Address.ts"
import { ASSOCIATED_TOKEN_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import { SYSTEM_PROGRAM } from "./addresses.ts"
import { type AccountRef, type Call, pays, reads, programLog, signs, writes } from "../../programs/transactions/Call.ts"
import { key, pack, u32, u64, u8 } from "../../programs/layout/pack.ts"
import { rentExempt } from "./tokens.ts"

const COMPUTE_BUDGET = Address.make("ComputeBudget111111111111111111111111111111")

const TOKEN_ACCOUNT_SIZE = 165

const native = (program: Address, accounts: ReadonlyArray<AccountRef>, data: Uint8Array): Call => ({
  program,
  accounts,
  data,
  steps: [],
  units: 150,
  native: true
})

/** Asks for this many compute units at this price, in millionths of a lamport each. */
export const computeBudget = (limit: number, microLamports: bigint): ReadonlyArray<Call> => [
  native(COMPUTE_BUDGET, [], pack(u8(2), u32(limit))),
  native(COMPUTE_BUDGET, [], pack(u8(3), u64(microLamports)))
]

/** Lamports from one account of the system program to another account. */
export const sendLamports = (from: Address, to: Address, amount: bigint): Call =>
  native(SYSTEM_PROGRAM, [pays(from), writes(to)], pack(u32(2), u64(amount)))

/** A new account of a program, which must sign for itself unless its address belongs to the calling program. */
export const createAccount = (payer: Address, account: Address, owner: Address, size: number): Call =>
  native(
    SYSTEM_PROGRAM,
    [pays(payer), pays(account)],
    pack(u32(0), u64(rentExempt(size)), u64(BigInt(size)), key(owner))
  )

const token = (program: Address, name: string, accounts: ReadonlyArray<AccountRef>, data: Uint8Array): Call => ({
  program,
  accounts,
  data,
  steps: [programLog(`Instruction: ${name}`)],
  units: 3_000
})

/** Tokens on their way. */
export interface TokenTransfer {
  readonly program: Address
  readonly from: Address
  readonly to: Address
  readonly mint: Mint
  readonly authority: Address
  readonly amount: bigint
  readonly decimals: number
}

/** A transfer that names its mint and decimals. */
export const transferChecked = ({ program, from, to, mint, authority, amount, decimals }: TokenTransfer): Call =>
  token(
    program,
    "TransferChecked",
    [writes(from), reads(mint), writes(to), signs(authority)],
    pack(u8(12), u64(amount), u8(decimals))
  )

/** A transfer that only names its accounts. */
export const transferUnchecked = ({ program, from, to, authority, amount }: TokenTransfer): Call =>
  token(program, "Transfer", [writes(from), writes(to), signs(authority)], pack(u8(3), u64(amount)))

/** A transfer with the fee that it expects. */
export const transferWithFee = (transfer: TokenTransfer, fee: bigint): Call =>
  token(
    transfer.program,
    "TransferCheckedWithFee",
    [writes(transfer.from), reads(transfer.mint), writes(transfer.to), signs(transfer.authority)],
    pack(u8(26), u8(1), u64(transfer.amount), u8(transfer.decimals), u64(fee))
  )

/** The owner of a token account that exists. */
export const initializeAccount = (program: Address, account: Address, mint: Mint, owner: Address): Call =>
  token(program, "InitializeAccount3", [writes(account), reads(mint)], pack(u8(18), key(owner)))

/** A mint that exists. */
export const initializeMint = (program: Address, mint: Mint, decimals: number, authority: Address): Call =>
  token(program, "InitializeMint2", [writes(mint)], pack(u8(20), u8(decimals), key(authority), u8(0)))

/** New units of a mint. */
export const mintTo = (program: Address, mint: Mint, to: Address, authority: Address, amount: bigint): Call =>
  token(program, "MintTo", [writes(mint), writes(to), signs(authority)], pack(u8(7), u64(amount)))

/** The balance of a wrapped SOL account after lamports came in. */
export const syncNative = (account: Address): Call => token(TOKEN_PROGRAM, "SyncNative", [writes(account)], u8(17))

/** Closes a token account, whose lamports go to its owner. */
export const closeAccount = (account: Address, owner: Address, program: Address = TOKEN_PROGRAM): Call =>
  token(program, "CloseAccount", [writes(account), writes(owner), signs(owner)], u8(9))

/** A wallet's account for a mint, made if it is missing: then with the calls inside that make it. */
export const openAssociated = (
  wallet: Address,
  account: Address,
  mint: Mint,
  tokenProgram: Address,
  size: number
): Call => ({
  program: ASSOCIATED_TOKEN_PROGRAM,
  accounts: [pays(wallet), writes(account), reads(wallet), reads(mint), reads(SYSTEM_PROGRAM), reads(tokenProgram)],
  data: u8(1),
  steps: [
    programLog("CreateIdempotent"),
    token(tokenProgram, "GetAccountDataSize", [reads(mint)], pack(u8(21), u8(7), u8(0))),
    createAccount(wallet, account, tokenProgram, size),
    programLog("Initialize the associated token account"),
    token(tokenProgram, "InitializeImmutableOwner", [writes(account)], u8(22)),
    initializeAccount(tokenProgram, account, mint, wallet)
  ],
  units: 9_000
})

/** Wraps SOL the way wallets do: in the associated account, for the length of the transaction. */
export const wrapAssociated = (wallet: Address, account: Address, amount: bigint) => ({
  before: [
    openAssociated(wallet, account, SOL, TOKEN_PROGRAM, TOKEN_ACCOUNT_SIZE),
    ...(amount === 0n ? [] : [sendLamports(wallet, account, amount), syncNative(account)])
  ],
  after: [closeAccount(account, wallet)]
})

/** Wraps SOL the way exchanges' own pages do: in an account of a seed, for the length of the transaction. */
export const wrapSeeded = (wallet: Address, account: Address, seed: string, amount: bigint) => ({
  before: [
    native(
      SYSTEM_PROGRAM,
      [pays(wallet), writes(account)],
      pack(
        u32(3),
        key(wallet),
        u64(BigInt(seed.length)),
        new TextEncoder().encode(seed),
        u64(rentExempt(TOKEN_ACCOUNT_SIZE) + amount),
        u64(BigInt(TOKEN_ACCOUNT_SIZE)),
        key(TOKEN_PROGRAM)
      )
    ),
    initializeAccount(TOKEN_PROGRAM, account, SOL, wallet)
  ],
  after: [closeAccount(account, wallet)]
})

/** True for the two token programs. */
export const isTokenProgram = (program: Address): boolean => program === TOKEN_PROGRAM || program === TOKEN_2022_PROGRAM
