/** Swap instructions of the AMM programs: which accounts are the pool and its two vaults. From the programs' public IDLs. */
import { createHash } from "node:crypto"

/** Positions of the pool and of its vaults among an instruction's accounts. */
export interface SwapAccounts {
  readonly pool: number
  readonly vaults: readonly [number, number]
  /** True where the vault may pay a referrer after the trader; a fee that the vault pays elsewhere is part of the price. */
  readonly referral?: boolean
}

/** Returns the positions of one instruction, several for several hops; none when it is no swap. */
export type FindSwaps = (data: Uint8Array, accounts: number) => ReadonlyArray<SwapAccounts>

/** Anchor's discriminator of an instruction or an event, as hexadecimal text. */
export const discriminator = (space: "global" | "event", name: string): string =>
  createHash("sha256").update(`${space}:${name}`).digest("hex").slice(0, 16)

const anchor = (table: Readonly<Record<string, ReadonlyArray<SwapAccounts>>>): FindSwaps => {
  const known = new Map(Object.entries(table).map(([name, hops]) => [discriminator("global", name), hops]))
  return (data) => known.get(Buffer.from(data.subarray(0, 8)).toString("hex")) ?? []
}

const same = (names: ReadonlyArray<string>, accounts: SwapAccounts): FindSwaps =>
  anchor(Object.fromEntries(names.map((name) => [name, [accounts]])))

/** Raydium AMM v4 has one byte for the instruction; older callers pass one account more. */
const raydiumAmmV4: FindSwaps = ([tag], accounts) => {
  if (tag === 9 || tag === 11) {
    return [accounts === 18 ? { pool: 1, vaults: [5, 6] } : { pool: 1, vaults: [4, 5] }]
  }
  return tag === 16 || tag === 17 ? [{ pool: 1, vaults: [3, 4] }] : []
}

/** The Pump.fun curve, whose SOL side has no token account: its swaps come from the event of the program. */
export const PUMP = "6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P"

/** The curves of Raydium LaunchLab. */
export const LAUNCHLAB = "LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj"

/** The bonding curves of Meteora. */
export const DBC = "dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN"

/** Swap instructions by program id. */
export const programs: ReadonlyMap<string, FindSwaps> = new Map([
  ["675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8", raydiumAmmV4],
  [
    "CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C",
    same(["swap_base_input", "swap_base_output"], { pool: 3, vaults: [6, 7] })
  ],
  ["CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK", same(["swap", "swap_v2"], { pool: 2, vaults: [5, 6] })],
  [
    "whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc",
    anchor({
      swap: [{ pool: 2, vaults: [4, 6] }],
      swap_v2: [{ pool: 4, vaults: [8, 10] }],
      two_hop_swap: [
        { pool: 2, vaults: [5, 7] },
        { pool: 3, vaults: [9, 11] }
      ]
    })
  ],
  [
    "pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA",
    same(["buy", "sell", "buy_exact_quote_in"], { pool: 0, vaults: [7, 8] })
  ],
  [
    "LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo",
    same(["swap", "swap2", "swap_exact_out", "swap_exact_out2", "swap_with_price_impact", "swap_with_price_impact2"], {
      pool: 0,
      vaults: [2, 3]
    })
  ],
  ["cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG", same(["swap", "swap2"], { pool: 1, vaults: [4, 5], referral: true })],
  [DBC, same(["swap", "swap2"], { pool: 2, vaults: [5, 6], referral: true })],
  [LAUNCHLAB, same(["buy_exact_in", "buy_exact_out", "sell_exact_in", "sell_exact_out"], { pool: 4, vaults: [7, 8] })]
])

/** Label of each program among the venues, and of the launchpad whose curve it is. */
export const venues: ReadonlyMap<string, { readonly dex: string; readonly launchpad?: string }> = new Map([
  ["675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8", { dex: "raydium-amm-v4" }],
  ["CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C", { dex: "raydium-cpmm" }],
  ["CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK", { dex: "raydium-clmm" }],
  ["whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc", { dex: "orca-whirlpool" }],
  ["pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA", { dex: "pumpswap" }],
  ["LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo", { dex: "meteora-dlmm" }],
  ["cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG", { dex: "meteora-damm-v2" }],
  [DBC, { dex: "meteora-dbc-curve", launchpad: "meteora-dbc" }],
  [PUMP, { dex: "pump-fun-curve", launchpad: "pump-fun" }],
  [LAUNCHLAB, { dex: "raydium-launchlab-curve", launchpad: "raydium-launchlab" }]
])
