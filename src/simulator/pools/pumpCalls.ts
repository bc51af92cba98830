/** Swaps as Pump's programs are called and as they tell of them: pump-public-docs, idl/pump.json and idl/pump_amm.json. */
import { readU64 } from "../../programs/math/bytes.ts"
import { feeConfigOf, PUMP_PROGRAM } from "../../programs/pump/fees.ts"
import { pumpSwap } from "../../programs/pump/pumpSwap.ts"
import { TOKEN_PROGRAM } from "../../programs/math/tokenAccount.ts"
import { type Address, addressToBytes, type Mint } from "../../domain/Address.ts"
import { ASSOCIATED_TOKEN_PROGRAM, inventAddress, SYSTEM_PROGRAM } from "../chain/addresses.ts"
import { pays, reads, writes } from "../chain/Call.ts"
import { eventAuthority } from "../../programs/anchorEvents.ts"
import { bool, hex, i64, key, pack, text, u64, u8 } from "../../programs/math/pack.ts"
import { FEE_PROGRAM } from "./pumpFeeAccounts.ts"
import type { CalledPool } from "../chain/SimPool.ts"
import { dataAfter, paidTo, type SwapCall, type Swapping } from "../chain/SwapCall.ts"
import { balanceOf } from "../chain/tokens.ts"
import type { World } from "../chain/World.ts"

const utf8 = new TextEncoder()
const NOBODY = SYSTEM_PROGRAM

/** Where one curve's money is and goes. */
export interface CurvePlaces {
  readonly curve: Address
  readonly vault: Address
  readonly mint: Mint
  readonly creator: Address
  readonly protocolTill: Address
  readonly creatorTill: Address
}

/** Offsets in a curve's account. */
export const curveAt = {
  virtualTokens: 8,
  virtualQuote: 16,
  realTokens: 24,
  realQuote: 32,
  supply: 40,
  complete: 48,
  creator: 49
} as const

/** The volume accounts of the program and of one trader. Nobody's volume is tracked here. */
const volumes = (world: World, program: Address, trader: Address) => [
  reads(world.derive(program, [utf8.encode("global_volume_accumulator")])),
  writes(inventAddress(world.seed, `volume of ${trader} in ${program}`))
]

const tradeEvent = (world: World, places: CurvePlaces, swap: Swapping): Uint8Array => {
  const { curve, mint, creator, protocolTill, creatorTill } = places
  const { amountIn, amountOut } = swap.settlement
  const before = world.bank.must(curve).data
  const after = dataAfter(swap, curve, before)
  const moved = readU64(after, curveAt.realQuote) - readU64(before, curveAt.realQuote)
  const field = (offset: number) => u64(readU64(after, offset))
  return pack(
    hex("bddb7fd34ee661ee"),
    key(mint),
    u64(swap.aToB ? -moved : moved),
    u64(swap.aToB ? amountIn : amountOut),
    bool(!swap.aToB),
    key(swap.trader),
    i64(swap.clock.unixTimestamp),
    field(curveAt.virtualQuote),
    field(curveAt.virtualTokens),
    field(curveAt.realQuote),
    field(curveAt.realTokens),
    key(protocolTill),
    u64(95n),
    u64(paidTo(swap, protocolTill)),
    key(creator),
    u64(30n),
    u64(paidTo(swap, creatorTill)),
    bool(false),
    u64(0n),
    u64(0n),
    u64(0n),
    i64(0),
    text(swap.aToB ? "sell" : "buy_exact_sol_in")
  )
}

/** Lamports move without an instruction when the curve pays, so that the event is the only one to tell. */
export const pumpCurveCall =
  (world: World, places: CurvePlaces) =>
  (swap: Swapping): SwapCall => {
    const { curve, vault, mint, protocolTill, creatorTill } = places
    const { trader, aToB, from, to, minimum, settlement } = swap
    const authority = eventAuthority(world.derive, PUMP_PROGRAM)
    const global = world.derive(PUMP_PROGRAM, [utf8.encode("global")])
    const event = tradeEvent(world, places, swap)
    const shared = [
      reads(global),
      writes(protocolTill),
      reads(mint),
      writes(curve),
      writes(vault),
      writes(aToB ? from : to),
      pays(trader),
      reads(SYSTEM_PROGRAM)
    ]
    const own = aToB ? [writes(creatorTill), reads(TOKEN_PROGRAM)] : [reads(TOKEN_PROGRAM), writes(creatorTill)]
    return {
      name: aToB ? "Sell" : "BuyExactSolIn",
      accounts: [
        ...shared,
        ...own,
        reads(authority),
        reads(PUMP_PROGRAM),
        ...(aToB ? [] : volumes(world, PUMP_PROGRAM, trader)),
        reads(feeConfigOf(PUMP_PROGRAM, world.derive)),
        reads(FEE_PROGRAM)
      ],
      data: pack(
        hex(aToB ? "33e685a4017f83ad" : "38fc74089edfcd5f"),
        u64(settlement.amountIn),
        u64(minimum),
        ...(aToB ? [] : [u8(0)])
      ),
      checked: false,
      logged: event,
      sent: { authority, event },
      units: 60_000
    }
  }

/** Where the fees of one PumpSwap pool go, and what they are. */
export interface PumpSwapPlaces {
  readonly protocolOwner: Address
  readonly protocol: Address
  /** Null where nobody earns the creator's fee. */
  readonly creator: { readonly owner: Address; readonly account: Address } | null
  readonly rates: () => { readonly lp: bigint; readonly protocol: bigint; readonly creator: bigint } | null
}

/** The quote amounts of a swap, from the pool's own to the trader's. */
const quoteAmounts = (swap: Swapping, { protocol, creator }: PumpSwapPlaces) => {
  const { amountIn, amountOut, fee } = swap.settlement
  const protocolFee = paidTo(swap, protocol)
  const creatorFee = creator === null ? 0n : paidTo(swap, creator.account)
  const others = protocolFee + creatorFee
  return swap.aToB
    ? { protocolFee, creatorFee, pool: amountOut + others + fee, withoutOthers: amountOut + others, user: amountOut }
    : { protocolFee, creatorFee, pool: amountIn - others - fee, withoutOthers: amountIn - others, user: amountIn }
}

const pumpSwapEvent = (world: World, pool: CalledPool, places: PumpSwapPlaces, swap: Swapping): Uint8Array => {
  const { address, vaults } = pool
  const { trader, aToB, from, to, minimum, settlement, clock } = swap
  const [userBase, userQuote] = aToB ? [from, to] : [to, from]
  const held = (account: Address) => {
    const found = world.bank.get(account)
    return u64(found === undefined ? (account === userQuote && !aToB ? settlement.amountIn : 0n) : balanceOf(found))
  }
  const rates = places.rates() ?? { lp: 0n, protocol: 0n, creator: 0n }
  const quotes = quoteAmounts(swap, places)
  return pack(
    hex(aToB ? "3e2f370aa503dc2a" : "67f4521f2cf57777"),
    i64(clock.unixTimestamp),
    u64(aToB ? settlement.amountIn : settlement.amountOut),
    u64(aToB ? minimum : settlement.amountIn),
    held(userBase),
    held(userQuote),
    held(vaults.a),
    held(vaults.b),
    u64(quotes.pool),
    u64(rates.lp),
    u64(settlement.fee),
    u64(rates.protocol),
    u64(quotes.protocolFee),
    u64(quotes.withoutOthers),
    u64(quotes.user),
    ...[address, trader, userBase, userQuote, places.protocolOwner, places.protocol].map(key),
    key(places.creator?.owner ?? NOBODY),
    u64(places.creator === null ? 0n : rates.creator),
    u64(quotes.creatorFee),
    ...(aToB ? [] : [bool(false), u64(0n), u64(0n), u64(0n), i64(0), u64(minimum), text("buy_exact_quote_in")])
  )
}

/** A coin without a creator still names a vault, of the system program's address. */
export const pumpSwapCall =
  (world: World, pool: CalledPool, places: PumpSwapPlaces) =>
  (swap: Swapping): SwapCall => {
    const { address, mints, vaults, part } = pool
    const { trader, aToB, from, to, minimum, settlement } = swap
    const { programId } = pumpSwap
    const authority = eventAuthority(world.derive, programId)
    const event = pumpSwapEvent(world, pool, places, swap)
    const creatorOwner = places.creator?.owner ?? NOBODY
    return {
      name: aToB ? "Sell" : "BuyExactQuoteIn",
      accounts: [
        writes(address),
        pays(trader),
        reads(world.derive(programId, [utf8.encode("global_config")])),
        reads(mints.a),
        reads(mints.b),
        writes(aToB ? from : to),
        writes(aToB ? to : from),
        writes(vaults.a),
        writes(vaults.b),
        reads(places.protocolOwner),
        writes(places.protocol),
        reads(world.bank.must(mints.a).owner),
        reads(world.bank.must(mints.b).owner),
        reads(SYSTEM_PROGRAM),
        reads(ASSOCIATED_TOKEN_PROGRAM),
        reads(authority),
        reads(programId),
        writes(places.creator?.account ?? part("creator vault")),
        reads(world.derive(programId, [utf8.encode("creator_vault"), addressToBytes(creatorOwner)])),
        ...(aToB ? [] : volumes(world, programId, trader)),
        reads(feeConfigOf(programId, world.derive)),
        reads(FEE_PROGRAM)
      ],
      data: pack(
        hex(aToB ? "33e685a4017f83ad" : "c62e1552b4d9e870"),
        u64(settlement.amountIn),
        u64(minimum),
        ...(aToB ? [] : [u8(0)])
      ),
      checked: true,
      logged: event,
      sent: { authority, event },
      units: 70_000
    }
  }
