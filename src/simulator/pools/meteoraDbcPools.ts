/** Meteora bonding curves as the program writes them: MeteoraAg/dynamic-bonding-curve, src/state at b4f9547. */
import {
  type CurvePoint,
  DBC_CONFIG_DISCRIMINATOR,
  DBC_CONFIG_LENGTH,
  DBC_POOL_DISCRIMINATOR,
  DBC_POOL_LENGTH,
  dbcConfigAt,
  dbcPoolAt,
  dbcPoolAuthority,
  DBC_CURVE_POINT_SIZE,
  type DbcState,
  readDbc
} from "../../programs/meteora/dbcState.ts"
import { dbcAfter, fillDbc, isDbcComplete } from "../../programs/meteora/dbcSwap.ts"
import type { Fill } from "../../programs/meteora/fill.ts"
import { squareRoot } from "../../programs/math/integers.ts"
import { amountB } from "../../programs/meteora/curve.ts"
import { meteoraDbc } from "../../programs/meteora/dbc.ts"
import { writeDbc } from "../../programs/meteora/writes.ts"
import { isFailure } from "../../programs/layout/unpriceable.ts"
import { newAccountData, writeAddress, writeU128, writeU64 } from "../../programs/layout/bytes.ts"
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import { inventAddress } from "../chain/addresses.ts"
import type { LaunchCurve } from "../chain/LaunchCurve.ts"
import { priceAt } from "../chain/liquidity.ts"
import { dbcCall } from "./meteoraCalls.ts"
import { exchange, newVaults, type Pair, type SimPool } from "../chain/SimPool.ts"
import type { World } from "../chain/World.ts"

/** The square-root price (Q64.64) at which this many coins cost this many lamports. */
const sqrtPriceOf = (lamports: bigint, tokens: bigint): bigint => squareRoot((lamports << 128n) / tokens)

// Every launch has this curve: two segments, in which the price of a billion coins rises from 28 SOL to almost
// sixteen times as much. It sells three quarters of the coins. The rest is enough for a pool at the last price.
const SUPPLY = 1_000_000_000_000_000n
const START = sqrtPriceOf(28_000_000_000n, SUPPLY)
const MIDDLE = sqrtPriceOf(112_000_000_000n, SUPPLY)
const END = sqrtPriceOf(440_000_000_000n, SUPPLY)

/** The liquidity that takes in this much SOL between two prices. */
const liquidityFor = (lamports: bigint, from: bigint, to: bigint): bigint => (lamports << 128n) / (to - from)

const curve: ReadonlyArray<CurvePoint> = [
  { sqrtPrice: MIDDLE, liquidity: liquidityFor(30_000_000_000n, START, MIDDLE) },
  { sqrtPrice: END, liquidity: liquidityFor(55_000_000_000n, MIDDLE, END) }
]

/** Lamports that the whole curve takes in. Each segment is rounded up, as in the program. */
const THRESHOLD = curve.reduce(
  ({ from, sum }, { sqrtPrice, liquidity }) => ({
    from: sqrtPrice,
    sum: sum + amountB(from, sqrtPrice, liquidity, true)
  }),
  { from: START, sum: 0n }
).sum

const configOf = (world: World): Address => {
  const address = inventAddress(world.seed, "meteora-dbc config")
  if (world.bank.get(address) !== undefined) {
    return address
  }
  const at = dbcConfigAt
  const data = newAccountData(DBC_CONFIG_LENGTH, DBC_CONFIG_DISCRIMINATOR)
  writeAddress(data, at.quoteMint, SOL)
  writeU64(data, at.cliffRate, 10_000_000n)
  data[at.activationType] = 1
  data[at.creatorTradingFeePercent] = 50
  writeU64(data, at.migrationQuoteThreshold, THRESHOLD)
  writeU128(data, at.migrationSqrtPrice, END)
  writeU128(data, at.sqrtStartPrice, START)
  curve.forEach(({ sqrtPrice, liquidity }, index) => {
    const point = at.curve + index * DBC_CURVE_POINT_SIZE
    writeU128(data, point, sqrtPrice)
    writeU128(data, point + 16, liquidity)
  })
  world.newAccount(address, meteoraDbc.programId, data)
  return address
}

const newState = (config: Address, mint: Mint, creator: Address, vaults: Pair, since: number): Uint8Array => {
  const at = dbcPoolAt
  const data = newAccountData(DBC_POOL_LENGTH, DBC_POOL_DISCRIMINATOR)
  writeAddress(data, at.config, config)
  writeAddress(data, at.creator, creator)
  writeAddress(data, at.baseMint, mint)
  writeAddress(data, at.baseVault, vaults.a)
  writeAddress(data, at.quoteVault, vaults.b)
  writeU64(data, at.baseReserve, SUPPLY)
  writeU128(data, at.sqrtPrice, START)
  writeU64(data, at.activationPoint, BigInt(since))
  return data
}

/** The pool after a swap. The swap may complete the curve. */
const moved = (before: Uint8Array, after: DbcState, sells: boolean, fill: Fill): Uint8Array => {
  const data = writeDbc(before, after, sells, fill)
  data[dbcPoolAt.migrationProgress] = isDbcComplete(after) ? 1 : 0
  return data
}

/** A new coin's curve, which holds the coin's whole supply. */
export const newMeteoraDbc = (world: World, mint: Mint, creator: Address): LaunchCurve => {
  const { bank } = world
  const name = (part: string) => inventAddress(world.seed, `meteora-dbc ${mint} ${part}`)
  const address = name("pool")
  const config = configOf(world)
  const authority = dbcPoolAuthority(world.derive)
  const sides = { a: [mint, SUPPLY], b: [SOL, 0n] } as const
  const vaults = newVaults(world, authority, sides, (side) => name(`vault ${side}`))
  const mints = { a: mint, b: SOL }
  world.newAccount(address, meteoraDbc.programId, newState(config, mint, creator, vaults, bank.clock().unixTimestamp))

  const stateNow = (): DbcState | null => {
    const state = readDbc(bank.must(address).data, bank.must(config).data)
    return isFailure(state) ? null : state
  }

  const plan: SimPool["plan"] = (aToB, wanted, { unixTimestamp }) => {
    const state = stateNow()
    const fill = state === null ? null : fillDbc(state, aToB, wanted, BigInt(unixTimestamp))
    // The last purchase takes the remaining coins and costs less than was offered. No sale goes below the start.
    if (state === null || fill === null || fill.amountOut === 0n || (aToB && !fill.complete)) {
      return null
    }
    const after = dbcAfter(state, aToB, fill, BigInt(unixTimestamp))
    return after === null
      ? null
      : {
          amountIn: fill.amountIn,
          amountOut: fill.amountOut,
          fee: fill.fee,
          payments: exchange(aToB, mints, vaults, { in: fill.amountIn, out: fill.amountOut }),
          writes: [{ address, data: moved(bank.must(address).data, after, aToB, fill) }]
        }
  }

  const complete = (): boolean => {
    const state = stateNow()
    return state === null || isDbcComplete(state)
  }
  const reserves = () => {
    const state = stateNow()
    return { base: state?.baseReserve ?? 0n, quote: state?.quoteReserve ?? 0n, sqrtPrice: state?.sqrtPrice ?? 1n }
  }

  return {
    address,
    dex: meteoraDbc.dex,
    programId: meteoraDbc.programId,
    mintA: mint,
    mintB: SOL,
    open: () => !complete(),
    plan,
    call: dbcCall(world, { address, mints, vaults, part: name }, { authority, config, threshold: THRESHOLD }),
    price: () => priceAt(reserves().sqrtPrice),
    // The quote side starts empty, so 30 SOL are added to stand for the curve itself.
    depth: () => ({ a: Number(reserves().base), b: 30_000_000_000 + Number(reserves().quote) }),
    complete,
    // As many coins as the SOL is worth at the last price. The other coins stay.
    remains: () => {
      const { quote, sqrtPrice } = reserves()
      return {
        tokens: { from: vaults.a, amount: (quote << 128n) / (sqrtPrice * sqrtPrice) },
        lamports: { from: vaults.b, amount: quote }
      }
    },
    close: () => {
      const data = bank.must(address).data.slice()
      data[dbcPoolAt.isMigrated] = 1
      data[dbcPoolAt.migrationProgress] = 3
      bank.put({ ...bank.must(address), data })
    }
  }
}
