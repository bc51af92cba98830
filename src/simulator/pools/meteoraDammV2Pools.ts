/** Meteora DAMM v2 pools as the program writes them: MeteoraAg/damm-v2, programs/cp-amm/src/state at a3d3827. */
import { ANCHOR_POOL } from "../../programs/layout/anchor.ts"
import { dammV2After, fillDammV2 } from "../../programs/meteora/dammV2Swap.ts"
import {
  DAMM_V2_POOL_LENGTH,
  dammV2At,
  dammV2PoolAuthority,
  type DammV2State,
  readDammV2
} from "../../programs/meteora/dammV2State.ts"
import { squareRoot } from "../../programs/math/integers.ts"
import { amountA } from "../../programs/meteora/curve.ts"
import { meteoraDammV2 } from "../../programs/meteora/dammV2.ts"
import { writeDammV2 } from "../../programs/meteora/writes.ts"
import { TOKEN_2022_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import { isFailure } from "../../programs/layout/unpriceable.ts"
import { newAccountData, writeAddress, writeU128, writeU16, writeU32, writeU64 } from "../../programs/layout/bytes.ts"
import type { Mint } from "../../domain/Address.ts"
import { inventAddress } from "../chain/addresses.ts"
import { priceAt } from "../chain/liquidity.ts"
import { dammV2Call } from "./meteoraCalls.ts"
import {
  afterTransferFee,
  exchange,
  newVaults,
  type Pair,
  type PoolSpec,
  type SimPool,
  vaultDepth
} from "../chain/SimPool.ts"
import type { World } from "../chain/World.ts"

export interface DammV2Spec extends PoolSpec {
  /** Base fee in billionths. */
  readonly rate: bigint
  /** 0 takes the fee from the output; 1 takes it in the quote in both directions. */
  readonly collectFeeMode: 0 | 1
  /** True when volatility raises the fee. */
  readonly dynamicFee: boolean
  /** Accounts that pay the first deposit; null creates new money. */
  readonly depositors: Pair | null
}

// The full price range that the program allows.
const LOWEST = 4_295_048_016n
const HIGHEST = 79_226_673_521_066_979_257_578_248_091n

/** One position over the whole range, at the price where the two amounts have equal value. */
const newLiquidity = ({ baseAmount, quoteAmount }: PoolSpec) => {
  const sqrtPrice = squareRoot((quoteAmount << 128n) / baseAmount)
  const liquidity = (quoteAmount << 128n) / (sqrtPrice - LOWEST)
  return { sqrtPrice, liquidity, base: amountA(sqrtPrice, HIGHEST, liquidity, true), quote: quoteAmount }
}

const writeVolatility = (data: Uint8Array, sqrtPrice: bigint): void => {
  const at = dammV2At
  writeU128(data, at.sqrtPriceReference, sqrtPrice)
  data[at.volatilityOn] = 1
  writeU32(data, at.volatilityMaximum, 14_460_000)
  writeU32(data, at.volatilityControl, 956)
  writeU16(data, at.binStep, 1)
  writeU16(data, at.filterPeriod, 10)
  writeU16(data, at.decayPeriod, 120)
  writeU16(data, at.volatilityReduction, 5_000)
  writeU128(data, at.binStepQ64, (1n << 64n) / 10_000n)
}

const newState = (world: World, spec: DammV2Spec, vaults: Pair, made: ReturnType<typeof newLiquidity>): Uint8Array => {
  const at = dammV2At
  const data = newAccountData(DAMM_V2_POOL_LENGTH, ANCHOR_POOL)
  const tokenFlag = (mint: Mint) => (world.bank.must(mint).owner === TOKEN_2022_PROGRAM ? 1 : 0)
  writeU64(data, at.cliffRate, spec.rate)
  data[at.protocolFeePercent] = 20
  if (spec.dynamicFee) {
    writeVolatility(data, made.sqrtPrice)
  }
  writeU128(data, at.initialSqrtPrice, made.sqrtPrice)
  writeAddress(data, at.mintA, spec.base)
  writeAddress(data, at.mintB, spec.quote)
  writeAddress(data, at.vaultA, vaults.a)
  writeAddress(data, at.vaultB, vaults.b)
  writeU128(data, at.liquidity, made.liquidity)
  writeU128(data, at.sqrtMinPrice, LOWEST)
  writeU128(data, at.sqrtMaxPrice, HIGHEST)
  writeU128(data, at.sqrtPrice, made.sqrtPrice)
  data[at.activationType] = 1
  data[at.tokenFlagA] = tokenFlag(spec.base)
  data[at.tokenFlagB] = tokenFlag(spec.quote)
  data[at.collectFeeMode] = spec.collectFeeMode
  data[at.feeVersion] = 1
  data[at.layoutVersion] = 1
  writeU64(data, at.amountA, made.base)
  writeU64(data, at.amountB, made.quote)
  return data
}

/** Creates a pool with the coin as token A. */
export const newMeteoraDammV2Pool = (world: World, spec: DammV2Spec): SimPool => {
  const { bank } = world
  const name = (part: string) => inventAddress(world.seed, `meteora-damm-v2 ${spec.label} ${part}`)
  const address = name("pool")
  const mints = { a: spec.base, b: spec.quote }
  const made = newLiquidity(spec)
  const authority = dammV2PoolAuthority(world.derive)
  const sides = { a: [spec.base, made.base], b: [spec.quote, made.quote] } as const
  const vaults = newVaults(world, authority, sides, (side) => name(`vault ${side}`), spec.depositors)
  world.newAccount(address, meteoraDammV2.programId, newState(world, spec, vaults, made))

  const stateNow = (): DammV2State | null => {
    const state = readDammV2(bank.must(address).data)
    return isFailure(state) ? null : state
  }

  const plan: SimPool["plan"] = (aToB, amountIn, { unixTimestamp }) => {
    const state = stateNow()
    const received = afterTransferFee(world, aToB ? mints.a : mints.b, amountIn)
    const fill = state === null ? null : fillDammV2(state, aToB, received, BigInt(unixTimestamp))
    if (state === null || fill === null || !fill.complete || fill.amountOut === 0n) {
      return null
    }
    const after = dammV2After(state, aToB, fill, BigInt(unixTimestamp))
    return after === null
      ? null
      : {
          amountIn,
          amountOut: afterTransferFee(world, aToB ? mints.b : mints.a, fill.amountOut),
          fee: fill.fee,
          payments: exchange(aToB, mints, vaults, { in: amountIn, out: fill.amountOut }),
          writes: [{ address, data: writeDammV2(bank.must(address).data, after) }]
        }
  }

  return {
    address,
    dex: meteoraDammV2.dex,
    programId: meteoraDammV2.programId,
    mintA: spec.base,
    mintB: spec.quote,
    open: () => true,
    plan,
    call: dammV2Call(world, { address, mints, vaults, part: name }, authority, spec.collectFeeMode),
    price: () => priceAt(stateNow()?.sqrtPrice ?? 0n),
    depth: vaultDepth(world, vaults)
  }
}
