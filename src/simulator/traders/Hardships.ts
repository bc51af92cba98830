/**
 * What makes a market hard: pulled liquidity, sell-offs, sandwiches, wash trades, bursts of failures, and issuers and
 * providers who use their powers. Everything derives from the seed. Rates are per slot, so they are the same in the
 * past and live.
 */
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import { inventWallet, SYSTEM_PROGRAM } from "../chain/addresses.ts"
import type { Deed } from "../chain/Ledger.ts"
import { makeRandom, type Random } from "../chain/Random.ts"
import type { SimMint, SimPool } from "../chain/SimPool.ts"
import { type Carried, sell } from "../chain/trade.ts"
import { type Parties, tradeDeed } from "../chain/transactions.ts"
import type { World } from "../chain/World.ts"
import { type Coin, WASHED } from "../pools/catalog.ts"
import { providerOf } from "../pools/newPool.ts"
import type { Cast } from "./cast.ts"
import { homeOf } from "./habits.ts"
import { makeInsiders } from "./insiders.ts"
import { makeIssuers } from "./issuers.ts"
import type { Launches } from "./Launches.ts"
import { issuerOf } from "./listing.ts"
import { makePredators } from "./predators.ts"
import type { Listing } from "./retail.ts"

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

export interface Hardships {
  /** Creates and funds the wallets. */
  readonly begin: () => void
  /** Takes note of a coin of the catalogue. */
  readonly note: (coin: Coin, listed: Listed) => void
  /** Coins whose liquidity has not been pulled yet. */
  readonly listings: () => ReadonlyArray<Listing>
  readonly mints: () => ReadonlyArray<SimMint>
  readonly pools: () => ReadonlyArray<SimPool>
  /** True for a launched coin that was sold off. */
  readonly isFallen: (mint: Mint) => boolean
  /** Purchases in a block that will be dropped. */
  readonly stray: (now: ReadonlyArray<Listing>) => ReadonlyArray<Deed>
  /** Acts for `slots` slots, after `made` transactions of others. */
  readonly act: (listings: () => ReadonlyArray<Listing>, slots: number, made: number) => ReadonlyArray<Deed>
}

/** Purchases in a dropped block, and what each of them pays. */
const STRAYS = 3
const STRAY_LAMPORTS = 2_000_000_000n
const FUNDS = 20_000_000_000_000n

const stageOf = (world: World, cast: Cast): Stage => {
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

/** Makes the hardships of a market. None have happened yet. */
export const makeHardships = (options: {
  readonly world: World
  readonly cast: Cast
  readonly launches: Launches
}): Hardships => {
  const stage = stageOf(options.world, options.cast)
  const { attacker, bystanders, issuer, provider, ruggers, spammers, washers, world } = stage
  const targets: Targets = { provided: [], mints: [] }
  const insiders = makeInsiders(stage, options.launches)
  const prey = makePredators(stage, targets)
  const rule = makeIssuers(stage, targets)

  return {
    begin: () => {
      for (const wallet of [issuer, provider, attacker, ...ruggers, ...washers, ...spammers, ...bystanders]) {
        world.newAccount(wallet, SYSTEM_PROGRAM, new Uint8Array(0))
        world.issue(wallet, SOL, FUNDS)
      }
    },
    note: (coin, listed) => {
      // A transfer with a hook would have to name the hook's accounts.
      if (coin.power !== "hook") {
        targets.mints.push(listed.mint.address)
      }
      targets.provided.push(...listed.pools.filter(({ liquidity }) => liquidity?.provider === provider))
      if (coin.symbol === WASHED) {
        targets.washed = listed
      } else if (coin.power === "freeze") {
        targets.frozen = listed
      } else if (coin.power === "delegate") {
        targets.delegated = listed
      }
    },
    listings: insiders.listings,
    mints: insiders.mints,
    pools: insiders.pools,
    isFallen: insiders.isFallen,
    stray: (now) =>
      Array.from({ length: STRAYS }, () => stage.random.pick(now)).flatMap((listing) => {
        const pool = homeOf(listing)
        const wallet = stage.random.pick(stage.cast.retail)
        return pool === undefined ? [] : stage.traded(wallet, sell(world, wallet, pool, SOL, STRAY_LAMPORTS))
      }),
    act: (listings, slots, made) => [...insiders.act(), ...prey(listings, slots, made), ...rule(slots)]
  }
}
