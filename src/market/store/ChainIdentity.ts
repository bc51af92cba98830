/** The chain that trades belong to. Trades of two chains are never mixed. */
export interface ChainIdentity {
  /** The hash of its first block, which no two chains share. */
  readonly genesis: string
  /** True for a simulated chain: its trades are deleted once another chain has replaced it. */
  readonly isSandbox: boolean
}
