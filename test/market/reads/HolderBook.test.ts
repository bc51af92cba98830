import { assert, describe, it } from "@effect/vitest"
import type { Address } from "../../../src/domain/Address.ts"
import { HolderBook } from "../../../src/market/reads/HolderBook.ts"
import { HolderTable } from "../../../src/market/reads/HolderTable.ts"
import type { CountedBatch } from "../../../src/market/model/TradeBatch.ts"
import { mintOf, walletOf } from "../tape/tape.ts"

const MINT = mintOf(1)
const [A, B, C] = [walletOf(1), walletOf(2), walletOf(3)]
const LIMITS = { mints: 3, owners: 100 }
const TIMES = { nowMs: 1000, tookMs: 10 }

const blockOf = (
  slot: number,
  changes: ReadonlyArray<readonly [Address, bigint]>,
  mint = MINT
): CountedBatch["batch"] => ({
  slot,
  timeMs: slot * 400,
  trades: [],
  transactions: [],
  launches: [],
  holdings: {
    mints: changes.length === 0 ? [] : [mint],
    changes: changes.length === 0 ? [] : [changes.map(([owner, delta]) => `${owner} ${delta}`).join(",")]
  },
  afterGap: false
})

const counted = (batch: CountedBatch["batch"], rest: Partial<CountedBatch> = {}): CountedBatch => ({
  batch,
  missed: 0,
  isAnew: false,
  ...rest
})

const tableOf = (...holdings: ReadonlyArray<readonly [Address, bigint]>): HolderTable => {
  const table = new HolderTable()
  holdings.forEach(([owner, amount]) => table.add(owner, amount))
  return table
}

/** A book that follows the mint since slot 10, when A holds 100 and B 50. */
const followed = () => {
  const book = new HolderBook(LIMITS)
  book.take(counted(blockOf(10, [])))
  const token = book.use(MINT, "spl-token", 0)
  assert.strictEqual(book.begin(), token)
  assert.isNotNull(token)
  assert.isTrue(token !== null && book.finish(token, tableOf([A, 100n], [B, 50n]), 10, TIMES))
  return { book, token: token ?? assert.fail() }
}

describe("HolderBook", () => {
  it("follows transfers, closes, mints and burns", () => {
    const { book, token } = followed()
    book.take(
      counted(
        blockOf(11, [
          [A, -30n],
          [C, 30n]
        ])
      )
    )
    assert.deepStrictEqual([token.table?.size, token.table?.total], [3, 150n])
    book.take(
      counted(
        blockOf(12, [
          [B, -50n],
          [A, 50n]
        ])
      )
    )
    assert.deepStrictEqual([token.table?.size, token.table?.amountOf(B)], [2, 0n])
    book.take(
      counted(
        blockOf(13, [
          [C, 1000n],
          [A, -120n]
        ])
      )
    )
    assert.deepStrictEqual(token.table?.largest(5), [{ owner: C, amount: 1030n }])
    assert.deepStrictEqual([token.table?.total, token.isWhole, book.slot], [1030n, true, 13])
  })

  it("applies the blocks after the slot of a read that arrived meanwhile, and no earlier block twice", () => {
    const book = new HolderBook(LIMITS)
    book.take(counted(blockOf(10, [])))
    const token = book.use(MINT, "spl-token", 0) ?? assert.fail()
    book.begin()
    book.take(
      counted(
        blockOf(11, [
          [A, -1n],
          [B, 1n]
        ])
      )
    )
    book.take(
      counted(
        blockOf(12, [
          [A, -10n],
          [B, 10n]
        ])
      )
    )
    assert.isTrue(book.finish(token, tableOf([A, 99n], [B, 1n]), 11, TIMES))
    assert.deepStrictEqual([token.table?.amountOf(A), token.table?.amountOf(B)], [89n, 11n])
    // A read that was ahead of the blocks.
    const other = book.use(mintOf(2), "spl-token", 0) ?? assert.fail()
    book.begin()
    assert.isTrue(book.finish(other, tableOf([A, 7n]), 14, TIMES))
    book.take(counted(blockOf(13, [[A, 5n]], mintOf(2))))
    book.take(counted(blockOf(14, [[A, 1n]], mintOf(2))))
    assert.strictEqual(other.table?.total, 7n)
    book.take(counted(blockOf(15, [[A, 1n]], mintOf(2))))
    assert.strictEqual(other.table?.total, 8n)
  })

  it.each([
    ["a gap", (slot: number) => counted({ ...blockOf(slot, []), afterGap: true })],
    ["lost batches", (slot: number) => counted(blockOf(slot, []), { missed: 2 })],
    ["a block that was decoded in part", (slot: number) => counted({ ...blockOf(slot, []), holdings: undefined })],
    ["changes that contradict the accounts", (slot: number) => counted(blockOf(slot, [[C, -1n]]))]
  ])("is incomplete after %s until the accounts of a later slot are read", (_name, broken) => {
    const { book, token } = followed()
    book.take(broken(20))
    assert.isFalse(token.isWhole)
    assert.strictEqual(token.table?.total, 150n, "the figures stay")
    assert.strictEqual(book.begin(), token)
    assert.isFalse(book.finish(token, tableOf([A, 1n]), 19, TIMES), "blocks up to 20 are missing")
    book.fail(token, { reason: "source_gap", retryAtMs: 2000 })
    book.use(MINT, "spl-token", 1999)
    assert.isNull(book.begin())
    book.use(MINT, "spl-token", 2000)
    assert.strictEqual(book.begin(), token)
    assert.isTrue(book.finish(token, tableOf([A, 140n]), 20, TIMES))
    assert.deepStrictEqual([token.isWhole, token.table?.total], [true, 140n])
  })

  it("rejects a read during which blocks were missed", () => {
    const book = new HolderBook(LIMITS)
    book.take(counted(blockOf(10, [])))
    const token = book.use(MINT, "spl-token", 0) ?? assert.fail()
    book.begin()
    book.take(counted({ ...blockOf(15, []), afterGap: true }))
    assert.isFalse(book.finish(token, tableOf([A, 1n]), 12, TIMES))
  })

  it("drops the least recently used tokens, and everything with another chain", () => {
    const { book } = followed()
    const read = (place: number, table: HolderTable) => {
      const token = book.use(mintOf(place), "spl-token", 0) ?? assert.fail()
      book.begin()
      book.finish(token, table, 10, TIMES)
    }
    read(2, tableOf([A, 1n]))
    read(3, tableOf([A, 1n]))
    book.use(MINT, "spl-token", 0)
    assert.strictEqual(book.lacksRoom, "limit_clipped")
    read(4, tableOf([A, 1n]))
    assert.isNull(book.peek(mintOf(2)))
    assert.isNotNull(book.peek(MINT))
    // A hundred owners leave no room for others.
    read(5, tableOf(...Array.from({ length: 100 }, (_, place) => [walletOf(place + 1), 1n] as const)))
    assert.deepStrictEqual([book.followed, book.peek(MINT)], [1, null])
    book.take(counted(blockOf(1, []), { isAnew: true }))
    assert.strictEqual(book.followed, 0)
  })

  it("lets no more than 32 tokens wait", () => {
    const book = new HolderBook({ mints: 100, owners: 100 })
    const waiting = Array.from({ length: 40 }, (_, place) => book.use(mintOf(place), "spl-token", 0))
    assert.strictEqual(waiting.filter((token) => token !== null).length, 32)
    assert.isAbove(book.readyInMs(null), book.readyInMs(waiting[0] ?? null))
    assert.strictEqual(book.lacksRoom, "backfill_running")
  })
})

describe("HolderTable", () => {
  it("equals a map under random changes, including whole amounts of 64 bits", () => {
    const table = new HolderTable()
    const naive = new Map<Address, bigint>()
    let seed = 7
    const next = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below
    for (let turn = 0; turn < 20_000; turn++) {
      const owner = walletOf(next(500))
      const held = naive.get(owner) ?? 0n
      const delta = next(3) === 0 ? -held : BigInt(next(1 << 30)) * BigInt(next(1 << 30)) * 8n - held / 3n
      if (held + delta >= 0n) {
        assert.isTrue(table.add(owner, delta))
        naive.set(owner, held + delta)
      } else {
        assert.isFalse(table.add(owner, delta))
      }
    }
    const held = Array.from(naive).filter(([, amount]) => amount > 0n)
    const sorted = held.map(([, amount]) => amount).toSorted((a, b) => (a > b ? -1 : 1))
    assert.strictEqual(table.size, held.length)
    assert.strictEqual(
      table.total,
      sorted.reduce((sum, amount) => sum + amount, 0n)
    )
    assert.deepStrictEqual(
      table.largest(100).map(({ amount }) => amount),
      sorted.slice(0, 100)
    )
    assert.isTrue(table.largest(100).every(({ amount, owner }) => naive.get(owner) === amount))
    const [[first = A] = [], [second = B] = []] = held
    assert.deepStrictEqual(table.largest(1000, [first, second]).map(({ amount }) => amount).length, held.length - 2)
  })
})
