/** Reserves of pools, read from their vaults. Offsets come from the programs' public account layouts. */
import bs58 from "bs58"
import { call } from "./chain.ts"
import type { PoolTrade } from "./record.ts"
import { DBC, PUMP } from "./programs.ts"
import { u64 } from "./transfers.ts"

/** Mint and amount of a token account. */
const [MINT, AMOUNT] = [0, 64]

/** Offsets of the fees that a pool account counts as owed, of the first and of the second mint that it names. */
interface Owed {
  /** Offsets of the addresses of the two vaults. */
  readonly vaults: readonly [number, number]
  readonly owed: readonly [ReadonlyArray<number>, ReadonlyArray<number>]
}

const layouts: ReadonlyMap<string, Owed> = new Map([
  // need_take_pnl_coin and need_take_pnl_pc
  ["675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8", { vaults: [336, 368], owed: [[192], [200]] }],
  // protocol, fund and creator fees
  [
    "CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C",
    {
      vaults: [72, 104],
      owed: [
        [341, 357, 397],
        [349, 365, 405]
      ]
    }
  ],
  // protocol and fund fees
  [
    "CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK",
    {
      vaults: [137, 169],
      owed: [
        [309, 1064],
        [317, 1072]
      ]
    }
  ],
  // protocol_fee_owed_a and protocol_fee_owed_b
  ["whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc", { vaults: [133, 213], owed: [[85], [93]] }],
  ["pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA", { vaults: [139, 171], owed: [[], []] }],
  ["LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo", { vaults: [152, 184], owed: [[216], [224]] }],
  // protocol and partner fees
  [
    "cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG",
    {
      vaults: [232, 264],
      owed: [
        [392, 408],
        [400, 416]
      ]
    }
  ],
  // protocol, partner and creator fees
  [
    DBC,
    {
      vaults: [168, 200],
      owed: [
        [248, 264, 352],
        [256, 272, 360]
      ]
    }
  ]
])

/** Real reserves of a bonding curve of Pump.fun: tokens and lamports. */
const [REAL_TOKENS, REAL_SOL] = [24, 32]

/** A pool that swaps were seen of. */
export interface SeenPool extends Pick<PoolTrade, "mint" | "pool" | "program" | "vaults"> {}

/** Reserves of a pool by mint. The key of lamports outside of a token account is empty. */
export type Reserves = ReadonlyMap<string, bigint>

const READ_AT_ONCE = 100

/** Data of accounts, as they are now; null for those that do not exist. */
const accountsOf = async (rpc: string, addresses: ReadonlyArray<string>) => {
  const found = new Map<string, Uint8Array | null>()
  for (let at = 0; at < addresses.length; at += READ_AT_ONCE) {
    const part = addresses.slice(at, at + READ_AT_ONCE)
    const { value } = (await call(rpc, "getMultipleAccounts", [
      part,
      { encoding: "base64", commitment: "confirmed" }
    ])) as { value: ReadonlyArray<{ data: readonly [string, string] } | null> }
    part.forEach((address, index) => {
      const text = value[index]?.data[0]
      found.set(address, text === undefined ? null : Uint8Array.from(Buffer.from(text, "base64")))
    })
  }
  return found
}

const reservesIn = (
  { mint, pool, program, vaults }: SeenPool,
  data: ReadonlyMap<string, Uint8Array | null>
): Reserves | null => {
  const account = data.get(pool) ?? null
  if (account === null) {
    return null
  }
  if (program === PUMP) {
    return new Map([
      [mint, u64(account, REAL_TOKENS)],
      ["", u64(account, REAL_SOL)]
    ])
  }
  const layout = layouts.get(program)
  const reserves = new Map<string, bigint>()
  for (const vault of vaults) {
    const holding = data.get(vault) ?? null
    if (holding === null || layout === undefined) {
      return null
    }
    const side = layout.vaults.findIndex((at) => bs58.encode(account.subarray(at, at + 32)) === vault)
    const owed = (layout.owed[side] ?? []).reduce((sum, at) => sum + u64(account, at), 0n)
    const left = u64(holding, AMOUNT) - owed
    reserves.set(bs58.encode(holding.subarray(MINT, MINT + 32)), side === -1 ? -1n : left > 0n ? left : 0n)
  }
  return reserves
}

/** Reserves of pools by address, as they are now; pools that no longer exist are left out. */
export const reservesOf = async (
  rpc: string,
  pools: ReadonlyArray<SeenPool>
): Promise<ReadonlyMap<string, Reserves>> => {
  const data = await accountsOf(rpc, Array.from(new Set(pools.flatMap(({ pool, vaults }) => [pool, ...vaults]))))
  return new Map(
    pools.flatMap((each) => {
      const reserves = reservesIn(each, data)
      return reserves === null ? [] : [[each.pool, reserves] as const]
    })
  )
}
