/**
 * Launches on Raydium LaunchLab. The creation event does not name the mint, so launches and migrations are read from
 * instructions. IDL raydium_launchpad of April 2026.
 */
import type { Address, Mint } from "../../domain/Address.ts"
import type { Launchpad } from "../interface/Launchpad.ts"
import { eventLayout } from "../layout/anchorEvents.ts"
import { key, pack, text, u64, u8 } from "../layout/pack.ts"
import { tagAt, tagOf } from "../layout/anchor.ts"
import { LAUNCHLAB_DEX, LAUNCHLAB_PROGRAM } from "./launchLabLayout.ts"

const launchpad = "raydium-launchlab"

const INITIALIZE = tagOf("afaf6d1f0d989bed")
const INITIALIZE_V2 = tagOf("4399af27da102620")
const INITIALIZE_WITH_TOKEN_2022 = tagOf("25be7ede2c9aab11")
const MIGRATE_TO_AMM = tagOf("cf52c091fecf91df")
const MIGRATE_TO_CPMM = tagOf("885cc8671cda908c")
const CREATE_EVENT = tagOf("97d7e20976a173ae")
const BUY_EXACT_IN = tagOf("faea0d7bd59c13ec")
const SELL_EXACT_IN = tagOf("9527de9bd37c981a")

/** Accounts of `initialize_v2`. The other forms start with the same ten accounts. */
export const launchLabInitializeAccounts = [
  "payer",
  "creator",
  "globalConfig",
  "platformConfig",
  "authority",
  "poolState",
  "baseMint",
  "quoteMint",
  "baseVault",
  "quoteVault",
  "metadataAccount",
  "baseTokenProgram",
  "quoteTokenProgram",
  "metadataProgram",
  "systemProgram",
  "rentProgram",
  "eventAuthority",
  "program"
] as const

/** First accounts of `migrate_to_cpswap`. */
export const launchLabMigrationAccounts = [
  "payer",
  "baseMint",
  "quoteMint",
  "platformConfig",
  "cpmmProgram",
  "cpmmPool"
] as const

/** Accounts of a swap on a curve. */
export const launchLabSwapAccounts = [
  "payer",
  "authority",
  "globalConfig",
  "platformConfig",
  "poolState",
  "userBaseToken",
  "userQuoteToken",
  "baseVault",
  "quoteVault",
  "baseMint",
  "quoteMint",
  "baseTokenProgram",
  "quoteTokenProgram",
  "eventAuthority",
  "program"
] as const

/** The event of a swap on a curve. */
export const launchLabTradeEvent = eventLayout("bddb7fd34ee661ee", [
  ["poolState", "address"],
  ["totalBaseSell", "u64"],
  ["virtualBase", "u64"],
  ["virtualQuote", "u64"],
  ["realBaseBefore", "u64"],
  ["realQuoteBefore", "u64"],
  ["realBaseAfter", "u64"],
  ["realQuoteAfter", "u64"],
  ["amountIn", "u64"],
  ["amountOut", "u64"],
  ["protocolFee", "u64"],
  ["platformFee", "u64"],
  ["creatorFee", "u64"],
  ["shareFee", "u64"],
  ["tradeDirection", "u8"],
  ["poolStatus", "u8"],
  ["exactIn", "bool"]
])

const creationAt = {
  config: launchLabInitializeAccounts.indexOf("platformConfig"),
  creator: launchLabInitializeAccounts.indexOf("creator"),
  pool: launchLabInitializeAccounts.indexOf("poolState"),
  mint: launchLabInitializeAccounts.indexOf("baseMint")
}
const migrationAt = {
  mint: launchLabMigrationAccounts.indexOf("baseMint"),
  pool: launchLabMigrationAccounts.indexOf("cpmmPool")
}
/**
 * Index of the AMM v4 pool, if the migration names the accounts of its order book. Without them the index is not
 * public.
 */
const AMM_MIGRATION = { accounts: 32, pool: 13 } as const

/** A curve that sells at constant product. */
export interface LaunchLabCurve {
  readonly decimals: number
  readonly supply: bigint
  readonly totalBaseSell: bigint
  readonly totalQuoteFundRaising: bigint
  readonly migrateType: number
}

/** Name, symbol and metadata URI of a token. */
type Texts = readonly [name: string, symbol: string, uri: string]

/** Encodes the token, its constant-product curve, and that there is no vesting. */
const parameters = (
  texts: Texts,
  { decimals, migrateType, supply, totalBaseSell, totalQuoteFundRaising }: LaunchLabCurve
): Uint8Array =>
  pack(
    u8(decimals),
    ...texts.map(text),
    u8(0),
    ...[supply, totalBaseSell, totalQuoteFundRaising].map(u64),
    u8(migrateType),
    ...[0n, 0n, 0n].map(u64)
  )

/** The data of `initialize_v2`. */
export const encodeLaunchLabInitialize = (texts: Texts, curve: LaunchLabCurve): Uint8Array =>
  pack(u64(INITIALIZE_V2), parameters(texts, curve), u8(0))

/** Event `PoolCreateEvent`. */
export const encodeLaunchLabCreateEvent = (
  addresses: { readonly curve: Address; readonly creator: Address; readonly config: Address },
  texts: Texts,
  curve: LaunchLabCurve
): Uint8Array =>
  pack(
    u64(CREATE_EVENT),
    ...[addresses.curve, addresses.creator, addresses.config].map(key),
    parameters(texts, curve),
    u8(0)
  )

/** The data of `migrate_to_cpswap`. */
export const encodeLaunchLabMigration = (): Uint8Array => u64(MIGRATE_TO_CPMM)

/** The data of a swap with exact input and without a referrer. */
export const encodeLaunchLabSwap = (sells: boolean, amountIn: bigint, minimumOut: bigint): Uint8Array =>
  pack(u64(sells ? SELL_EXACT_IN : BUY_EXACT_IN), ...[amountIn, minimumOut, 0n].map(u64))

const migrated = (mint: Mint | undefined, pool: Address | undefined) =>
  mint === undefined ? null : ({ event: "migrated", launchpad, mint, pool: pool ?? null } as const)

/** Decodes launches and migrations of every platform on LaunchLab. */
export const raydiumLaunchLabLaunches: Launchpad = {
  launchpad,
  dex: LAUNCHLAB_DEX,
  programId: LAUNCHLAB_PROGRAM,
  event: () => null,
  instruction: (data, accounts) => {
    switch (tagAt(data, 0)) {
      case INITIALIZE:
      case INITIALIZE_V2:
      case INITIALIZE_WITH_TOKEN_2022: {
        const [mint, pool, creator, config] = [
          creationAt.mint,
          creationAt.pool,
          creationAt.creator,
          creationAt.config
        ].map((at) => accounts[at])
        return mint === undefined || pool === undefined
          ? null
          : {
              event: "created",
              launchpad,
              mint,
              pool,
              ...(creator !== undefined && { creator }),
              ...(config !== undefined && { config })
            }
      }
      case MIGRATE_TO_CPMM:
        return migrated(accounts[migrationAt.mint], accounts[migrationAt.pool])
      case MIGRATE_TO_AMM:
        return migrated(
          accounts[migrationAt.mint],
          accounts.length === AMM_MIGRATION.accounts ? accounts[AMM_MIGRATION.pool] : undefined
        )
      default:
        return null
    }
  }
}
