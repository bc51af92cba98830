/** Meteora DAMM v2: MeteoraAg/damm-v2, programs/cp-amm/src at a3d3827. */
import type { OnChainAccount, ChainClock } from "../../domain/OnChainAccount.ts"
import { type Address } from "../../domain/Address.ts"
import { ANCHOR_POOL } from "../layout/anchor.ts"
import { hasDiscriminator, readAddress } from "../layout/bytes.ts"
import { DAMM_V2_POOL_LENGTH, DAMM_V2_PROGRAM, dammV2At, readDammV2, type DammV2State } from "./dammV2State.ts"
import { dammV2AtPoint, dammV2FeeRate, dammV2InputTo, dammV2Slope, fillDammV2 } from "./dammV2Swap.ts"
import { FEE_DENOMINATOR } from "./fees.ts"
import { readPairFees, reservesAt } from "../layout/tokenAccount.ts"
import { addressesAt, namedVaults, poolsWithMintAt, sameFields } from "../layout/poolFields.ts"
import { withTransferFees } from "../math/transferFee.ts"
import { isUnreferenced } from "./volatility.ts"
import { type Accounts, type Pool, type Program, refused, type Unpriceable } from "../interface/Program.ts"
import { swapOf } from "./fill.ts"
import { closed, isFailure, malformed } from "../layout/unpriceable.ts"

const programId = DAMM_V2_PROGRAM
const dex = "meteora-damm-v2"

const isDammV2Pool = ({ data, owner }: OnChainAccount): boolean =>
  owner === programId && data.length >= DAMM_V2_POOL_LENGTH && hasDiscriminator(data, ANCHOR_POOL)

const needs = (pool: OnChainAccount): ReadonlyArray<Address> =>
  isDammV2Pool(pool)
    ? [dammV2At.mintA, dammV2At.mintB, dammV2At.vaultA, dammV2At.vaultB].map((offset) => readAddress(pool.data, offset))
    : []

/** Fixes a pool's state at a clock. Keeps the last result, because many quotes use the same clock. */
const atClock = (state: DammV2State) => {
  let known: { readonly at: number; readonly point: bigint; readonly state: DammV2State } | undefined
  return ({ slot, unixTimestamp }: ChainClock) => {
    const at = state.activatesBySlot ? slot : unixTimestamp
    if (known?.at !== at) {
      known = { at, point: BigInt(at), state: dammV2AtPoint(state, BigInt(at)) }
    }
    return known
  }
}

const decode = (pool: OnChainAccount, accounts: Accounts): Pool | Unpriceable => {
  const { address, data } = pool
  if (!isDammV2Pool(pool)) {
    return malformed(`${address} is not a Pool`)
  }
  if (data[dammV2At.status] !== 0) {
    return closed(`pool_status ${data[dammV2At.status]}`)
  }
  const read = readDammV2(data)
  if (isFailure(read)) {
    return read
  }
  const mintA = readAddress(data, dammV2At.mintA)
  const mintB = readAddress(data, dammV2At.mintB)
  const mints = readPairFees(
    accounts,
    [mintA, mintB],
    [data[dammV2At.tokenFlagA] !== 0, data[dammV2At.tokenFlagB] !== 0]
  )
  if (isFailure(mints)) {
    return mints
  }
  const at = atClock(read)
  return {
    address,
    dex,
    mintA,
    mintB,
    slot: Math.max(pool.slot, mints.slot),
    // Includes fees owed to positions, because the pool account does not sum them.
    ...reservesAt(
      accounts,
      data,
      { mint: mintA, vault: dammV2At.vaultA, owed: [dammV2At.protocolFeeA, dammV2At.partnerFeeA] },
      { mint: mintB, vault: dammV2At.vaultB, owed: [dammV2At.protocolFeeB, dammV2At.partnerFeeB] }
    ),
    feeRate: (aToB, clock) => {
      const { point, state } = at(clock)
      return { numerator: dammV2FeeRate(state, aToB, point), denominator: FEE_DENOMINATOR }
    },
    ...withTransferFees(mints, {
      swap: (aToB, amountIn, clock) => {
        const { point, state } = at(clock)
        return isUnreferenced(state.rules, state.volatility, BigInt(clock.unixTimestamp))
          ? refused
          : swapOf(fillDammV2(state, aToB, amountIn, point))
      },
      marginalRate: (aToB, clock) => {
        const { point, state } = at(clock)
        return dammV2Slope(state, aToB, point)
      },
      inputTo: (aToB, share, clock) => {
        const { point, state } = at(clock)
        return { amountIn: dammV2InputTo(state, aToB, share, point), complete: true }
      }
    })
  }
}

/** Meteora DAMM v2 pools in every fee mode. Where there is a choice, fees are taken in token B. */
export const meteoraDammV2: Program = {
  dex,
  programId,
  poolsOf: poolsWithMintAt(DAMM_V2_POOL_LENGTH, dammV2At.mintA, dammV2At.mintB),
  vaultsOf: namedVaults(
    { mint: dammV2At.mintA, vault: dammV2At.vaultA },
    { mint: dammV2At.mintB, vault: dammV2At.vaultB }
  ),
  isPool: isDammV2Pool,
  needs,
  keepsNeeds: sameFields(addressesAt(dammV2At.mintA, dammV2At.mintB, dammV2At.vaultA, dammV2At.vaultB)),
  decode
}
