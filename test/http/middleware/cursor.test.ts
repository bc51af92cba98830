import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  compareKeys,
  descending,
  type OrderKey,
  pageOf,
  readCursor,
  type Selectors,
  short,
  writeCursor
} from "../../../src/http/middleware/cursor.ts"

const NOW = 1_791_633_600_000
const selectors: Selectors = ["account.wallets", "acct_1", "evm"]
const key: OrderKey = ["5", "w_1"]
const cursor = writeCursor(selectors, key, NOW)

const parts = (length: number): OrderKey => Array.from({ length: 3 }, () => short("x".repeat(length)))
const rows = (text: string): ReadonlyArray<OrderKey> => Array.from(text, (letter) => [letter])

describe("cursors", () => {
  it("lead back to the place where they were made", () => {
    assert.match(cursor, /^[A-Za-z0-9_-]{1,512}$/u)
    assert.deepStrictEqual(readCursor(cursor, selectors, NOW), key)
  })

  it("are valid for fifteen minutes", () => {
    assert.deepStrictEqual(readCursor(cursor, selectors, NOW + 899_999), key)
    assert.isNull(readCursor(cursor, selectors, NOW + 900_000))
  })

  it("are invalid with other selectors, on another list, and for another account", () => {
    for (const other of [
      [],
      ["account.wallets", "acct_1"],
      ["account.wallets", "acct_1", "solana"],
      ["account.wallets", "acct_1", ""],
      ["account.wallets", "acct_2", "evm"],
      ["account.wallets", "acct_1evm", ""],
      ["account.balances", "acct_1", "evm"],
      [...selectors, ""]
    ]) {
      assert.isNull(readCursor(cursor, other, NOW), other.join())
    }
  })

  it("are invalid when a character is changed, removed or added", () => {
    for (let at = 0; at < cursor.length; at++) {
      const changed = cursor[at] === "A" ? "B" : "A"
      assert.isNull(readCursor(cursor.slice(0, at) + changed + cursor.slice(at + 1), selectors, NOW))
      assert.isNull(readCursor(cursor.slice(0, at), selectors, NOW))
    }
    const odd = ["", "A", " ", "AAAA", `${cursor}=`, `${cursor}A`, `${cursor}\n`, cursor + cursor, "\u00e9", "null"]
    for (const text of [...odd, "A".repeat(513), "A".repeat(8000)]) {
      assert.isNull(readCursor(text, selectors, NOW), text)
    }
  })

  it("have one spelling", () => {
    const spellings = Array.from({ length: 3 }, (_, more) => writeCursor(selectors, ["x".repeat(more)], NOW))
    for (const spelled of spellings) {
      const last = spelled.slice(-1)
      for (const other of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") {
        const isSame = other === last
        assert.strictEqual(readCursor(spelled.slice(0, -1) + other, selectors, NOW) !== null, isSame)
      }
      assert.isNull(readCursor(`${spelled}==`, selectors, NOW))
    }
  })

  it("have room for three ids of the greatest length", () => {
    for (const length of [64, 65, 256]) {
      const made = writeCursor(selectors, parts(length), Number.MAX_SAFE_INTEGER - 900_000)
      assert.isAtMost(made.length, 512)
      assert.deepStrictEqual(readCursor(made, selectors, NOW), parts(length))
    }
  })
})

describe("short", () => {
  it("leaves ids of 64 characters alone and keeps longer ones apart", () => {
    assert.strictEqual(short("a".repeat(64)), "a".repeat(64))
    const [one, other] = [short("a".repeat(65)), short("a".repeat(66))]
    assert.notStrictEqual(one, other)
    assert.isAtMost(one.length, 64)
  })
})

const Time = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))

describe("descending", () => {
  it.effect.prop("sorts larger numbers first", { a: Time, b: Time }, ({ a, b }) =>
    Effect.sync(() => {
      assert.strictEqual(Math.sign(compareKeys([descending(a)], [descending(b)])), Math.sign(b - a))
    })
  )
})

const Row = Schema.Tuple([Schema.Literals(["a", "b", "ab"]), Schema.String])
const ownKey = (row: OrderKey) => row

/** Every page, one after the other. */
const walk = (rows: ReadonlyArray<OrderKey>, limit: number, after: OrderKey | null = null): ReadonlyArray<OrderKey> => {
  const page = pageOf(rows, ownKey, { after, limit })
  assert.isTrue(page.last === null || page.rows.length === limit)
  return page.last === null ? page.rows : [...page.rows, ...walk(rows, limit, page.last)]
}

describe("pageOf", () => {
  it.effect.prop(
    "shows every row once and in order, whatever the size of a page",
    { given: Schema.Array(Row), limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 7 })) },
    ({ given, limit }) =>
      Effect.sync(() => {
        const different = Array.from(new Map(given.map((row) => [JSON.stringify(row), row])).values())
        assert.deepStrictEqual(walk(different, limit), different.toSorted(compareKeys))
      })
  )

  it("continues at the same place when rows are added and removed", () => {
    const first = pageOf(rows("bcdef"), ownKey, { after: null, limit: 2 })
    assert.deepStrictEqual(first, { rows: rows("bc"), last: ["c"] })
    assert.deepStrictEqual(pageOf(rows("abdef"), ownKey, { after: first.last, limit: 2 }).rows, rows("de"))
  })
})
