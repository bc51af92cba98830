/** Meteora calls for swaps, with their events. */
import { inAccountOrder } from "../../programs/layout/hops.ts"
import { eventAuthority } from "../../programs/layout/anchorEvents.ts"
import { readI32, readU128, readU64 } from "../../programs/layout/bytes.ts"
import { dammV2At } from "../../programs/meteora/dammV2State.ts"
import { dbcPoolAt } from "../../programs/meteora/dbcState.ts"
import { FEE_DENOMINATOR } from "../../programs/meteora/fees.ts"
import { dlmmPairAt } from "../../programs/meteora/dlmmPair.ts"
import { meteoraDammV2 } from "../../programs/meteora/dammV2.ts"
import { dammV2SwapAccounts, dammV2SwapEvent } from "../../programs/meteora/dammV2Instructions.ts"
import { meteoraDbc } from "../../programs/meteora/dbc.ts"
import { dbcSwapAccounts, dbcSwapEvent } from "../../programs/meteora/dbcInstructions.ts"
import { encodeSwap } from "../../programs/meteora/discriminators.ts"
import { meteoraDlmm } from "../../programs/meteora/dlmm.ts"
import {
  dlmmSwap2Accounts,
  dlmmSwapAccounts,
  dlmmSwapEvent,
  encodeDlmmSwap
} from "../../programs/meteora/dlmmInstructions.ts"
import type { Address, Mint } from "../../domain/Address.ts"
import { type AccountRef, reads, signs, writes, memoProgram } from "../../programs/transactions/Call.ts"
import { afterTransferFee, type CalledPool } from "../chain/SimPool.ts"
import { dataAfter, directed, paidOut, paidTo, type SwapCall, type Swapping } from "../chain/SwapCall.ts"
import type { World } from "../chain/World.ts"

const tokenProgramOf = (world: World, mint: Mint): AccountRef => reads(world.bank.must(mint).owner)

/** Swaps on a pair. Every third one is a `swap2`. `arrays` are the bin arrays that the swap goes through. */
export const dlmmCall =
  (world: World, pool: CalledPool, arrays: (swap: Swapping) => ReadonlyArray<Address>) =>
  (swap: Swapping): SwapCall => {
    const { address, mints, vaults, part } = pool
    const { trader, aToB, from, to, minimum, settlement } = swap
    const { amountIn } = settlement
    const { programId } = meteoraDlmm
    const second = amountIn % 3n === 0n
    const authority = eventAuthority(world.derive, programId)
    const before = world.bank.must(address).data
    const after = dataAfter(swap, address, before)
    const received = afterTransferFee(world, directed(aToB, mints.a, mints.b).input, amountIn)
    const counter = aToB ? dlmmPairAt.protocolFeeX : dlmmPairAt.protocolFeeY
    return {
      name: second ? "Swap2" : "Swap",
      accounts: [
        ...inAccountOrder(second ? dlmmSwap2Accounts : dlmmSwapAccounts, {
          lbPair: writes(address),
          binArrayBitmapExtension: reads(programId),
          reserveX: writes(vaults.a),
          reserveY: writes(vaults.b),
          userTokenIn: writes(from),
          userTokenOut: writes(to),
          tokenXMint: reads(mints.a),
          tokenYMint: reads(mints.b),
          oracle: writes(part("oracle")),
          hostFeeIn: reads(programId),
          user: signs(trader),
          tokenXProgram: tokenProgramOf(world, mints.a),
          tokenYProgram: tokenProgramOf(world, mints.b),
          memoProgram,
          eventAuthority: reads(authority),
          program: reads(programId)
        }),
        ...arrays(swap).map(writes)
      ],
      data: encodeDlmmSwap(second, amountIn, minimum),
      checked: true,
      sent: {
        authority,
        events: [
          dlmmSwapEvent.encode({
            lbPair: address,
            from: trader,
            startBinId: readI32(before, dlmmPairAt.activeId),
            endBinId: readI32(after, dlmmPairAt.activeId),
            amountIn,
            amountOut: paidOut(swap),
            swapForY: aToB,
            fee: settlement.fee,
            protocolFee: readU64(after, counter) - readU64(before, counter),
            feeRate: (settlement.fee * FEE_DENOMINATOR) / (received === 0n ? 1n : received),
            hostFee: 0n
          })
        ]
      },
      units: 45_000
    }
  }

/** Swaps of a DAMM v2 pool, without referrals. */
export const dammV2Call =
  (world: World, pool: CalledPool, poolAuthority: Address, collectFeeMode: number) =>
  (swap: Swapping): SwapCall => {
    const { address, mints, vaults } = pool
    const { trader, aToB, from, to, minimum, settlement, clock } = swap
    const { amountIn, amountOut, fee } = settlement
    const { programId } = meteoraDammV2
    const authority = eventAuthority(world.derive, programId)
    const before = world.bank.must(address).data
    const after = dataAfter(swap, address, before)
    const received = afterTransferFee(world, directed(aToB, mints.a, mints.b).input, amountIn)
    const paid = paidOut(swap)
    const protocolFee = [dammV2At.protocolFeeA, dammV2At.protocolFeeB].reduce(
      (sum, offset) => sum + readU64(after, offset) - readU64(before, offset),
      0n
    )
    const chargedOnInput = collectFeeMode === 1 && !aToB
    return {
      name: "Swap",
      accounts: inAccountOrder(dammV2SwapAccounts, {
        poolAuthority: reads(poolAuthority),
        pool: writes(address),
        inputTokenAccount: writes(from),
        outputTokenAccount: writes(to),
        tokenAVault: writes(vaults.a),
        tokenBVault: writes(vaults.b),
        tokenAMint: reads(mints.a),
        tokenBMint: reads(mints.b),
        payer: signs(trader),
        tokenAProgram: tokenProgramOf(world, mints.a),
        tokenBProgram: tokenProgramOf(world, mints.b),
        referralTokenAccount: reads(programId),
        eventAuthority: reads(authority),
        program: reads(programId)
      }),
      data: encodeSwap(amountIn, minimum),
      checked: true,
      sent: {
        authority,
        events: [
          dammV2SwapEvent.encode({
            pool: address,
            tradeDirection: aToB ? 0 : 1,
            collectFeeMode,
            hasReferral: false,
            amount0: amountIn,
            amount1: minimum,
            swapMode: 0,
            includedFeeInputAmount: received,
            excludedFeeInputAmount: chargedOnInput ? received - fee : received,
            amountLeft: 0n,
            outputAmount: paid,
            nextSqrtPrice: readU128(after, dammV2At.sqrtPrice),
            claimingFee: fee - protocolFee,
            protocolFee,
            compoundingFee: 0n,
            referralFee: 0n,
            includedTransferFeeAmountIn: amountIn,
            includedTransferFeeAmountOut: paid,
            excludedTransferFeeAmountOut: amountOut,
            currentTimestamp: clock.unixTimestamp,
            reserveAAmount: readU64(after, dammV2At.amountA),
            reserveBAmount: readU64(after, dammV2At.amountB)
          })
        ]
      },
      units: 40_000
    }
  }

/** The accounts of a curve besides its pool. */
export interface DbcPlaces {
  readonly authority: Address
  readonly config: Address
  readonly threshold: bigint
}

/** Swaps on a bonding curve. The program emits two events; this emits only the newer one. */
export const dbcCall =
  (world: World, pool: CalledPool, { authority: poolAuthority, config, threshold }: DbcPlaces) =>
  (swap: Swapping): SwapCall => {
    const { address, mints, vaults } = pool
    const { trader, aToB, from, to, minimum, settlement, clock } = swap
    const { amountIn, fee } = settlement
    const { programId } = meteoraDbc
    const authority = eventAuthority(world.derive, programId)
    const before = world.bank.must(address).data
    const after = dataAfter(swap, address, before)
    const counters = [dbcPoolAt.protocolBaseFee, dbcPoolAt.protocolQuoteFee]
    const protocolFee = counters.reduce((sum, offset) => sum + readU64(after, offset) - readU64(before, offset), 0n)
    return {
      name: "Swap",
      accounts: inAccountOrder(dbcSwapAccounts, {
        poolAuthority: reads(poolAuthority),
        config: reads(config),
        pool: writes(address),
        inputTokenAccount: writes(from),
        outputTokenAccount: writes(to),
        baseVault: writes(vaults.a),
        quoteVault: writes(vaults.b),
        baseMint: reads(mints.a),
        quoteMint: reads(mints.b),
        payer: signs(trader),
        tokenBaseProgram: tokenProgramOf(world, mints.a),
        tokenQuoteProgram: tokenProgramOf(world, mints.b),
        referralTokenAccount: reads(programId),
        eventAuthority: reads(authority),
        program: reads(programId)
      }),
      data: encodeSwap(amountIn, minimum),
      checked: true,
      sent: {
        authority,
        events: [
          dbcSwapEvent.encode({
            pool: address,
            config,
            tradeDirection: aToB ? 0 : 1,
            hasReferral: false,
            amount0: amountIn,
            amount1: minimum,
            swapMode: 0,
            includedFeeInputAmount: paidTo(swap, aToB ? vaults.a : vaults.b),
            excludedFeeInputAmount: aToB ? amountIn : amountIn - fee,
            amountLeft: 0n,
            outputAmount: paidOut(swap),
            nextSqrtPrice: readU128(after, dbcPoolAt.sqrtPrice),
            tradingFee: fee - protocolFee,
            protocolFee,
            referralFee: 0n,
            quoteReserveAmount: readU64(after, dbcPoolAt.quoteReserve),
            migrationThreshold: threshold,
            currentTimestamp: clock.unixTimestamp
          })
        ]
      },
      units: 45_000
    }
  }
