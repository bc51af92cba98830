import { assert, describe, it } from "@effect/vitest"
import { NO_ADDRESS } from "../../../src/programs/pump/fees.ts"
import { Schema } from "effect"
import { discriminator, makeAccount } from "../../../src/quotes/execution/makeAccount.ts"
import { type Bin, binPrice, dlmmBinArrayAt } from "../../../src/programs/meteora/dlmmBins.ts"
import { binArraysAhead } from "../../../src/programs/meteora/dlmmBitmap.ts"
import { dlmmReference } from "../../../src/programs/meteora/dlmmFees.ts"
import { type DlmmPair, dlmmPairAt } from "../../../src/programs/meteora/dlmmPair.ts"
import { fillDlmm } from "../../../src/programs/meteora/dlmmSwap.ts"
import { makeLadder, makeTable } from "../../../src/programs/meteora/dlmmTable.ts"
import { meteoraDlmm } from "../../../src/programs/meteora/dlmm.ts"
import type { Accounts } from "../../../src/programs/interface/Program.ts"
import { SOL, USDC } from "../../../src/domain/Address.ts"
import { MAX_U64 } from "../../../src/domain/Amount.ts"
import {
  binArrayAt,
  binArrayWith,
  bitmapExtensionAt,
  dlmmBinsOf,
  dlmmPairOf,
  dlmmWith,
  type PlannedBin,
  type SyntheticPool
} from "./meteoraPools.ts"
import { clock, derive, failing, priced } from "../stateAccounts.ts"

const decode = ({ accounts, pool }: SyntheticPool) => meteoraDlmm.decode(pool, accounts, derive)

describe("the bin arrays of a DLMM pair", () => {
  const bins: ReadonlyArray<PlannedBin> = [
    { id: 0, y: 1000n },
    { id: -1, y: 1000n },
    { id: -71, y: 1000n },
    { id: 140, x: 1000n }
  ]
  const { accounts, pool } = dlmmWith(bins)
  const without =
    (missing: string, answer: null | undefined): Accounts =>
    (address) =>
      address === missing ? answer : accounts(address)

  it("are needed with both mints, both vaults and the bitmap extension, which may name more", () => {
    assert.deepStrictEqual(
      new Set(meteoraDlmm.needs(pool, accounts, derive)),
      new Set([
        SOL,
        USDC,
        NO_ADDRESS,
        bitmapExtensionAt(),
        binArrayAt(0),
        binArrayAt(-1),
        binArrayAt(-2),
        binArrayAt(2)
      ])
    )
  })

  it("are needed four deep in each direction", () => {
    const many = Array.from({ length: 11 }, (_, i) => ({ id: (i - 5) * 70, x: 1n }))
    const made = dlmmWith(many)
    const needed = meteoraDlmm.needs(made.pool, made.accounts, derive)
    const arrays = [-3, -2, -1, 0, 1, 2, 3].map(binArrayAt)
    assert.deepStrictEqual(new Set(needed), new Set([SOL, USDC, NO_ADDRESS, ...arrays]))
  })

  it("are incomplete until they have been read", () => {
    for (const missing of [binArrayAt(-2), binArrayAt(2), bitmapExtensionAt()]) {
      assert.strictEqual(failing(meteoraDlmm.decode(pool, without(missing, undefined), derive)).reason, "incomplete")
    }
    assert.strictEqual(priced(meteoraDlmm.decode(pool, without(SOL, undefined), derive)).mintA, SOL)
  })

  it("end the known bins when one of them does not exist", () => {
    const whole = priced(meteoraDlmm.decode(pool, without(binArrayAt(-1), null), derive)).swap(true, 100_000n, clock)
    assert.deepStrictEqual(whole, { ending: "exhausted", amountIn: 1011n, amountOut: 1000n })
  })

  it("are rejected when they belong to another pair or index", () => {
    const wrong = binArrayWith(-1, [])
    const moved = { ...wrong, data: wrong.data.with(dlmmBinArrayAt.index, 9) }
    const others = { ...wrong, data: wrong.data.with(dlmmBinArrayAt.pair, 9) }
    for (const account of [moved, others, { ...wrong, owner: SOL }]) {
      const reading = (address: typeof SOL) => (address === account.address ? account : accounts(address))
      assert.strictEqual(failing(meteoraDlmm.decode(pool, reading, derive)).reason, "malformed")
    }
  })

  it("are found in the extension when they are far out", () => {
    // Bit 87 of the first page below zero: array -600.
    const extension = makeAccount(bitmapExtensionAt(), meteoraDlmm.programId, 1576, [
      [0, discriminator("506f7c7137ed1205")],
      [40 + 12 * 64 + 10, 0x80n, 1],
      [40, 1n, 1]
    ])
    assert.deepStrictEqual(binArraysAhead(pool.data, extension.data, 3, false, 4).indexes, [512])
    assert.deepStrictEqual(binArraysAhead(pool.data, extension.data, -3, true, 4).indexes, [-600])
    const made = dlmmWith([...bins, { id: -600 * 70 + 5, y: 1n }], [], [extension, binArrayWith(512, [])])
    const whole = priced(decode(made)).swap(true, 2n ** 62n, clock)
    assert.strictEqual(whole.amountOut, 3001n)
  })
})

/** Bins around zero with up to three layers, and a fee that moves. */
const Plan = Schema.Struct({
  bins: Schema.Array(
    Schema.Struct({
      id: Schema.Int.check(Schema.isBetween({ minimum: -160, maximum: 160 })),
      amount: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 40 })),
      processed: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 20 })),
      open: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 20 })),
      ordersSellX: Schema.Boolean
    })
  ),
  baseFactor: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65_535 })),
  control: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_000_000 })),
  accumulator: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 350_000 })),
  elapsed: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 150 })),
  binStep: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 400 })),
  feesInY: Schema.Boolean,
  sellsX: Schema.Boolean
})

const planned = (plan: typeof Plan.Type): SyntheticPool =>
  dlmmWith(
    plan.bins.map(({ amount, id, open, ordersSellX, processed }) => ({
      id,
      price: binPrice(id, plan.binStep) ?? 0n,
      ...(id > 0 ? { x: BigInt(amount) } : { y: BigInt(amount) }),
      processed: BigInt(processed),
      open: BigInt(open),
      ordersSellX
    })),
    [
      [dlmmPairAt.baseFactor, BigInt(plan.baseFactor), 2],
      [dlmmPairAt.baseFeePower, 0n, 1],
      [dlmmPairAt.binStep, BigInt(plan.binStep), 2],
      [dlmmPairAt.variableFeeControl, BigInt(plan.control), 4],
      [dlmmPairAt.volatilityAccumulator, BigInt(plan.accumulator), 4],
      [dlmmPairAt.volatilityReference, BigInt(plan.accumulator), 4],
      [dlmmPairAt.indexReference, 4n, 4],
      [dlmmPairAt.collectFeeMode, plan.feesInY ? 1n : 0n, 1]
    ]
  )

/** Amounts of every size, and the amounts at which one more bin is passed, with their neighbours. */
const amountsFor = (pair: DlmmPair, bins: ReadonlyArray<Bin>, sellsX: boolean, elapsed: number) => {
  const reference = dlmmReference(pair, elapsed)
  const edges = bins.map((_, i) => fillDlmm(pair, reference, sellsX, bins.slice(0, i + 1), MAX_U64).amountIn)
  return [
    ...Array.from({ length: 16 }, (_, i) => 1n << BigInt(4 * i)),
    ...edges.flatMap((e) => [e - 1n, e, e + 1n, e + 2n])
  ].filter((amount) => amount > 0n && amount <= MAX_U64)
}

describe("the price table of a DLMM pair", () => {
  it.prop("pays the same as the loop over its bins", [Plan], ([plan]) => {
    const { accounts, pool } = planned(plan)
    const pair = dlmmPairOf(pool.data)
    const bins = dlmmBinsOf(pool, accounts, plan.sellsX)
    const reference = dlmmReference(pair, plan.elapsed)
    const quote = makeTable(pair, reference, makeLadder(plan.sellsX, bins.values()))
    for (const amount of amountsFor(pair, bins, plan.sellsX, plan.elapsed).toReversed()) {
      const { amountIn, amountOut, complete } = fillDlmm(pair, reference, plan.sellsX, bins, amount)
      assert.deepStrictEqual(quote(amount), { amountIn, amountOut, complete }, String(amount))
    }
  })

  it.prop("pays the same whatever was asked before", [Plan], ([plan]) => {
    const { accounts, pool } = planned(plan)
    const pair = dlmmPairOf(pool.data)
    const bins = dlmmBinsOf(pool, accounts, plan.sellsX)
    const reference = dlmmReference(pair, plan.elapsed)
    const fresh = () => makeTable(pair, reference, makeLadder(plan.sellsX, bins.values()))
    const used = fresh()
    for (const amount of amountsFor(pair, bins, plan.sellsX, plan.elapsed)) {
      assert.deepStrictEqual(used(amount), fresh()(amount))
    }
  })
})
