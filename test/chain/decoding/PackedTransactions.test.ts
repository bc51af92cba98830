import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import type { BlockTransaction } from "../../../src/chain/decoding/TradeBlock.ts"
import type { BalanceChange } from "../../../src/api/schemas/Trade.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { PackedTransactions, packTransactions } from "../../../src/chain/decoding/PackedTransactions.ts"
import { RowReader } from "../../../src/chain/decoding/rowReader.ts"
import { RowWriter } from "../../../src/chain/decoding/rowWriter.ts"
import { leg, netOf, transactionOf } from "../../market/tape/decoded.ts"
import { mintOf, walletOf } from "../../market/tape/tape.ts"
import { plain } from "./plainTransactions.ts"

const some = (many: number): ReadonlyArray<BlockTransaction> =>
  Array.from({ length: many }, (_, index) =>
    transactionOf({ index, legs: [leg({ indexInBlock: index })], changes: [changed(BigInt(index))] })
  )

const changed = (after: bigint): BalanceChange => ({
  owner: walletOf(1),
  mint: SOL,
  before: 0n,
  after,
  delta: after,
  decimals: 9,
  native: true,
  cause: "transfer"
})

it("returns what was packed, every time it is read", () => {
  for (const many of [0, 1, 24, 25, 200]) {
    const packed = new PackedTransactions(packTransactions(some(many)))
    assert.deepStrictEqual(plain(packed), some(many))
    assert.deepStrictEqual(plain(packed), some(many))
  }
})

/** Every field with a value of its own, or with null where it may be null. */
const full = (): BlockTransaction => {
  const bought = leg({ blockTime: 1_700_000_000, outer: 3, inner: 2, confirmed: true, feeLamports: 2n ** 63n })
  const sold = leg({
    side: "sell",
    index: 1,
    transferFees: { token: 3n, quote: 2n ** 64n },
    confirmed: false,
    dex: "é"
  })
  const other = leg({ index: 2, indexInBlock: null, token: { mint: mintOf(2), amount: 5n, decimals: null } })
  const net = netOf(bought, [0, 1])
  const paid = { kind: "tip", recipient: walletOf(4), included: true, outer: 1, inner: 0 } as const
  return transactionOf({
    index: 7,
    legs: [bought, sold, other],
    nets: [
      { ...net, pool: null, dex: null, priorityLamports: null },
      {
        ...net,
        index: 1,
        held: { token: { before: 0n, after: 9n }, quote: null },
        fees: [{ mint: SOL, amount: 1n, decimals: 9, ...paid }],
        priorityLamports: 0n
      }
    ],
    moves: [{ ...changed(4n), delta: -4n, native: false, cause: "burn", decimals: null }],
    changes: [changed(2n ** 64n)],
    transfers: [
      {
        signature: bought.signature,
        slot: 2,
        blockTime: null,
        indexInBlock: 7,
        outer: 0,
        inner: null,
        feeLamports: 5000n,
        from: walletOf(1),
        to: walletOf(2),
        mint: mintOf(3),
        amount: 8n,
        decimals: 6,
        native: false
      }
    ],
    unresolved: 3
  })
}

it("keeps every field, and every null", () => {
  const [read] = plain(new PackedTransactions(packTransactions([full()])))
  assert.deepStrictEqual(read, full())
})

const Amount = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: -(2n ** 70n), maximum: 2n ** 70n }))
const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER - 2 }))
const Name = Schema.Literals(["", "raydium-cpmm", "é", "𝄞"])
const Cause = Schema.Literals(["trade", "transfer", "fee", "mint", "burn", "unknown"])
const few = <A>(item: Schema.Codec<A>) => Schema.Array(item).check(Schema.isMaxLength(3))

/** Values for every field of a transaction. */
const Given = Schema.Struct({
  index: Count,
  amounts: Schema.Struct({ token: Amount, quote: Amount, fee: Amount, priority: Schema.NullOr(Amount) }),
  places: Schema.Struct({ outer: Count, inner: Schema.NullOr(Count), decimals: Schema.NullOr(Count) }),
  wallets: few(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 }))),
  dex: Name,
  confirmed: Schema.NullOr(Schema.Boolean),
  isBuy: Schema.Boolean,
  isTip: Schema.Boolean,
  hasSpan: Schema.Boolean,
  causes: few(Cause),
  legs: few(Count)
})

const made = (given: typeof Given.Type, blockTime: number | null): BlockTransaction => {
  const { amounts, causes, confirmed, dex, hasSpan, index, isBuy, isTip, legs, places, wallets } = given
  const { decimals, inner, outer } = places
  const quantity = { mint: mintOf(wallets.length), amount: amounts.token, decimals }
  const span = hasSpan ? { before: amounts.token, after: amounts.quote } : null
  const base = leg({ blockTime, outer, inner, feeLamports: amounts.fee, indexInBlock: hasSpan ? index : null })
  const sides = {
    side: isBuy ? "buy" : "sell",
    token: quantity,
    quote: { ...quantity, amount: amounts.quote }
  } as const
  const fees = hasSpan ? { token: amounts.fee, quote: amounts.token } : null
  const { blockTime: _time, ...place } = { outer, inner, slot: index, signature: base.signature, blockTime }
  return transactionOf({
    index,
    legs: wallets.map((n) => ({
      ...base,
      ...sides,
      wallet: walletOf(n),
      dex,
      confirmed,
      index: n,
      transferFees: fees
    })),
    nets: wallets.map((n) => ({
      ...netOf({ ...base, ...sides, wallet: walletOf(n) }, legs),
      pool: hasSpan ? mintOf(n) : null,
      dex: isTip ? dex : null,
      held: { token: span, quote: isTip ? span : null },
      fees: [{ ...quantity, kind: isTip ? "tip" : "front-end", recipient: walletOf(n), included: isBuy, outer, inner }],
      priorityLamports: amounts.priority
    })),
    transfers: wallets.map((n) => ({
      ...quantity,
      ...place,
      blockTime,
      indexInBlock: index,
      feeLamports: amounts.fee,
      from: walletOf(n),
      to: walletOf(n + 1),
      native: isBuy
    })),
    changes: causes.map((cause) => ({
      ...changed(amounts.quote),
      decimals,
      cause,
      native: isTip,
      delta: amounts.token
    })),
    moves: causes.map((cause) => ({ ...changed(amounts.fee), cause })),
    unresolved: outer
  })
}

it.prop("returns any transactions that were packed", [few(Given), Schema.NullOr(Count)], ([all, time]) => {
  const transactions = all.map((given) => made(given, time))
  assert.deepStrictEqual(plain(new PackedTransactions(packTransactions(transactions))), transactions)
})

it.prop(
  "orders rows that were written in another order, and gives them the time of the block",
  [few(Given), Count],
  ([all, time]) => {
    const writer = new RowWriter("block")
    const rows = all.toReversed().map((given) => writer.add(made(given, null)))
    const packed = writer.block(rows.toReversed(), time)
    assert.deepStrictEqual(
      plain(new PackedTransactions(packed)),
      all.map((given) => made(given, time))
    )
  }
)

it("leaves out rows that the block does not name", () => {
  const writer = new RowWriter("own")
  const [first = -1, , third = -1] = some(3).map((transaction) => writer.add(transaction))
  const read = plain(new PackedTransactions(writer.block([third, first], null)))
  assert.deepStrictEqual(
    read.map(({ index }) => index),
    [2, 0]
  )
})

it("throws for bytes that are cut off anywhere, and never reads past them", () => {
  const packed = packTransactions([full(), ...some(2)])
  assert.strictEqual(new RowReader(packed).rows, 3)
  for (let end = 0; end < packed.length; end++) {
    assert.throws(() => plain(new PackedTransactions(packed.slice(0, end))))
  }
})
