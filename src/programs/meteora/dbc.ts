/** Meteora's dynamic bonding curve: MeteoraAg/dynamic-bonding-curve, programs/dynamic-bonding-curve/src at b4f9547. */
import type { OnChainAccount, ChainClock } from "../../domain/OnChainAccount.ts"
import { type Address } from "../../domain/Address.ts"
import { hasDiscriminator, readAddress, readU16 } from "../layout/bytes.ts"
import {
  DBC_CONFIG_DISCRIMINATOR,
  DBC_CONFIG_LENGTH,
  DBC_HOOKED_POOL_DISCRIMINATOR,
  DBC_POOL_DISCRIMINATOR,
  DBC_POOL_LENGTH,
  DBC_PROGRAM,
  dbcConfigAt,
  dbcPoolAt,
  readDbc,
  type DbcState
} from "./dbcState.ts"
import { dbcFeeRate, dbcInputTo, dbcSlope, fillDbc, isDbcComplete } from "./dbcSwap.ts"
import { FEE_DENOMINATOR } from "./fees.ts"
import { readPairFees, reservesAt } from "../layout/tokenAccount.ts"
import { addressesAt, namedVaults, poolsWithMintAt, sameFields } from "../layout/poolFields.ts"
import { withTransferFees } from "../math/transferFee.ts"
import { isUnreferenced } from "./volatility.ts"
import { type Accounts, type Pool, type Program, refused, type Unpriceable } from "../interface/Program.ts"
import { swapOf } from "./fill.ts"
import { accountAt, closed, isFailure, malformed, unsupported } from "../layout/unpriceable.ts"

const programId = DBC_PROGRAM
const dex = "meteora-dbc"

const isDbcPool = ({ data, owner }: OnChainAccount): boolean =>
  owner === programId &&
  data.length >= DBC_POOL_LENGTH &&
  (hasDiscriminator(data, DBC_POOL_DISCRIMINATOR) || hasDiscriminator(data, DBC_HOOKED_POOL_DISCRIMINATOR))

// The quote mint is in the config, so pools can only be found by their base mint.
const needs = (pool: OnChainAccount, accounts: Accounts): ReadonlyArray<Address> => {
  if (!isDbcPool(pool)) {
    return []
  }
  const config = readAddress(pool.data, dbcPoolAt.config)
  const found = accounts(config)
  const quoteMint =
    found && found.data.length >= DBC_CONFIG_LENGTH ? [readAddress(found.data, dbcConfigAt.quoteMint)] : []
  const vaults = [dbcPoolAt.baseVault, dbcPoolAt.quoteVault].map((offset) => readAddress(pool.data, offset))
  return [config, readAddress(pool.data, dbcPoolAt.baseMint), ...vaults, ...quoteMint]
}

const readConfig = (accounts: Accounts, pool: Uint8Array): OnChainAccount | Unpriceable => {
  const config = accountAt(accounts, readAddress(pool, dbcPoolAt.config), "config")
  if (isFailure(config)) {
    return config
  }
  const { address, data, owner } = config
  return owner === programId && data.length >= DBC_CONFIG_LENGTH && hasDiscriminator(data, DBC_CONFIG_DISCRIMINATOR)
    ? config
    : malformed(`${address} is not a PoolConfig`)
}

const pointOf = (state: DbcState, clock: ChainClock): bigint =>
  BigInt(state.activatesBySlot ? clock.slot : clock.unixTimestamp)

const decode = (pool: OnChainAccount, accounts: Accounts): Pool | Unpriceable => {
  const { address, data } = pool
  if (!isDbcPool(pool)) {
    return malformed(`${address} is not a VirtualPool`)
  }
  if (hasDiscriminator(data, DBC_HOOKED_POOL_DISCRIMINATOR)) {
    return unsupported("the base mint has a transfer hook")
  }
  if (data[dbcPoolAt.isMigrated] !== 0) {
    return closed("migrated")
  }
  const config = readConfig(accounts, data)
  if (isFailure(config)) {
    return config
  }
  const state = readDbc(data, config.data)
  if (isFailure(state)) {
    return state
  }
  if (isDbcComplete(state)) {
    return closed("the curve is complete")
  }
  const mintA = readAddress(data, dbcPoolAt.baseMint)
  const mintB = readAddress(config.data, dbcConfigAt.quoteMint)
  // The program creates the base mint itself. It has a transfer fee only if the config sets one.
  const mints = readPairFees(
    accounts,
    [mintA, mintB],
    [readU16(config.data, dbcConfigAt.baseTransferFeeBps) > 0, config.data[dbcConfigAt.quoteTokenFlag] !== 0]
  )
  if (isFailure(mints)) {
    return mints
  }
  const at = dbcPoolAt
  return {
    address,
    dex,
    mintA,
    mintB,
    slot: Math.max(pool.slot, config.slot, mints.slot),
    ...reservesAt(
      accounts,
      data,
      { mint: mintA, vault: at.baseVault, owed: [at.protocolBaseFee, at.partnerBaseFee, at.creatorBaseFee] },
      { mint: mintB, vault: at.quoteVault, owed: [at.protocolQuoteFee, at.partnerQuoteFee, at.creatorQuoteFee] }
    ),
    graduation: { numerator: state.quoteReserve, denominator: state.migrationQuoteThreshold },
    feeRate: (aToB, clock) => ({
      numerator: dbcFeeRate(state, aToB, pointOf(state, clock)),
      denominator: FEE_DENOMINATOR
    }),
    ...withTransferFees(mints, {
      swap: (aToB, amountIn, clock) =>
        isUnreferenced(state.rules, state.volatility, BigInt(clock.unixTimestamp))
          ? refused
          : swapOf(fillDbc(state, aToB, amountIn, pointOf(state, clock))),
      marginalRate: (aToB, clock) => dbcSlope(state, aToB, pointOf(state, clock)),
      inputTo: (aToB, share, clock) => ({
        amountIn: dbcInputTo(state, aToB, share, pointOf(state, clock)),
        complete: true
      })
    })
  }
}

/** Meteora bonding curves until they migrate. Mint A is the base token, mint B the quote token. */
export const meteoraDbc: Program = {
  dex,
  programId,
  poolsOf: poolsWithMintAt(DBC_POOL_LENGTH, dbcPoolAt.baseMint),
  vaultsOf: namedVaults({ mint: dbcPoolAt.baseMint, vault: dbcPoolAt.baseVault }),
  isPool: isDbcPool,
  needs,
  keepsNeeds: sameFields(addressesAt(dbcPoolAt.config, dbcPoolAt.baseMint, dbcPoolAt.baseVault, dbcPoolAt.quoteVault)),
  decode
}
