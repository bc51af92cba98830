/**
 * What makes a market hard: pulled liquidity, sell-offs, sandwiches, wash trades, bursts of failures, and issuers and
 * providers who use their powers. Everything derives from the seed. Rates are per slot, so they are the same in the
 * past and live.
 */
import { type Mint, SOL } from "../../domain/Address.ts"
import { SYSTEM_PROGRAM } from "../chain/addresses.ts"
import type { Deed } from "../chain/Ledger.ts"
import type { SimMint, SimPool } from "../chain/SimPool.ts"
import { sell } from "../chain/trade.ts"
import type { World } from "../chain/World.ts"
import { type Coin, WASHED } from "../pools/catalog.ts"
import type { Cast } from "./cast.ts"
import { homeOf } from "./habits.ts"
import { makeInsiders } from "./insiders.ts"
import { makeIssuers } from "./issuers.ts"
import type { Launches } from "./Launches.ts"
import { makePredators } from "./predators.ts"
import type { Listing } from "./retail.ts"
import { type Listed, stageOf, type Targets } from "./stage.ts"

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
