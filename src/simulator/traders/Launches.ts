import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import { inventAddress } from "../chain/addresses.ts"
import type { Cast } from "./cast.ts"
import { launchNames } from "../pools/catalog.ts"
import { graduationCall, launchCall, type LaunchKind } from "../pools/launchCalls.ts"
import type { LaunchCurve } from "../chain/LaunchCurve.ts"
import type { Deed } from "../chain/Ledger.ts"
import { newMeteoraDammV2Pool } from "../pools/meteoraDammV2Pools.ts"
import { newLaunchLabCurve } from "../pools/launchLabCurves.ts"
import { newMeteoraDbc } from "../pools/meteoraDbcPools.ts"
import { newPumpCurve } from "../pools/pumpCurves.ts"
import { newPumpSwapPool } from "../pools/pumpSwapPools.ts"
import { newRaydiumCpmmPool } from "../pools/raydiumCpmmPools.ts"
import { standardCpmm } from "../pools/newPool.ts"
import type { Random } from "../chain/Random.ts"
import type { SimMint, SimPool } from "../chain/SimPool.ts"
import { programDeed } from "../chain/transactions.ts"
import type { World } from "../chain/World.ts"

/** A launched coin, either on its curve or in the pool that it graduated to. */
export interface Launched {
  readonly mint: SimMint
  readonly kind: LaunchKind
  readonly creator: Address
  readonly curve: LaunchCurve
  readonly pool: SimPool | null
}

/** Manages coins that begin on a curve. */
export interface Launches {
  /** Creates a coin on a curve. */
  readonly launch: () => Deed
  /** Creates the pool of each coin whose curve is complete. */
  readonly graduate: () => ReadonlyArray<Deed>
  /** The coins that traders trade, oldest first. */
  readonly live: () => ReadonlyArray<Launched>
  readonly all: () => ReadonlyArray<Launched>
}

/** Every seventh launch is on LaunchLab. The others are on one of the other two launchpads, at random. */
const LAUNCHLAB_EVERY = 7

/** Traders only trade this many of the newest coins. */
const MOST_LIVE = 14

const depositOf = ({ mint, curve }: Launched) => {
  const { tokens, lamports } = curve.remains()
  return {
    label: mint.address,
    base: mint.address,
    quote: SOL,
    baseAmount: tokens.amount,
    quoteAmount: lamports.amount,
    depositors: { a: tokens.from, b: lamports.from }
  }
}

/** A coin's first pool, filled with what the curve leaves. */
const newHome = (world: World, coin: Launched): SimPool => {
  const deposit = depositOf(coin)
  switch (coin.kind) {
    case "pump-fun":
      return newPumpSwapPool(world, { ...deposit, canonical: true, creator: coin.creator })
    case "meteora":
      return newMeteoraDammV2Pool(world, { ...deposit, rate: 10_000_000n, collectFeeMode: 1, dynamicFee: false })
    case "launchlab":
      return newRaydiumCpmmPool(world, { ...deposit, config: standardCpmm, creatorFeeOn: null, state: "open" })
  }
}

const newCurve: Readonly<Record<LaunchKind, (world: World, mint: Mint, creator: Address) => LaunchCurve>> = {
  "pump-fun": newPumpCurve,
  meteora: newMeteoraDbc,
  launchlab: newLaunchLabCurve
}

/** Makes launches by members of the cast. None have happened yet. */
export const makeLaunches = (options: {
  readonly world: World
  readonly random: Random
  readonly cast: Cast
}): Launches => {
  const { world, random, cast } = options
  let coins: ReadonlyArray<Launched> = []

  const launch = (): Deed => {
    const creator = random.pick(cast.retail)
    const drawn = random.chance(0.65) ? "pump-fun" : "meteora"
    const kind = coins.length % LAUNCHLAB_EVERY === LAUNCHLAB_EVERY - 1 ? "launchlab" : drawn
    const [symbol, name] = launchNames[coins.length % launchNames.length] ?? ["COIN", "Coin"]
    const address = inventAddress(world.seed, `launch ${coins.length}`)
    world.takeTrace()
    const curve = world.paidBy(creator, () => {
      const naming = { symbol, name }
      world.newMint({ address, decimals: 6, authority: null, freezeAuthority: null, transferFee: null, naming })
      return newCurve[kind](world, address, creator)
    })
    const mint = { symbol, name, address, decimals: 6 }
    coins = [...coins, { mint, kind, creator, curve, pool: null }]
    const call = launchCall(world, { mint, kind, creator, curve: curve.address }, world.takeTrace())
    return programDeed(world, { wallet: creator, validator: cast.validator }, "launch", [call], { signers: 2 })
  }

  const graduate = (): ReadonlyArray<Deed> => {
    const ready = coins.filter(({ curve, pool }) => pool === null && curve.complete())
    return ready.map((coin) => {
      world.takeTrace()
      const pool = world.paidBy(cast.treasury, () => newHome(world, coin))
      coin.curve.close()
      coins = coins.map((other) => (other === coin ? { ...coin, pool } : other))
      const birth = { ...coin, curve: coin.curve.address }
      const call = graduationCall(world, cast.treasury, birth, pool.address, world.takeTrace())
      return programDeed(world, { wallet: cast.treasury, validator: cast.validator }, "graduation", [call])
    })
  }

  return { launch, graduate, live: () => coins.slice(-MOST_LIVE), all: () => coins }
}
