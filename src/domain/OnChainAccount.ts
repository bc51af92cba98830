import type { Address } from "./Address.ts"

/** An on-chain account, as it was at the end of `slot`. */
export interface OnChainAccount {
  readonly address: Address
  /** The program that owns the account and gives the bytes their meaning. */
  readonly owner: Address
  readonly lamports: bigint
  readonly data: Uint8Array
  readonly slot: number
}

/** Clock sysvar values that fees and schedules depend on. */
export interface ChainClock {
  readonly slot: number
  readonly epoch: number
  /** Seconds since the Unix epoch, as the validators agreed. It may be behind the wall clock. */
  readonly unixTimestamp: number
}
