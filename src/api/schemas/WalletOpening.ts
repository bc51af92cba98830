/** The transfers that opened the accounts of wallets. */
import type { Address } from "../../domain/Address.ts"
import type { Signature } from "../../domain/Signature.ts"

/** A transfer of SOL to a wallet that had none before the transaction. */
export interface WalletOpening {
  readonly signature: Signature
  /** Place among the openings of its slot. */
  readonly index: number
  readonly wallet: Address
  /** The account that sent the SOL. */
  readonly funder: Address
  readonly lamports: bigint
}
