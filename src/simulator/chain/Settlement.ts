import type { Address, Mint } from "../../domain/Address.ts"

/** A payment within a swap. `trader` stands for the wallet's own account of the mint. */
export interface Payment {
  readonly from: Address | "trader"
  readonly to: Address | "trader"
  readonly mint: Mint
  readonly amount: bigint
}

/** Everything that a swap changes. */
export interface Settlement {
  /** Amount that leaves the trader. */
  readonly amountIn: bigint
  /** Amount that reaches the trader. */
  readonly amountOut: bigint
  /**
   * The pool's fee, in the token that its program charges it in. A fee that is paid outside the pool is among the
   * payments.
   */
  readonly fee: bigint
  readonly payments: ReadonlyArray<Payment>
  /** The new data of the program's own accounts. */
  readonly writes: ReadonlyArray<{ readonly address: Address; readonly data: Uint8Array }>
}
