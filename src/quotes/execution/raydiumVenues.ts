/** Swap instructions of Raydium's AMM v4, CPMM and CLMM. */
import { MAX_U64 } from "../../domain/Amount.ts"
import { readAddress } from "../../programs/layout/bytes.ts"
import { inAccountOrder } from "../../programs/layout/hops.ts"
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import { raydiumAmmV4 } from "../../programs/raydium/ammV4.ts"
import { ammV4SwapAccounts, encodeAmmV4Swap } from "../../programs/raydium/ammV4Instructions.ts"
import { AMM_V4_AUTHORITY, ammV4Offsets } from "../../programs/raydium/ammV4Layout.ts"
import { clmmArraysAhead, raydiumClmm } from "../../programs/raydium/clmm.ts"
import { clmmSwapV2Accounts, encodeClmmSwap, encodeClmmSwapOut } from "../../programs/raydium/clmmInstructions.ts"
import { bitmapExtensionAddress, clmmPoolOffsets } from "../../programs/raydium/clmmLayout.ts"
import { raydiumCpmm } from "../../programs/raydium/cpmm.ts"
import { cpmmSwapAccounts, encodeCpmmSwap } from "../../programs/raydium/cpmmInstructions.ts"
import { cpmmAuthority, cpmmOffsets } from "../../programs/raydium/cpmmLayout.ts"
import { memoProgram, pays, reads, signs, writes } from "../../programs/transactions/Call.ts"
import { directed, sidesAt, tokenProgramOf, type Venue } from "./swapVenue.ts"

const ammV4Sides = sidesAt({
  mintA: ammV4Offsets.coinMint,
  mintB: ammV4Offsets.pcMint,
  vaultA: ammV4Offsets.coinVault,
  vaultB: ammV4Offsets.pcVault
})

/**
 * Swaps with the accounts of a market, which every version of the program takes. Since September 2025 the program
 * looks at none of them. Before, it did not for pools that only swap. So one account stands for all of the market's.
 */
export const ammV4Venue: Venue = {
  program: raydiumAmmV4,
  swapNeeds: () => [],
  sides: ({ pool }) => ammV4Sides(pool),
  vaultOwner: () => AMM_V4_AUTHORITY,
  swap: ({ pool }, { amount, from, to, trader }) => {
    const { vaultA, vaultB } = ammV4Sides(pool)
    const market = writes(readAddress(pool.data, ammV4Offsets.market))
    return {
      accounts: inAccountOrder(ammV4SwapAccounts, {
        tokenProgram: reads(TOKEN_PROGRAM),
        amm: writes(pool.address),
        authority: reads(AMM_V4_AUTHORITY),
        openOrders: writes(readAddress(pool.data, ammV4Offsets.openOrders)),
        targetOrders: writes(readAddress(pool.data, ammV4Offsets.targetOrders)),
        coinVault: writes(vaultA),
        pcVault: writes(vaultB),
        marketProgram: reads(readAddress(pool.data, ammV4Offsets.marketProgram)),
        market,
        bids: market,
        asks: market,
        eventQueue: market,
        marketCoinVault: market,
        marketPcVault: market,
        marketVaultSigner: market,
        userSource: writes(from),
        userDestination: writes(to),
        userOwner: signs(trader)
      }),
      data: encodeAmmV4Swap({ withMarket: true, amountIn: amount, minimumOut: 0n })
    }
  }
}

const cpmmSides = sidesAt({
  mintA: cpmmOffsets.mints[0],
  mintB: cpmmOffsets.mints[1],
  vaultA: cpmmOffsets.vaults[0],
  vaultB: cpmmOffsets.vaults[1]
})

export const cpmmVenue: Venue = {
  program: raydiumCpmm,
  swapNeeds: ({ pool }) => [readAddress(pool.data, cpmmOffsets.observation)],
  sides: ({ pool }) => cpmmSides(pool),
  vaultOwner: ({ derive }) => cpmmAuthority(derive),
  swap: (site, { aToB, amount, from, to, trader }) => {
    const { derive, pool } = site
    const { mintIn, mintOut, vaultIn, vaultOut } = directed(cpmmSides(pool), aToB)
    return {
      accounts: inAccountOrder(cpmmSwapAccounts, {
        payer: signs(trader),
        authority: reads(cpmmAuthority(derive)),
        ammConfig: reads(readAddress(pool.data, cpmmOffsets.config)),
        poolState: writes(pool.address),
        inputTokenAccount: writes(from),
        outputTokenAccount: writes(to),
        inputVault: writes(vaultIn),
        outputVault: writes(vaultOut),
        inputTokenProgram: tokenProgramOf(site, mintIn),
        outputTokenProgram: tokenProgramOf(site, mintOut),
        inputTokenMint: reads(mintIn),
        outputTokenMint: reads(mintOut),
        observationState: writes(readAddress(pool.data, cpmmOffsets.observation))
      }),
      data: encodeCpmmSwap(amount, 0n)
    }
  }
}

const clmmSides = sidesAt({
  mintA: clmmPoolOffsets.mint0,
  mintB: clmmPoolOffsets.mint1,
  vaultA: clmmPoolOffsets.vault0,
  vaultB: clmmPoolOffsets.vault1
})

export const clmmVenue: Venue = {
  program: raydiumClmm,
  swapNeeds: ({ derive, pool }) => [
    readAddress(pool.data, clmmPoolOffsets.observation),
    bitmapExtensionAddress(derive, pool.address)
  ],
  sides: ({ pool }) => clmmSides(pool),
  vaultOwner: ({ pool }) => pool.address,
  swap: (site, { aToB, amount, exactOut, from, to, trader }) => {
    const { accounts, derive, pool } = site
    const { mintIn, mintOut, vaultIn, vaultOut } = directed(clmmSides(pool), aToB)
    const extension = bitmapExtensionAddress(derive, pool.address)
    const arrays = clmmArraysAhead(pool, accounts, derive, aToB)
    return {
      accounts: [
        ...inAccountOrder(clmmSwapV2Accounts, {
          payer: pays(trader),
          ammConfig: reads(readAddress(pool.data, clmmPoolOffsets.config)),
          poolState: writes(pool.address),
          inputTokenAccount: writes(from),
          outputTokenAccount: writes(to),
          inputVault: writes(vaultIn),
          outputVault: writes(vaultOut),
          observationState: writes(readAddress(pool.data, clmmPoolOffsets.observation)),
          tokenProgram: reads(TOKEN_PROGRAM),
          tokenProgram2022: reads(TOKEN_2022_PROGRAM),
          memoProgram,
          inputVaultMint: reads(mintIn),
          outputVaultMint: reads(mintOut)
        }),
        // The program tells the extension from tick arrays by its address.
        ...(accounts(extension) ? [writes(extension)] : []),
        ...arrays.filter((address) => accounts(address)).map(writes)
      ],
      data: exactOut
        ? encodeClmmSwapOut({ amountOut: amount, maximumIn: MAX_U64 })
        : encodeClmmSwap({ second: true, amountIn: amount, minimumOut: 0n })
    }
  }
}
