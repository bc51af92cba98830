/**
 * AMMs with public source whose prices have not been proven here against the program. They are charted from the
 * movements of their vaults and never quoted. Accounts and tags are from these IDLs: raydium-clmm (PancakeSwap and
 * Byreal use the same for swaps), raydium-launchpad, and Meteora's dynamic AMM (whose pools share vaults); and from
 * instruction.rs of manifest.
 */
import { LAUNCHLAB_DEX, LAUNCHLAB_PROGRAM } from "../raydium/launchLabLayout.ts"
import type { SwapDecoder } from "../interface/SwapDecoder.ts"
import { type ChartedAmm, vaultSwaps } from "./vaultSwaps.ts"

const SWAP = "f8c69e91e17587c8"
const SWAP_V2 = "2b04ed0b1ac91e62"

const unproven: ReadonlyArray<ChartedAmm> = [
  {
    dex: "pancakeswap-clmm",
    programId: "HpNfyc2Saw7RKkQd8nEL4khUcuPhQ7WwY1B2qjx8jxFq",
    tags: [SWAP, SWAP_V2],
    pool: 2,
    vaults: [5, 6]
  },
  {
    dex: "byreal",
    programId: "REALQqNEomY6cQGZJUGwywTBD2UmDT32rZcNnfxQ5N2",
    tags: [SWAP, SWAP_V2],
    pool: 2,
    vaults: [5, 6]
  },
  {
    dex: LAUNCHLAB_DEX,
    programId: LAUNCHLAB_PROGRAM,
    // Purchases and sales, each with exact input and with exact output.
    tags: ["faea0d7bd59c13ec", "18d3742869039938", "9527de9bd37c981a", "5fc8472208090ba6"],
    pool: 4,
    vaults: [7, 8]
  },
  {
    dex: "meteora-damm-v1",
    programId: "Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB",
    tags: [SWAP],
    pool: 0,
    vaults: [5, 6]
  },
  { dex: "manifest", programId: "MNFSTqtC93rEfYHB6hF82sKdZpUDFWkViLByLd1k1Ms", tags: ["04"], pool: 1, vaults: [5, 6] }
]

/** Swap decoders of PancakeSwap CLMM, Byreal, Raydium LaunchLab, Meteora DAMM v1 and Manifest. */
export const unprovenAmmSwaps: ReadonlyArray<SwapDecoder> = unproven.map(vaultSwaps)
