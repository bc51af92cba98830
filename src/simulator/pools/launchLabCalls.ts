/** Raydium LaunchLab calls for swaps, launches and graduations. */
import { inAccountOrder } from "../../programs/layout/hops.ts"
import { eventAuthority } from "../../programs/layout/anchorEvents.ts"
import { readAddress, readU64 } from "../../programs/layout/bytes.ts"
import { TOKEN_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import { CPMM_PROGRAM } from "../../programs/raydium/cpmmLayout.ts"
import {
  encodeLaunchLabSwap,
  launchLabInitializeAccounts,
  launchLabMigrationAccounts,
  launchLabSwapAccounts,
  launchLabTradeEvent
} from "../../programs/raydium/launchLabLaunches.ts"
import { LAUNCHLAB_PROGRAM, launchLabAt as at, launchLabAuthority } from "../../programs/raydium/launchLabLayout.ts"
import { Address, type Mint, SOL } from "../../domain/Address.ts"
import { SYSTEM_PROGRAM } from "../chain/addresses.ts"
import { type AccountRef, pays, reads, signs, writes } from "../../programs/transactions/Call.ts"
import { METAPLEX_PROGRAM, metaplexSeeds } from "../chain/metadata.ts"
import type { CalledPool } from "../chain/SimPool.ts"
import { dataAfter, type SwapCall, type Swapping } from "../chain/SwapCall.ts"
import type { World } from "../chain/World.ts"

const RENT_SYSVAR = Address.make("SysvarRent111111111111111111111111111111111")

/** A swap on a curve with exact input and without a referrer. */
export const launchLabSwapCall =
  (world: World, { address, mints, vaults }: CalledPool) =>
  (swap: Swapping): SwapCall => {
    const { trader, aToB, from, to, minimum, settlement } = swap
    const { amountIn, amountOut, fee } = settlement
    const authority = eventAuthority(world.derive, LAUNCHLAB_PROGRAM)
    const before = world.bank.must(address).data
    const after = dataAfter(swap, address, before)
    const added = (offset: number) => readU64(after, offset) - readU64(before, offset)
    return {
      name: aToB ? "SellExactIn" : "BuyExactIn",
      accounts: inAccountOrder(launchLabSwapAccounts, {
        payer: signs(trader),
        authority: reads(launchLabAuthority(world.derive)),
        globalConfig: reads(readAddress(before, at.globalConfig)),
        platformConfig: reads(readAddress(before, at.platformConfig)),
        poolState: writes(address),
        userBaseToken: writes(aToB ? from : to),
        userQuoteToken: writes(aToB ? to : from),
        baseVault: writes(vaults.a),
        quoteVault: writes(vaults.b),
        baseMint: reads(mints.a),
        quoteMint: reads(mints.b),
        baseTokenProgram: reads(world.bank.must(mints.a).owner),
        quoteTokenProgram: reads(world.bank.must(mints.b).owner),
        eventAuthority: reads(authority),
        program: reads(LAUNCHLAB_PROGRAM)
      }),
      data: encodeLaunchLabSwap(aToB, amountIn, minimum),
      checked: true,
      sent: {
        authority,
        events: [
          launchLabTradeEvent.encode({
            poolState: address,
            totalBaseSell: readU64(after, at.totalBaseSell),
            virtualBase: readU64(after, at.virtualBase),
            virtualQuote: readU64(after, at.virtualQuote),
            realBaseBefore: readU64(before, at.realBase),
            realQuoteBefore: readU64(before, at.realQuote),
            realBaseAfter: readU64(after, at.realBase),
            realQuoteAfter: readU64(after, at.realQuote),
            amountIn,
            amountOut: aToB ? amountOut + fee : amountOut,
            protocolFee: added(at.protocolFee),
            platformFee: added(at.platformFee),
            creatorFee: 0n,
            shareFee: 0n,
            tradeDirection: aToB ? 1 : 0,
            poolStatus: after[at.status] ?? 0,
            exactIn: true
          })
        ]
      },
      units: 40_000
    }
  }

/** Accounts of the instruction that puts a coin on its curve. */
export const launchLabLaunchAccounts = (
  world: World,
  { creator, curve, mint }: { readonly creator: Address; readonly curve: Address; readonly mint: Mint }
): ReadonlyArray<AccountRef> => {
  const { data } = world.bank.must(curve)
  return inAccountOrder(launchLabInitializeAccounts, {
    payer: pays(creator),
    creator: reads(creator),
    globalConfig: reads(readAddress(data, at.globalConfig)),
    platformConfig: reads(readAddress(data, at.platformConfig)),
    authority: reads(launchLabAuthority(world.derive)),
    poolState: writes(curve),
    baseMint: pays(mint),
    quoteMint: reads(SOL),
    baseVault: writes(readAddress(data, at.baseVault)),
    quoteVault: writes(readAddress(data, at.quoteVault)),
    metadataAccount: writes(world.derive(METAPLEX_PROGRAM, metaplexSeeds(mint))),
    baseTokenProgram: reads(TOKEN_PROGRAM),
    quoteTokenProgram: reads(TOKEN_PROGRAM),
    metadataProgram: reads(METAPLEX_PROGRAM),
    systemProgram: reads(SYSTEM_PROGRAM),
    rentProgram: reads(RENT_SYSVAR),
    eventAuthority: reads(eventAuthority(world.derive, LAUNCHLAB_PROGRAM)),
    program: reads(LAUNCHLAB_PROGRAM)
  })
}

/** First accounts of the instruction that moves a coin to a CPMM pool. */
export const launchLabGraduationAccounts = (
  world: World,
  payer: Address,
  { curve, mint, pool }: { readonly curve: Address; readonly mint: Mint; readonly pool: Address }
): ReadonlyArray<AccountRef> => [
  ...inAccountOrder(launchLabMigrationAccounts, {
    payer: pays(payer),
    baseMint: writes(mint),
    quoteMint: reads(SOL),
    platformConfig: reads(readAddress(world.bank.must(curve).data, at.platformConfig)),
    cpmmProgram: reads(CPMM_PROGRAM),
    cpmmPool: writes(pool)
  }),
  reads(launchLabAuthority(world.derive)),
  writes(curve)
]
