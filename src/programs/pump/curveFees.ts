/** Fees of a bonding curve, for each program version that accounts may come from. */
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Address, Mint } from "../../domain/Address.ts"
import { hasDiscriminator, readU64 } from "../layout/bytes.ts"
import { utf8 } from "../layout/pack.ts"
import type { Accounts, DeriveAddress, Unpriceable } from "../interface/Program.ts"
import { feeConfigOf, type FeeRates, feesOn, netOf, PUMP_PROGRAM, readFeeRates, withCreatorTerms } from "./fees.ts"
import { accountAt, isFailure, malformed } from "../layout/unpriceable.ts"

/** Discriminator of the Global account, and its offsets. */
export const GLOBAL_DISCRIMINATOR = "a7e8e8b1c86c727f"
export const globalAt = {
  initialized: 8,
  feeBps: 105,
  poolMigrationFee: 146,
  creatorFeeBps: 154,
  /** Eight wallets that a buyback's share of a fee may go to. */
  buybackWallets: 741,
  creatorFeeConfigurable: 1045
} as const
/**
 * Account length without a creator fee. It belongs to the program of January 2025, which rounds its only fee down.
 */
const FIRST_LENGTH = 113

export interface CurveFees {
  readonly rates: FeeRates
  /** The sum of all fees on an amount of quote. */
  readonly on: (amount: bigint) => bigint
  /** How much of an exact input reaches the curve; zero or negative when nothing does. */
  readonly netOf: (spend: bigint) => bigint
  /** Quote that the migration of a SOL curve keeps. Null for programs that sell nothing beyond the curve. */
  readonly poolMigrationFee: bigint | null
  readonly slot: number
}

/** The properties of a curve that decide its fees. */
export interface CurveListing {
  readonly quoteMint: Mint
  readonly marketCap: bigint
  readonly hasCreator: boolean
  /** The coin's own creator rate; zero when it has none. */
  readonly creatorFeeBps: bigint
}

/** Address of the curve program's settings. */
export const globalOf = (derive: DeriveAddress): Address => derive(PUMP_PROGRAM, [utf8("global")])

/** The accounts that store the fees of every curve. */
export const curveFeeAccounts = (derive: DeriveAddress): ReadonlyArray<Address> => [
  globalOf(derive),
  feeConfigOf(PUMP_PROGRAM, derive)
]

const rising = (rates: FeeRates, slot: number, poolMigrationFee: bigint | null = null): CurveFees => ({
  rates,
  poolMigrationFee,
  on: (amount) => feesOn(amount, rates),
  netOf: (spend) => netOf(spend, rates),
  slot
})

/** Flat rates from Global, used before the fee program existed. */
const flatFees = ({ data, slot }: OnChainAccount, { hasCreator }: CurveListing): CurveFees => {
  const protocol = readU64(data, globalAt.feeBps)
  if (data.length >= globalAt.creatorFeeBps + 8) {
    return rising({ lp: 0n, protocol, creator: hasCreator ? readU64(data, globalAt.creatorFeeBps) : 0n }, slot)
  }
  return {
    rates: { lp: 0n, protocol, creator: 0n },
    on: (amount) => (amount * protocol) / 10_000n,
    // That program only sold exact amounts of tokens.
    netOf: () => 0n,
    poolMigrationFee: null,
    slot
  }
}

const tieredFees = (
  global: OnChainAccount,
  feeConfig: OnChainAccount,
  listing: CurveListing
): CurveFees | Unpriceable => {
  const schedule = readFeeRates(feeConfig, { ...listing, canonical: true })
  if (isFailure(schedule)) {
    return schedule
  }
  const rates = withCreatorTerms(
    { ...schedule, lp: 0n },
    {
      hasCreator: listing.hasCreator,
      ownBps: listing.creatorFeeBps,
      mayOwn: global.data[globalAt.creatorFeeConfigurable] === 1
    }
  )
  const hasFee = global.data.length >= globalAt.creatorFeeBps
  return isFailure(rates)
    ? rates
    : rising(
        rates,
        Math.max(global.slot, feeConfig.slot),
        hasFee ? readU64(global.data, globalAt.poolMigrationFee) : null
      )
}

/** Reads the curve's fees from the FeeConfig, or from Global when there is no FeeConfig. */
export const readCurveFees = (
  accounts: Accounts,
  derive: DeriveAddress,
  listing: CurveListing
): CurveFees | Unpriceable => {
  const global = accountAt(accounts, globalOf(derive), "Global")
  if (isFailure(global)) {
    return global
  }
  const { address, data, owner } = global
  if (owner !== PUMP_PROGRAM || data.length < FIRST_LENGTH || !hasDiscriminator(data, GLOBAL_DISCRIMINATOR)) {
    return malformed(`${address} is not the Global account`)
  }
  const feeConfigAddress = feeConfigOf(PUMP_PROGRAM, derive)
  if (accounts(feeConfigAddress) === null) {
    return flatFees(global, listing)
  }
  const feeConfig = accountAt(accounts, feeConfigAddress, "FeeConfig")
  return isFailure(feeConfig) ? feeConfig : tieredFees(global, feeConfig, listing)
}
