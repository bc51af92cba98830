/** The outcome of a transaction, as a node keeps it. */
import type { Address, Mint } from "../../domain/Address.ts"
import type { Call } from "../../programs/transactions/Call.ts"
import type { Message } from "../../programs/transactions/message.ts"

/** The balance of a token account. `index` is the account's position among the message's keys. */
export interface TokenBalance {
  readonly index: number
  readonly mint: Mint
  readonly owner: Address
  readonly program: Address
  readonly amount: bigint
  readonly decimals: number
}

/** Which instruction failed, by position, and the program's error code. */
export interface TransactionError {
  readonly index: number
  readonly code: number
}

/** A message and its effects. */
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
