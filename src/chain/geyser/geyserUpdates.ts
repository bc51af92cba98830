/** Messages of the Geyser service, as far as used. 64-bit integers are digits. Zeros and empty texts may be absent. */

/** An outer or inner instruction. */
export interface GeyserInstruction {
  readonly programIdIndex?: number
  readonly accounts?: Uint8Array
  readonly data?: Uint8Array
  readonly stackHeight?: number
}

/** A token balance before or after a transaction. */
export interface GeyserTokenBalance {
  readonly accountIndex?: number
  readonly mint?: string
  readonly uiTokenAmount?: { readonly decimals?: number; readonly amount?: string }
  readonly owner?: string
  readonly programId?: string
}

/** The outcome of a transaction. */
export interface GeyserMeta {
  readonly err?: { readonly err?: Uint8Array }
  readonly fee?: string
  readonly preBalances: ReadonlyArray<string>
  readonly postBalances: ReadonlyArray<string>
  readonly innerInstructions: ReadonlyArray<{
    readonly index?: number
    readonly instructions: ReadonlyArray<GeyserInstruction>
  }>
  readonly logMessages: ReadonlyArray<string>
  readonly logMessagesNone?: boolean
  readonly preTokenBalances: ReadonlyArray<GeyserTokenBalance>
  readonly postTokenBalances: ReadonlyArray<GeyserTokenBalance>
  readonly loadedWritableAddresses: ReadonlyArray<Uint8Array>
  readonly loadedReadonlyAddresses: ReadonlyArray<Uint8Array>
}

/** A transaction with its outcome and its position in the block. */
export interface GeyserTransaction {
  readonly signature?: Uint8Array
  readonly isVote?: boolean
  readonly index?: string
  readonly transaction?: {
    readonly signatures: ReadonlyArray<Uint8Array>
    readonly message?: {
      readonly accountKeys: ReadonlyArray<Uint8Array>
      readonly instructions: ReadonlyArray<GeyserInstruction>
    }
  }
  readonly meta?: GeyserMeta
}

/** The head of a block. */
export interface GeyserBlockMeta {
  readonly slot?: string
  readonly parentSlot?: string
  readonly blockhash?: string
  readonly parentBlockhash?: string
  readonly blockTime?: { readonly timestamp?: string }
  readonly executedTransactionCount?: string
}

/** An account after a write. An account without lamports has ceased to exist. */
export interface GeyserAccount {
  readonly pubkey?: Uint8Array
  readonly lamports?: string
  readonly owner?: Uint8Array
  readonly data?: Uint8Array
  /** Orders the writes of one node. */
  readonly writeVersion?: string
}

/** One message of a stream. Exactly one member besides `filters` is present. */
export interface GeyserUpdate {
  readonly filters: ReadonlyArray<string>
  readonly account?: { readonly slot?: string; readonly account?: GeyserAccount }
  readonly slot?: { readonly slot?: string; readonly parent?: string; readonly status?: number }
  readonly transaction?: { readonly slot?: string; readonly transaction?: GeyserTransaction }
  readonly transactionStatus?: { readonly slot?: string; readonly index?: string; readonly isVote?: boolean }
  readonly blockMeta?: GeyserBlockMeta
  readonly ping?: object
  readonly pong?: object
}

/** Selects transactions; all of them without `vote`. */
export interface GeyserTransactionFilter {
  readonly vote?: boolean
}

/** A condition on an account's data: its size, or these bytes at this offset. */
export interface GeyserDataFilter {
  readonly datasize?: string
  readonly memcmp?: { readonly offset?: string; readonly bytes?: Uint8Array }
}

/** Selects accounts by address, or by their program and data. */
export interface GeyserAccountFilter {
  readonly account: ReadonlyArray<string>
  readonly owner?: ReadonlyArray<string>
  readonly filters?: ReadonlyArray<GeyserDataFilter>
}

/** The filters of a stream from now on. */
export interface GeyserRequest {
  readonly accounts?: Readonly<Record<string, GeyserAccountFilter>>
  readonly slots?: Readonly<Record<string, { readonly filterByCommitment?: boolean }>>
  readonly transactions?: Readonly<Record<string, GeyserTransactionFilter>>
  readonly transactionsStatus?: Readonly<Record<string, GeyserTransactionFilter>>
  readonly blocksMeta?: Readonly<Record<string, object>>
  readonly commitment?: number
  readonly fromSlot?: string
  readonly ping?: { readonly id: number }
}
