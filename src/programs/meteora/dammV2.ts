/** Meteora DAMM v2: MeteoraAg/damm-v2, programs/cp-amm/src at a3d3827. */
import type { OnChainAccount, ChainClock } from "../../domain/OnChainAccount.ts"
import { type Address, addressToBytes, type Mint } from "../../domain/Address.ts"
import { ANCHOR_POOL } from "../anchor.ts"
import { hasDiscriminator, readAddress, readU64 } from "../math/bytes.ts"
import { DAMM_V2_POOL_LENGTH, DAMM_V2_PROGRAM, dammV2At, readDammV2, type DammV2State } from "./dammV2State.ts"
import { dammV2AtPoint, dammV2FeeRate, dammV2InputTo, dammV2Slope, fillDammV2 } from "./dammV2Swap.ts"
import { FEE_DENOMINATOR } from "./fees.ts"
import { readMintFees, reservesOf } from "../math/tokenAccount.ts"
import { namedVaults } from "../math/namedVaults.ts"
import { transfersOf, WHOLE } from "../math/transferFee.ts"
import { isUnreferenced } from "./volatility.ts"
import type { Accounts, Pool, Program, Swap, Unpriceable } from "../Program.ts"
import { closed, isFailure, malformed } from "../math/unpriceable.ts"

const programId = DAMM_V2_PROGRAM
const dex = "meteora-damm-v2"

const REFUSED: Swap = { ending: "refused", amountIn: 0n, amountOut: 0n }

const isDammV2Pool = ({ data, owner }: OnChainAccount): boolean =>
  owner === programId && data.length >= DAMM_V2_POOL_LENGTH && hasDiscriminator(data, ANCHOR_POOL)

const poolsOf = (mint: Mint) =>
  [dammV2At.mintA, dammV2At.mintB].map((offset) => ({
    dataSize: DAMM_V2_POOL_LENGTH,
    matches: [{ offset, bytes: addressToBytes(mint) }]
  }))

const needs = (pool: OnChainAccount): ReadonlyArray<Address> =>
  isDammV2Pool(pool)
    ? [dammV2At.mintA, dammV2At.mintB, dammV2At.vaultA, dammV2At.vaultB].map((offset) => readAddress(pool.data, offset))
    : []

/** Vaults less the fees owed to protocol and partner. Fees owed to positions stay in: the pool account does not sum them. */
const readReserves = ({ data }: OnChainAccount, accounts: Accounts) => {
  const sideOf = (vault: number, mint: number, protocol: number, partner: number) => ({
    address: readAddress(data, vault),
    mint: readAddress(data, mint),
    owed: readU64(data, protocol) + readU64(data, partner)
  })
  const at = dammV2At
  return reservesOf(
    accounts,
    sideOf(at.vaultA, at.mintA, at.protocolFeeA, at.partnerFeeA),
    sideOf(at.vaultB, at.mintB, at.protocolFeeB, at.partnerFeeB)
  )
}

/** The pool at a clock. Quotes come many at a time for one clock, so the last answer is kept. */
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
  const tokenA = readMintFees(accounts, mintA, data[dammV2At.tokenFlagA] !== 0)
  if (isFailure(tokenA)) {
    return tokenA
  }
  const tokenB = readMintFees(accounts, mintB, data[dammV2At.tokenFlagB] !== 0)
  if (isFailure(tokenB)) {
    return tokenB
  }
  const selling = transfersOf(tokenA.fees, tokenB.fees)
  const buying = transfersOf(tokenB.fees, tokenA.fees)
  const at = atClock(read)
  const reserves = readReserves(pool, accounts)
  return {
    address,
    dex,
    mintA,
    mintB,
    slot: Math.max(pool.slot, tokenA.slot, tokenB.slot),
    ...(reserves === undefined ? {} : { reserves }),
    swap: (aToB, amountIn, clock) => {
      const transfers = aToB ? selling : buying
      const received = transfers.received(amountIn, clock.epoch)
      const { point, state } = at(clock)
      const fill = fillDammV2(state, aToB, received, point)
      if (fill === null || isUnreferenced(state.rules, state.volatility, BigInt(clock.unixTimestamp))) {
        return REFUSED
      }
      const amountOut = transfers.paid(fill.amountOut, clock.epoch)
      return fill.complete
        ? { ending: "filled", amountIn, amountOut }
        : { ending: "exhausted", amountIn: transfers.sent(fill.amountIn, clock.epoch), amountOut }
    },
    marginalRate: (aToB, clock) => {
      const { point, state } = at(clock)
      const { denominator, numerator } = dammV2Slope(state, aToB, point)
      return {
        numerator: numerator * (aToB ? selling : buying).kept(clock.epoch),
        denominator: denominator * WHOLE
      }
    },
    feeRate: (aToB, clock) => {
      const { point, state } = at(clock)
      return { numerator: dammV2FeeRate(state, aToB, point), denominator: FEE_DENOMINATOR }
    },
    inputTo: (aToB, share, clock) => {
      const { point, state } = at(clock)
      const received = dammV2InputTo(state, aToB, share, point)
      return { amountIn: (aToB ? selling : buying).sent(received, clock.epoch), complete: true }
    }
  }
}

/** Meteora DAMM v2 pools in every fee mode. Token B is the one that fees prefer. */
export const meteoraDammV2: Program = {
  dex,
  programId,
  poolsOf,
  vaultsOf: namedVaults(
    { mint: dammV2At.mintA, vault: dammV2At.vaultA },
    { mint: dammV2At.mintB, vault: dammV2At.vaultB }
  ),
  isPool: isDammV2Pool,
  needs,
  decode
}
