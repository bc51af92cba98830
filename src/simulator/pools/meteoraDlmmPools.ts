/** Meteora DLMM pairs as the program writes them: the program's IDL and MeteoraAg/dlmm-sdk, commons/src at fb02e51. */
import {
  BIN_ARRAY_DISCRIMINATOR,
  BIN_ARRAY_LENGTH,
  binArrayAddress,
  binArrayIndexOf,
  binPrice,
  type Bin,
  dlmmBinArrayAt,
  dlmmBinAt,
  dlmmBinOffset,
  readBin
} from "../../programs/meteora/dlmmBins.ts"
import { INTERNAL_ARRAYS } from "../../programs/meteora/dlmmBitmap.ts"
import { dlmmReference } from "../../programs/meteora/dlmmFees.ts"
import {
  DLMM_PAIR_DISCRIMINATOR,
  DLMM_PAIR_LENGTH,
  type DlmmPair,
  dlmmPairAt,
  readDlmmPair
} from "../../programs/meteora/dlmmPair.ts"
import { type BinFill, dlmmAfter, fillDlmm } from "../../programs/meteora/dlmmSwap.ts"
import { meteoraDlmm } from "../../programs/meteora/dlmm.ts"
import { writeBinArray, writeDlmmPair } from "../../programs/meteora/writes.ts"
import { TOKEN_2022_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import { isFailure } from "../../programs/layout/unpriceable.ts"
import {
  newAccountData,
  writeAddress,
  writeI32,
  writeI64,
  writeU128,
  writeU16,
  writeU32,
  writeU64
} from "../../programs/layout/bytes.ts"
import { type Address, addressToBytes, type Mint } from "../../domain/Address.ts"
import { inventAddress } from "../chain/addresses.ts"
import { dlmmCall } from "./meteoraCalls.ts"
import {
  afterTransferFee,
  exchange,
  newVaults,
  type Pair,
  type PoolSpec,
  type SimPool,
  vaultDepth
} from "../chain/SimPool.ts"
import type { World } from "../chain/World.ts"

export interface DlmmSpec extends PoolSpec {
  /** Price difference between neighbouring bins, in basis points. */
  readonly binStep: number
  readonly baseFactor: number
  /** How many bins are filled on either side of the initial price. */
  readonly reach: number
}

/** The rules of every simulated pair: one of the program's common presets. */
const rules = { filter: 30, decay: 600, reduction: 5_000, control: 40_000, maximum: 350_000, protocolShare: 1_000 }

const arrayAddress = (world: World, pair: Address, index: number): Address =>
  binArrayAddress(world.derive, addressToBytes(pair), index)

const MAX_BIN = 30_000

/** The bin whose price is closest to the price of the two amounts without exceeding it. */
const binOf = ({ baseAmount, quoteAmount, binStep }: DlmmSpec): number => {
  const wanted = (quoteAmount << 64n) / baseAmount
  let [low, high] = [-MAX_BIN, MAX_BIN]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const price = binPrice(middle, binStep)
    // A price that cannot be represented lies far out, on the side of its sign.
    if (price === null ? middle < 0 : price <= wanted) {
      low = middle
    } else {
      high = middle - 1
    }
  }
  return low
}

const setBit = (data: Uint8Array, at: number, bit: number): void => {
  data[at + (bit >> 3)] = (data[at + (bit >> 3)] ?? 0) | (1 << (bit & 7))
}

const newPair = (world: World, spec: DlmmSpec, vaults: Pair, active: number): Uint8Array => {
  const at = dlmmPairAt
  const data = newAccountData(DLMM_PAIR_LENGTH, DLMM_PAIR_DISCRIMINATOR)
  const tokenFlag = (mint: Mint) => (world.bank.must(mint).owner === TOKEN_2022_PROGRAM ? 1 : 0)
  writeU16(data, at.baseFactor, spec.baseFactor)
  writeU16(data, at.filterPeriod, rules.filter)
  writeU16(data, at.decayPeriod, rules.decay)
  writeU16(data, at.reduction, rules.reduction)
  writeU32(data, at.variableFeeControl, rules.control)
  writeU32(data, at.volatilityMaximum, rules.maximum)
  writeI32(data, at.minBinId, -MAX_BIN)
  writeI32(data, at.maxBinId, MAX_BIN)
  writeU16(data, at.protocolShare, rules.protocolShare)
  data[at.functionType] = 1
  writeI32(data, at.indexReference, active)
  writeI32(data, at.activeId, active)
  writeU16(data, at.binStep, spec.binStep)
  writeAddress(data, at.mintX, spec.base)
  writeAddress(data, at.mintY, spec.quote)
  writeAddress(data, at.reserveX, vaults.a)
  writeAddress(data, at.reserveY, vaults.b)
  data[at.tokenFlagX] = tokenFlag(spec.base)
  data[at.tokenFlagY] = tokenFlag(spec.quote)
  return data
}

/** The bins of a new pair: X above the active bin, Y below it, both in it. */
const newBins = (spec: DlmmSpec, active: number) => {
  const { baseAmount, quoteAmount, reach, binStep } = spec
  const [x, y] = [baseAmount / BigInt(reach + 1), quoteAmount / BigInt(reach + 1)]
  return Array.from({ length: 2 * reach + 1 }, (_, index) => {
    const id = active - reach + index
    return { id, price: binPrice(id, binStep) ?? 0n, x: id < active ? 0n : x, y: id > active ? 0n : y }
  })
}

const newArray = (pair: Address, index: number, bins: ReturnType<typeof newBins>): Uint8Array => {
  const data = newAccountData(BIN_ARRAY_LENGTH, BIN_ARRAY_DISCRIMINATOR)
  writeI64(data, dlmmBinArrayAt.index, BigInt(index))
  data[dlmmBinArrayAt.version] = 1
  writeAddress(data, dlmmBinArrayAt.pair, pair)
  for (const { id, price, x, y } of bins) {
    const at = dlmmBinOffset(id)
    writeU64(data, at + dlmmBinAt.amountX, x)
    writeU64(data, at + dlmmBinAt.amountY, y)
    writeU128(data, at + dlmmBinAt.price, price)
    // How the program measures a bin's liquidity: price·x + y, in Q64.64.
    writeU128(data, at + dlmmBinAt.liquidity, price * x + (y << 64n))
  }
  return data
}

/** The arrays that a swap went through, in their state after it. */
const movedArrays = (world: World, address: Address, sellsX: boolean, fills: ReadonlyArray<BinFill>) => {
  const indexes = new Set(fills.map(({ bin }) => binArrayIndexOf(bin.id)))
  return Array.from(indexes, (index) => {
    const array = arrayAddress(world, address, index)
    return { address: array, data: writeBinArray(world.bank.must(array).data, index, sellsX, fills) }
  })
}

/** The bins that a swap meets, nearest first, up to the last array that exists. */
function* binsAhead(world: World, address: Address, pair: DlmmPair, sellsX: boolean): Generator<Bin, void> {
  const side = { sellsX, takesLimitOrders: pair.takesLimitOrders }
  for (let id = pair.activeId; ; id += sellsX ? -1 : 1) {
    const array = world.bank.get(arrayAddress(world, address, binArrayIndexOf(id)))
    if (array === undefined) {
      return
    }
    const bin = readBin(array.data, id, side)
    if (bin !== null) {
      yield bin
    }
  }
}

/** Creates a pair with the coin as X. */
export const newMeteoraDlmmPool = (world: World, spec: DlmmSpec): SimPool => {
  const { bank } = world
  const name = (part: string) => inventAddress(world.seed, `meteora-dlmm ${spec.label} ${part}`)
  const address = name("pair")
  const mints = { a: spec.base, b: spec.quote }
  const active = binOf(spec)
  const bins = newBins(spec, active)
  const total = (side: "x" | "y") => bins.reduce((sum, bin) => sum + bin[side], 0n)
  const sides = { a: [spec.base, total("x")], b: [spec.quote, total("y")] } as const
  const vaults = newVaults(world, address, sides, (side) => name(`reserve ${side}`))
  const data = newPair(world, spec, vaults, active)
  for (const [index, own] of Map.groupBy(bins, ({ id }) => binArrayIndexOf(id))) {
    setBit(data, dlmmPairAt.bitmap, index + INTERNAL_ARRAYS)
    world.newAccount(arrayAddress(world, address, index), meteoraDlmm.programId, newArray(address, index, own))
  }
  world.newAccount(address, meteoraDlmm.programId, data)

  const pairNow = (): DlmmPair | null => {
    const pair = readDlmmPair(bank.must(address).data)
    return isFailure(pair) ? null : pair
  }

  const plan: SimPool["plan"] = (aToB, amountIn, { unixTimestamp }) => {
    const pair = pairNow()
    if (pair === null) {
      return null
    }
    const reference = dlmmReference(pair, unixTimestamp)
    const received = afterTransferFee(world, aToB ? mints.a : mints.b, amountIn)
    const swap = fillDlmm(pair, reference, aToB, binsAhead(world, address, pair, aToB), received)
    if (!swap.complete || swap.amountOut === 0n) {
      return null
    }
    const after = dlmmAfter(pair, reference, swap.fills, unixTimestamp)
    return {
      amountIn,
      amountOut: afterTransferFee(world, aToB ? mints.b : mints.a, swap.amountOut),
      fee: swap.fills.reduce((sum, { fee }) => sum + fee, 0n),
      payments: exchange(aToB, mints, vaults, { in: amountIn, out: swap.amountOut }),
      writes: [
        { address, data: writeDlmmPair(bank.must(address).data, after, aToB, swap.fills) },
        ...movedArrays(world, address, aToB, swap.fills)
      ]
    }
  }

  return {
    address,
    dex: meteoraDlmm.dex,
    programId: meteoraDlmm.programId,
    mintA: spec.base,
    mintB: spec.quote,
    open: () => true,
    plan,
    call: dlmmCall(world, { address, mints, vaults, part: name }, ({ settlement }) =>
      settlement.writes.flatMap((write) => (write.address === address ? [] : [write.address]))
    ),
    price: () => (1 + spec.binStep / 10_000) ** (pairNow()?.activeId ?? 0),
    depth: vaultDepth(world, vaults)
  }
}
