/** Who takes part in hardships, and the coins that they need. */
import type { Address, Mint } from "../../domain/Address.ts"
import { inventWallet } from "../chain/addresses.ts"
import type { Deed } from "../chain/Ledger.ts"
import { makeRandom, type Random } from "../chain/Random.ts"
import type { SimMint, SimPool } from "../chain/SimPool.ts"
import type { Carried } from "../chain/trade.ts"
import { type Parties, tradeDeed } from "../chain/transactions.ts"
import type { World } from "../chain/World.ts"
import { providerOf } from "../pools/newPool.ts"
import type { Cast } from "./cast.ts"
import { issuerOf } from "./listing.ts"

/** A coin with its pools. */
export interface Listed {
  readonly mint: SimMint
  readonly pools: ReadonlyArray<SimPool>
}

/** Who takes part in hardships, and where. */
export interface Stage {
  readonly world: World
  readonly cast: Cast
  readonly random: Random
  readonly issuer: Address
  readonly provider: Address
  /** Launch coins and pull their liquidity. */
  readonly ruggers: ReadonlyArray<Address>
  /** Trade with each other. */
  readonly washers: ReadonlyArray<Address>
  /** Trade around the purchases of others. */
  readonly attacker: Address
  /** Repeat swaps that fail. */
  readonly spammers: ReadonlyArray<Address>
  /** Wallets that only hold coins of issuers. */
  readonly bystanders: ReadonlyArray<Address>
  readonly parties: (wallet: Address) => Parties
  /** The transaction of one swap; none when there was no swap. */
  readonly traded: (wallet: Address, swap: Carried | null) => ReadonlyArray<Deed>
}

/** The coins that some hardships need. */
export interface Targets {
  washed?: Listed
  frozen?: Listed
  delegated?: Listed
  /** Pools whose provider adds and removes liquidity. */
  readonly provided: Array<SimPool>
  /** Mints that can be burnt and sent to others. */
  readonly mints: Array<Mint>
}

/** The wallets of the hardships of this world. */
export const stageOf = (world: World, cast: Cast): Stage => {
  const { seed } = world
  const several = (kind: string, count: number) =>
    Array.from({ length: count }, (_, index) => inventWallet(seed, `${kind} ${index + 1}`))
  const parties = (wallet: Address): Parties => ({ wallet, validator: cast.validator })
  return {
    world,
    cast,
    random: makeRandom(`${seed} hardships`),
    issuer: issuerOf(seed),
    provider: providerOf(seed),
    ruggers: several("rugger", 3),
    washers: several("washer", 2),
    attacker: inventWallet(seed, "sandwich attacker"),
    spammers: several("spammer", 4),
    bystanders: several("bystander", 6),
    parties,
    traded: (wallet, swap) => (swap === null ? [] : [tradeDeed(world, parties(wallet), [swap])])
  }
}
