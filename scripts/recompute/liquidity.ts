/** What providers added to pools and took from them, from the transfers inside their instructions. From the programs' public IDLs. */
import bs58 from "bs58"
import type { RawInstruction } from "./chain.ts"
import type { Recomputed } from "./compare.ts"
import type { Findings } from "./differences.ts"
import type { ReadTransaction } from "./legs.ts"
import { discriminator } from "./programs.ts"
import type { Service } from "./service.ts"
import { transferOf } from "./transfers.ts"

/** Units that went into the vaults of a pool, or came out of them, by one instruction. */
export interface RawLiquidity {
  readonly signature: string
  readonly pool: string
  readonly kind: "added" | "removed"
  /** Units by mint. */
  readonly amounts: ReadonlyMap<string, bigint>
}

/** Positions among the accounts: the pool first, then its vaults. */
type Positions = readonly [number, ...Array<number>]

const named = (names: ReadonlyArray<string>, at: Positions): ReadonlyArray<readonly [string, Positions]> =>
  names.map((name) => [discriminator("global", name), at] as const)

/** By the address of the program, and the first bytes of its instructions. */
const instructions: ReadonlyMap<string, ReadonlyMap<string, Positions>> = new Map([
  [
    "675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8",
    new Map<string, Positions>([
      ["01", [4, 10, 11]],
      ["03", [1, 6, 7]],
      ["04", [1, 6, 7]]
    ])
  ],
  [
    "CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C",
    new Map([
      ...named(["deposit", "withdraw"], [2, 6, 7]),
      ...named(["initialize"], [3, 10, 11]),
      ...named(["initialize_with_permission"], [4, 11, 12])
    ])
  ],
  [
    "CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK",
    new Map([
      ...named(["increase_liquidity", "increase_liquidity_v2"], [2, 9, 10]),
      ...named(["decrease_liquidity", "decrease_liquidity_v2"], [3, 5, 6]),
      ...named(["open_position", "open_position_v2"], [5, 12, 13]),
      ...named(["open_position_with_token22_nft"], [4, 11, 12])
    ])
  ],
  [
    "whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc",
    new Map([
      ...named(["increase_liquidity", "decrease_liquidity"], [0, 7, 8]),
      ...named(
        ["increase_liquidity_v2", "decrease_liquidity_v2", "increase_liquidity_by_token_amounts_v2"],
        [0, 11, 12]
      ),
      ...named(["reposition_liquidity_v2"], [0, 12, 13])
    ])
  ],
  [
    "LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo",
    new Map([
      ...named(
        [
          "add_liquidity",
          "add_liquidity2",
          "add_liquidity_by_weight",
          "add_liquidity_by_weight2",
          "add_liquidity_by_strategy",
          "add_liquidity_by_strategy2",
          "remove_liquidity",
          "remove_liquidity2",
          "remove_liquidity_by_range",
          "remove_liquidity_by_range2",
          "remove_all_liquidity",
          "rebalance_liquidity"
        ],
        [1, 5, 6]
      ),
      ...named(
        [
          "add_liquidity_one_side",
          "add_liquidity_by_strategy_one_side",
          "add_liquidity_one_side_precise",
          "add_liquidity_one_side_precise2"
        ],
        [1, 4]
      )
    ])
  ],
  [
    "cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG",
    new Map([
      ...named(["add_liquidity"], [0, 4, 5]),
      ...named(["remove_liquidity", "remove_all_liquidity"], [1, 5, 6]),
      ...named(["initialize_pool"], [6, 10, 11]),
      ...named(["initialize_customizable_pool"], [5, 9, 10]),
      ...named(["initialize_pool_with_dynamic_config"], [7, 11, 12])
    ])
  ],
  ["pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA", new Map(named(["deposit", "withdraw", "create_pool"], [0, 9, 10]))]
])

const positionsOf = (known: ReadonlyMap<string, Positions>, data: string): Positions | undefined => {
  const hex = Buffer.from(bs58.decode(data)).toString("hex")
  return known.get(hex.slice(0, 16)) ?? known.get(hex.slice(0, 2))
}

/** True for an instruction that adds liquidity to a pool, or takes it out. It trades nothing. */
export const isProvision = ({ keys }: ReadTransaction, { data, programIdIndex }: RawInstruction): boolean => {
  const known = instructions.get(keys[programIdIndex] ?? "")
  return known !== undefined && positionsOf(known, data) !== undefined
}

/** The changes of a transaction, in the order in which they ran. */
export const liquidityOf = (read: ReadTransaction): ReadonlyArray<RawLiquidity> =>
  read.invocations.flatMap(({ inner, instruction }): ReadonlyArray<RawLiquidity> => {
    const known = instructions.get(read.keys[instruction.programIdIndex] ?? "")
    const [poolAt, ...vaultsAt] = (known && positionsOf(known, instruction.data)) ?? [-1]
    const pool = read.keys[instruction.accounts[poolAt] ?? -1]
    if (pool === undefined) {
      return []
    }
    const vaults = new Set(vaultsAt.map((at) => read.keys[instruction.accounts[at] ?? -1] ?? ""))
    const transfers = inner.flatMap((each) => transferOf(each, read.keys) ?? [])
    return (["removed", "added"] as const).flatMap((kind) => {
      const amounts = new Map<string, bigint>()
      for (const transfer of transfers) {
        const vault = kind === "added" ? transfer.destination : transfer.source
        const mint = read.holders.get(vault)?.mint
        if (vaults.has(vault) && mint !== undefined) {
          const units = kind === "added" ? read.arrived(transfer) : transfer.amount
          amounts.set(mint, (amounts.get(mint) ?? 0n) + units)
        }
      }
      const signature = read.raw.transaction.signatures[0] ?? ""
      return Array.from(amounts.values()).some((units) => units > 0n) ? [{ signature, pool, kind, amounts }] : []
    })
  })

/** Sums by transaction, pool, kind and mint, which do not depend on how an answer orders its rows. */
const sumsOf = (
  rows: ReadonlyArray<Omit<RawLiquidity, "amounts"> & { readonly amounts: Iterable<readonly [string, bigint]> }>
): ReadonlyMap<string, bigint> => {
  const sums = new Map<string, bigint>()
  for (const { amounts, kind, pool, signature } of rows) {
    for (const [mint, units] of amounts) {
      const key = `${signature} ${pool} ${kind} ${mint}`
      if (units > 0n) {
        sums.set(key, (sums.get(key) ?? 0n) + units)
      }
    }
  }
  return sums
}

/** Compares the liquidity events of a token with those of the blocks that were read. */
export const compareLiquidityEvents = async (
  service: Service,
  { from, record }: Recomputed,
  newestSlot: number,
  findings: Findings,
  mint: string
): Promise<void> => {
  const given = (await service.liquidityEvents(mint, from)).filter(({ slot }) => slot <= newestSlot)
  const shown = sumsOf(
    given.map((row) => ({
      ...row,
      amounts: row.amounts.map(({ amount, mint: of }) => [of, BigInt(amount)] as const)
    }))
  )
  const made = sumsOf(record.liquidity.filter((each) => each.second >= from && each.amounts.has(mint)))
  for (const key of new Set([...shown.keys(), ...made.keys()])) {
    findings.exact("liquidity events", key, "amount", shown.get(key) ?? null, made.get(key) ?? null)
  }
}

/** The mints with the most liquidity events of a record. */
export const mostProvided = ({ record }: Recomputed, most: number): ReadonlyArray<string> =>
  Array.from(
    Map.groupBy(
      record.liquidity.flatMap(({ amounts }) => Array.from(amounts.keys())),
      (mint) => mint
    )
  )
    .toSorted(([, a], [, b]) => b.length - a.length)
    .slice(0, most)
    .map(([mint]) => mint)
