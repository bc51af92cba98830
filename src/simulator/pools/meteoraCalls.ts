/**
 * Swaps as Meteora's programs are called and as they tell of them: dlmm-sdk, idls/dlmm.json; damm-v2,
 * programs/cp-amm/src/{instructions/swap,event}.rs; dynamic-bonding-curve, src/{instructions/swap,event}.rs.
 */
import { eventAuthority } from "../../programs/anchorEvents.ts"
import { readI32, readU128, readU64 } from "../../programs/math/bytes.ts"
import { dammV2At } from "../../programs/meteora/dammV2State.ts"
import { dbcPoolAt } from "../../programs/meteora/dbcState.ts"
import { dlmmPairAt } from "../../programs/meteora/dlmmPair.ts"
import { meteoraDammV2 } from "../../programs/meteora/dammV2.ts"
import { meteoraDbc } from "../../programs/meteora/dbc.ts"
import { meteoraDlmm } from "../../programs/meteora/dlmm.ts"
import type { Address } from "../../domain/Address.ts"
import { reads, signs, writes } from "../chain/Call.ts"
import { bool, hex, i32, key, pack, u128, u32, u64, u8 } from "../../programs/math/pack.ts"
import { afterTransferFee, type CalledPool } from "../chain/SimPool.ts"
import { memoProgram } from "../chain/standardCalls.ts"
import { dataAfter, directed, paidOut, paidTo, type SwapCall, type Swapping } from "../chain/SwapCall.ts"
import type { World } from "../chain/World.ts"

const SWAP = hex("f8c69e91e17587c8")
const SWAP_2 = hex("414b3f4ceb5b5b88")

const tokenPrograms = (world: World, { mints }: CalledPool): ReadonlyArray<Address> =>
  [mints.a, mints.b].map((mint) => world.bank.must(mint).owner)

/** Every third swap takes the second form of the instruction. `arrays` are those that it goes through. */
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
        writes(address),
        reads(programId),
        writes(vaults.a),
        writes(vaults.b),
        writes(from),
        writes(to),
        reads(mints.a),
        reads(mints.b),
        writes(part("oracle")),
        reads(programId),
        signs(trader),
        ...tokenPrograms(world, pool).map(reads),
        ...(second ? [memoProgram] : []),
        reads(authority),
        reads(programId),
        ...arrays(swap).map(writes)
      ],
      data: pack(second ? SWAP_2 : SWAP, u64(amountIn), u64(minimum), ...(second ? [u32(0)] : [])),
      checked: true,
      sent: {
        authority,
        event: pack(
          hex("516ce3becdd00ac4"),
          key(address),
          key(trader),
          i32(readI32(before, dlmmPairAt.activeId)),
          i32(readI32(after, dlmmPairAt.activeId)),
          u64(received),
          u64(paidOut(swap)),
          bool(aToB),
          u64(settlement.fee),
          u64(readU64(after, counter) - readU64(before, counter)),
          u128((settlement.fee * 1_000_000_000n) / (received === 0n ? 1n : received)),
          u64(0n)
        )
      },
      units: 45_000
    }
  }

/** A referral is never named: its place holds the program itself. */
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
      accounts: [
        reads(poolAuthority),
        writes(address),
        writes(from),
        writes(to),
        writes(vaults.a),
        writes(vaults.b),
        reads(mints.a),
        reads(mints.b),
        signs(trader),
        ...tokenPrograms(world, pool).map(reads),
        reads(programId),
        reads(authority),
        reads(programId)
      ],
      data: pack(SWAP, u64(amountIn), u64(minimum)),
      checked: true,
      sent: {
        authority,
        event: pack(
          hex("bd4233a826507599"),
          key(address),
          u8(aToB ? 0 : 1),
          u8(collectFeeMode),
          bool(false),
          u64(amountIn),
          u64(minimum),
          u8(0),
          u64(received),
          u64(chargedOnInput ? received - fee : received),
          u64(0n),
          u64(paid),
          u128(readU128(after, dammV2At.sqrtPrice)),
          u64(fee - protocolFee),
          u64(protocolFee),
          u64(0n),
          u64(0n),
          u64(amountIn),
          u64(paid),
          u64(amountOut),
          u64(BigInt(clock.unixTimestamp)),
          u64(readU64(after, dammV2At.amountA)),
          u64(readU64(after, dammV2At.amountB))
        )
      },
      units: 40_000
    }
  }

/** A curve's places besides its pool. */
export interface DbcPlaces {
  readonly authority: Address
  readonly config: Address
  readonly threshold: bigint
}

/** The program sends an older and a newer event for every swap. */
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
      accounts: [
        reads(poolAuthority),
        reads(config),
        writes(address),
        writes(from),
        writes(to),
        writes(vaults.a),
        writes(vaults.b),
        reads(mints.a),
        reads(mints.b),
        signs(trader),
        ...tokenPrograms(world, pool).map(reads),
        reads(programId),
        reads(authority),
        reads(programId)
      ],
      data: pack(SWAP, u64(amountIn), u64(minimum)),
      checked: true,
      sent: {
        authority,
        event: pack(
          hex("bd4233a826507599"),
          key(address),
          key(config),
          u8(aToB ? 0 : 1),
          bool(false),
          u64(amountIn),
          u64(minimum),
          u8(0),
          u64(paidTo(swap, aToB ? vaults.a : vaults.b)),
          u64(aToB ? amountIn : amountIn - fee),
          u64(0n),
          u64(paidOut(swap)),
          u128(readU128(after, dbcPoolAt.sqrtPrice)),
          u64(fee - protocolFee),
          u64(protocolFee),
          u64(0n),
          u64(readU64(after, dbcPoolAt.quoteReserve)),
          u64(threshold),
          u64(BigInt(clock.unixTimestamp))
        )
      },
      units: 45_000
    }
  }
