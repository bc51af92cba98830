/** What a transaction did, as a node remembers it. */
import type { Address, Mint } from "../../domain/Address.ts"
import type { Call } from "./Call.ts"
import type { Message } from "./message.ts"

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
