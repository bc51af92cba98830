/** What a transaction did, as a node remembers it. */
import { readAddress } from "../../programs/math/bytes.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import type { Call } from "./Call.ts"
import { compileMessage, isWritable, type LookupTables, type Message } from "./message.ts"
import { balanceOf, mintOf } from "./tokens.ts"
import { isTokenAccount, type World } from "./World.ts"

/** A balance of a token account, by the place of the account among the message's keys. */
export interface TokenBalance {
  readonly index: number
  readonly mint: Mint
  readonly owner: Address
  readonly program: Address
  readonly amount: bigint
  readonly decimals: number
}

/** The instruction that failed, by its place, and the program's error code. */
export interface TransactionError {
  readonly index: number
  readonly code: number
}

/** A message and everything that came of it. */
export interface Receipt {
  readonly message: Message
  readonly blockhash: string
  readonly calls: ReadonlyArray<Call>
  readonly error: TransactionError | null
  readonly fee: bigint
  readonly unitLimit: number
  readonly lamports: { readonly before: ReadonlyArray<bigint>; readonly after: ReadonlyArray<bigint> }
  readonly tokens: { readonly before: ReadonlyArray<TokenBalance>; readonly after: ReadonlyArray<TokenBalance> }
}

/** What a transaction asks for. */
export interface Order {
  readonly payer: Address
  readonly calls: ReadonlyArray<Call>
  readonly version: 0 | "legacy"
  readonly tables: LookupTables | null
  readonly error: TransactionError | null
  readonly unitLimit: number
}

// The sizes tell a token account from a mint, except where the second token program's own mark has to.
const TOKEN_ACCOUNT_SIZE = 165
const TYPE_AT = 165
const TYPE_ACCOUNT = 2

/** Programs exist without being accounts of the simulated chain: whatever is only read holds the least there is. */
const PROGRAM_LAMPORTS = 1n

const holdsTokens = (account: OnChainAccount): boolean =>
  isTokenAccount(account) && (account.data.length === TOKEN_ACCOUNT_SIZE || account.data[TYPE_AT] === TYPE_ACCOUNT)

/** The decimals of a mint. */
export const decimalsOf = (world: World, mint: Mint): number =>
  mint === SOL ? 9 : (world.bank.must(mint).data[44] ?? 0)

const tokenBalances = (
  world: World,
  keys: ReadonlyArray<Address>,
  read: (address: Address) => OnChainAccount | undefined
): ReadonlyArray<TokenBalance> =>
  keys.flatMap((address, index) => {
    const account = read(address)
    if (account === undefined || !holdsTokens(account)) {
      return []
    }
    const mint = mintOf(account)
    return [
      {
        index,
        mint,
        owner: readAddress(account.data, 32),
        program: account.owner,
        amount: balanceOf(account),
        decimals: decimalsOf(world, mint)
      }
    ]
  })

/** Reads off the bank what has changed since the journal was last taken. `pay` takes the fee, which counts too. */
export const writeReceipt = (world: World, order: Order, fee: bigint, pay: () => void): Receipt => {
  const { payer, calls, version, tables, error, unitLimit } = order
  const { bank } = world
  pay()
  const journal = bank.takeJournal()
  const message = compileMessage(payer, calls, { version, tables })
  const { keys } = message
  const before = (address: Address) => (journal.has(address) ? journal.get(address) : bank.get(address))
  const lamports = (read: (address: Address) => OnChainAccount | undefined) =>
    keys.map((address, index) => read(address)?.lamports ?? (isWritable(message, index) ? 0n : PROGRAM_LAMPORTS))
  return {
    message,
    blockhash: bank.newest().blockhash,
    calls,
    error,
    fee,
    unitLimit,
    lamports: { before: lamports(before), after: lamports(bank.get) },
    tokens: { before: tokenBalances(world, keys, before), after: tokenBalances(world, keys, bank.get) }
  }
}
