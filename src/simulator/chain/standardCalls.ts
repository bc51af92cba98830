/** Instructions that every transaction uses: compute budget, system, tokens, associated accounts. */
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

/** Requests this many compute units, each for this price in millionths of a lamport. */
export const computeBudget = (limit: number, microLamports: bigint): ReadonlyArray<Call> => [
  native(COMPUTE_BUDGET, [], pack(u8(2), u32(limit))),
  native(COMPUTE_BUDGET, [], pack(u8(3), u64(microLamports)))
]

/** Sends lamports from a system account to another account. */
export const sendLamports = (from: Address, to: Address, amount: bigint): Call =>
  native(SYSTEM_PROGRAM, [pays(from), writes(to)], pack(u32(2), u64(amount)))

/**
 * Creates an account that a program owns. The new account must sign, unless its address belongs to the calling
 * program.
 */
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

export interface TokenTransfer {
  readonly program: Address
  readonly from: Address
  readonly to: Address
  readonly mint: Mint
  readonly authority: Address
  readonly amount: bigint
  readonly decimals: number
}

/** A transfer that names the mint and its decimals. */
export const transferChecked = ({ program, from, to, mint, authority, amount, decimals }: TokenTransfer): Call =>
  token(
    program,
    "TransferChecked",
    [writes(from), reads(mint), writes(to), signs(authority)],
    pack(u8(12), u64(amount), u8(decimals))
  )

/** A transfer that names only the accounts. */
export const transferUnchecked = ({ program, from, to, authority, amount }: TokenTransfer): Call =>
  token(program, "Transfer", [writes(from), writes(to), signs(authority)], pack(u8(3), u64(amount)))

/** A transfer that states the expected fee. */
export const transferWithFee = (transfer: TokenTransfer, fee: bigint): Call =>
  token(
    transfer.program,
    "TransferCheckedWithFee",
    [writes(transfer.from), reads(transfer.mint), writes(transfer.to), signs(transfer.authority)],
    pack(u8(26), u8(1), u64(transfer.amount), u8(transfer.decimals), u64(fee))
  )

/** Sets the mint and the owner of a new token account. */
export const initializeAccount = (program: Address, account: Address, mint: Mint, owner: Address): Call =>
  token(program, "InitializeAccount3", [writes(account), reads(mint)], pack(u8(18), key(owner)))

/** Initializes a mint in a new account. */
export const initializeMint = (program: Address, mint: Mint, decimals: number, authority: Address): Call =>
  token(program, "InitializeMint2", [writes(mint)], pack(u8(20), u8(decimals), key(authority), u8(0)))

/** Mints new units. */
export const mintTo = (program: Address, mint: Mint, to: Address, authority: Address, amount: bigint): Call =>
  token(program, "MintTo", [writes(mint), writes(to), signs(authority)], pack(u8(7), u64(amount)))

/** Destroys units. */
export const burn = (program: Address, mint: Mint, from: Address, authority: Address, amount: bigint): Call =>
  token(program, "Burn", [writes(from), writes(mint), signs(authority)], pack(u8(8), u64(amount)))

/** Freezes or thaws a token account. */
export const freeze = (program: Address, account: Address, mint: Mint, authority: Address, isFrozen: boolean): Call =>
  token(
    program,
    isFrozen ? "FreezeAccount" : "ThawAccount",
    [writes(account), reads(mint), signs(authority)],
    u8(isFrozen ? 10 : 11)
  )

/** Updates the balance of a wrapped SOL account after lamports came in. */
export const syncNative = (account: Address): Call => token(TOKEN_PROGRAM, "SyncNative", [writes(account)], u8(17))

/** Closes a token account. Its lamports go to its owner. */
export const closeAccount = (account: Address, owner: Address, program: Address = TOKEN_PROGRAM): Call =>
  token(program, "CloseAccount", [writes(account), writes(owner), signs(owner)], u8(9))

/** Creates a wallet's account for a mint if it is missing. Only then the call has inner calls. */
export const openAssociated = (
  wallet: Address,
  account: Address,
  mint: Mint,
  tokenProgram: Address,
  size: number,
  payer = wallet
): Call => ({
  program: ASSOCIATED_TOKEN_PROGRAM,
  accounts: [pays(payer), writes(account), reads(wallet), reads(mint), reads(SYSTEM_PROGRAM), reads(tokenProgram)],
  data: u8(1),
  steps: [
    programLog("CreateIdempotent"),
    token(tokenProgram, "GetAccountDataSize", [reads(mint)], pack(u8(21), u8(7), u8(0))),
    createAccount(payer, account, tokenProgram, size),
    programLog("Initialize the associated token account"),
    token(tokenProgram, "InitializeImmutableOwner", [writes(account)], u8(22)),
    initializeAccount(tokenProgram, account, mint, wallet)
  ],
  units: 9_000
})

/** Wraps SOL like wallets do: in the associated account, for one transaction. */
export const wrapAssociated = (wallet: Address, account: Address, amount: bigint) => ({
  before: [
    openAssociated(wallet, account, SOL, TOKEN_PROGRAM, TOKEN_ACCOUNT_SIZE),
    ...(amount === 0n ? [] : [sendLamports(wallet, account, amount), syncNative(account)])
  ],
  after: [closeAccount(account, wallet)]
})

/** Wraps SOL like the websites of exchanges do: in a seeded account, for one transaction. */
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
