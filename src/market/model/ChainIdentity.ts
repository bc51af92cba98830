/** The chain that trades belong to. Trades of two chains are never mixed. */
export interface ChainIdentity {
  /** The hash of the chain's first block. No two chains share it. */
  readonly genesis: string
  /** True for a simulated chain. Its trades are deleted once another chain has replaced it. */
  readonly isSandbox: boolean
}
