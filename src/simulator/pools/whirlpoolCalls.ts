/** Swaps as Orca's program is called and as it tells of them: orca-so/whirlpools, IDL of the program and its `Traded` event. */
import { readI32, readU128, readU16, readU64 } from "../../programs/math/bytes.ts"
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../programs/math/tokenAccount.ts"
import {
  arrayStart,
  oracleAddress,
  TICKS_IN_ARRAY,
  whirlpoolArrayAddress,
  whirlpoolOffsets
} from "../../programs/orca/whirlpoolLayout.ts"
import { reads, signs, writes } from "../chain/Call.ts"
import { bool, hex, key, pack, u128, u64, u8 } from "../../programs/math/pack.ts"
import { afterTransferFee, type CalledPool } from "../chain/SimPool.ts"
import { memoProgram } from "../chain/standardCalls.ts"
import { dataAfter, directed, paidOut, type SwapCall, type Swapping } from "../chain/SwapCall.ts"
import type { World } from "../chain/World.ts"

const ARRAYS = 3
const PROTOCOL_FEES = { a: 85, b: 93 }

/** The three arrays from the price on in the direction of the swap, which the instruction always names. */
const arraysFrom = (world: World, { address }: CalledPool, data: Uint8Array, aToB: boolean) => {
  const spacing = readU16(data, whirlpoolOffsets.tickSpacing)
  const start = arrayStart(readI32(data, whirlpoolOffsets.tick), spacing)
  const step = (aToB ? -1 : 1) * TICKS_IN_ARRAY * spacing
  return Array.from({ length: ARRAYS }, (_, i) => whirlpoolArrayAddress(world.derive, address, start + i * step))
}

/** Tokens of the second token program need the second form of the instruction; every third of the others takes it too. */
export const whirlpoolCall =
  (world: World, pool: CalledPool) =>
  (swap: Swapping): SwapCall => {
    const { address, mints, vaults } = pool
    const { trader, aToB, from, to, minimum } = swap
    const { amountIn, amountOut } = swap.settlement
    const before = world.bank.must(address).data
    const after = dataAfter(swap, address, before)
    const programs = [mints.a, mints.b].map((mint) => world.bank.must(mint).owner)
    const second = amountIn % 3n === 0n || programs.includes(TOKEN_2022_PROGRAM)
    const [ownerA, ownerB] = aToB ? [from, to] : [to, from]
    const tail = [...arraysFrom(world, pool, before, aToB).map(writes), writes(oracleAddress(world.derive, address))]
    const received = afterTransferFee(world, directed(aToB, mints.a, mints.b).input, amountIn)
    const paid = paidOut(swap)
    const feeAt = aToB ? PROTOCOL_FEES.a : PROTOCOL_FEES.b
    const protocolFee = readU64(after, feeAt) - readU64(before, feeAt)
    return {
      name: second ? "SwapV2" : "Swap",
      accounts: second
        ? [
            ...programs.map(reads),
            memoProgram,
            signs(trader),
            writes(address),
            reads(mints.a),
            reads(mints.b),
            writes(ownerA),
            writes(vaults.a),
            writes(ownerB),
            writes(vaults.b),
            ...tail
          ]
        : [
            reads(TOKEN_PROGRAM),
            signs(trader),
            writes(address),
            writes(ownerA),
            writes(vaults.a),
            writes(ownerB),
            writes(vaults.b),
            ...tail
          ],
      data: pack(
        hex(second ? "2b04ed0b1ac91e62" : "f8c69e91e17587c8"),
        u64(amountIn),
        u64(minimum),
        u128(aToB ? 4_295_048_016n : 79_226_673_515_401_279_992_447_579_055n),
        bool(true),
        bool(aToB),
        ...(second ? [u8(0)] : [])
      ),
      checked: second,
      logged: pack(
        hex("e1ca49af932ba096"),
        key(address),
        bool(aToB),
        u128(readU128(before, whirlpoolOffsets.sqrtPrice)),
        u128(readU128(after, whirlpoolOffsets.sqrtPrice)),
        u64(amountIn),
        u64(paid),
        u64(amountIn - received),
        u64(paid - amountOut),
        u64(swap.settlement.fee - protocolFee),
        u64(protocolFee)
      ),
      units: 50_000
    }
  }
