/** Meteora's dynamic bonding curve: MeteoraAg/dynamic-bonding-curve, programs/dynamic-bonding-curve/src at b4f9547. */
import type { OnChainAccount, ChainClock } from "../../domain/OnChainAccount.ts"
import { type Address, addressToBytes, type Mint } from "../../domain/Address.ts"
import { hasDiscriminator, readAddress, readU16, readU64 } from "../math/bytes.ts"
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
import { readMintFees, reservesOf } from "../math/tokenAccount.ts"
import { namedVaults } from "../math/namedVaults.ts"
import { transfersOf, WHOLE } from "../math/transferFee.ts"
import { isUnreferenced } from "./volatility.ts"
import type { Accounts, Pool, Program, Swap, Unpriceable } from "../Program.ts"
import { accountAt, closed, isFailure, malformed, unsupported } from "../math/unpriceable.ts"

const programId = DBC_PROGRAM
const dex = "meteora-dbc"

const REFUSED: Swap = { ending: "refused", amountIn: 0n, amountOut: 0n }

const isDbcPool = ({ data, owner }: OnChainAccount): boolean =>
  owner === programId &&
  data.length >= DBC_POOL_LENGTH &&
  (hasDiscriminator(data, DBC_POOL_DISCRIMINATOR) || hasDiscriminator(data, DBC_HOOKED_POOL_DISCRIMINATOR))

// The quote mint stands in the config, so pools can be found by their base mint alone.
const poolsOf = (mint: Mint) => [
  { dataSize: DBC_POOL_LENGTH, matches: [{ offset: dbcPoolAt.baseMint, bytes: addressToBytes(mint) }] }
]

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

/** Vaults less the fees owed to protocol, partner and creator. */
const readReserves = ({ data }: OnChainAccount, mintA: Mint, mintB: Mint, accounts: Accounts) => {
  const at = dbcPoolAt
  const owed = (...offsets: ReadonlyArray<number>) => offsets.reduce((sum, offset) => sum + readU64(data, offset), 0n)
  return reservesOf(
    accounts,
    {
      address: readAddress(data, at.baseVault),
      mint: mintA,
      owed: owed(at.protocolBaseFee, at.partnerBaseFee, at.creatorBaseFee)
    },
    {
      address: readAddress(data, at.quoteVault),
      mint: mintB,
      owed: owed(at.protocolQuoteFee, at.partnerQuoteFee, at.creatorQuoteFee)
    }
  )
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
  // The program creates base mints itself, with a transfer fee only where the config sets one.
  const base = readMintFees(accounts, mintA, readU16(config.data, dbcConfigAt.baseTransferFeeBps) > 0)
  if (isFailure(base)) {
    return base
  }
  const quote = readMintFees(accounts, mintB, config.data[dbcConfigAt.quoteTokenFlag] !== 0)
  if (isFailure(quote)) {
    return quote
  }
  const selling = transfersOf(base.fees, quote.fees)
  const buying = transfersOf(quote.fees, base.fees)
  const reserves = readReserves(pool, mintA, mintB, accounts)
  return {
    address,
    dex,
    mintA,
    mintB,
    slot: Math.max(pool.slot, config.slot, base.slot, quote.slot),
    ...(reserves === undefined ? {} : { reserves }),
    graduation: { numerator: state.quoteReserve, denominator: state.migrationQuoteThreshold },
    swap: (aToB, amountIn, clock) => {
      const transfers = aToB ? selling : buying
      const fill = fillDbc(state, aToB, transfers.received(amountIn, clock.epoch), pointOf(state, clock))
      if (fill === null || isUnreferenced(state.rules, state.volatility, BigInt(clock.unixTimestamp))) {
        return REFUSED
      }
      const amountOut = transfers.paid(fill.amountOut, clock.epoch)
      return fill.complete
        ? { ending: "filled", amountIn, amountOut }
        : { ending: "exhausted", amountIn: transfers.sent(fill.amountIn, clock.epoch), amountOut }
    },
    marginalRate: (aToB, clock) => {
      const { denominator, numerator } = dbcSlope(state, aToB, pointOf(state, clock))
      return {
        numerator: numerator * (aToB ? selling : buying).kept(clock.epoch),
        denominator: denominator * WHOLE
      }
    },
    feeRate: (aToB, clock) => ({
      numerator: dbcFeeRate(state, aToB, pointOf(state, clock)),
      denominator: FEE_DENOMINATOR
    }),
    inputTo: (aToB, share, clock) => {
      const received = dbcInputTo(state, aToB, share, pointOf(state, clock))
      return { amountIn: (aToB ? selling : buying).sent(received, clock.epoch), complete: true }
    }
  }
}

/** Meteora bonding curves until they migrate. The base token is mintA, the quote token mintB. */
export const meteoraDbc: Program = {
  dex,
  programId,
  poolsOf,
  vaultsOf: namedVaults({ mint: dbcPoolAt.baseMint, vault: dbcPoolAt.baseVault }),
  isPool: isDbcPool,
  needs,
  decode
}
