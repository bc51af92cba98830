/** Swap instructions of the programs that trade through one pool at a time. */
import { Address } from "../../../src/domain/Address.ts"
import { accountsAt, bytesOf, type Call, little, named, POOL } from "./transactions.ts"

/** Indexes of the pool and its vaults, from the interface description of the instruction. */
export interface Instruction {
  readonly name: string
  readonly data: string
  readonly accounts: number
  readonly pool: number
  readonly vaults: readonly [number, number]
}

export const AMM_V4 = Address.make("675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8")
export const CPMM = Address.make("CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C")
export const CLMM = Address.make("CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK")
export const WHIRLPOOL = Address.make("whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc")
export const DLMM = Address.make("LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo")
export const DAMM_V2 = Address.make("cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG")
export const DBC = Address.make("dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN")
export const PUMP_SWAP = Address.make("pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA")

/** A swap through the pool. Its vaults are passed in this order. */
export const swapCall = (
  program: Address,
  { data, accounts, pool, vaults }: Instruction,
  [first, second]: readonly [string, string],
  calls: ReadonlyArray<Call>
): Call => ({
  program,
  accounts: accountsAt(accounts, { [pool]: POOL, [vaults[0]]: named(first), [vaults[1]]: named(second) }),
  data: bytesOf(data, little(1000n, 8), little(1n, 8)),
  calls
})
