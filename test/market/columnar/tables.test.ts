import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Addresses, GROUP } from "../../../src/market/columnar/Addresses.ts"
import { PairSet } from "../../../src/market/columnar/PairSet.ts"
import { PairTable } from "../../../src/market/columnar/PairTable.ts"
import { Ranking } from "../../../src/market/columnar/Ranking.ts"
import {
  addWide,
  highOf,
  lowOf,
  readWide,
  wideDifference,
  wideNumber,
  writeWide
} from "../../../src/market/columnar/wide.ts"
import { seededRandom, walletOf } from "../tape/tape.ts"

const Seed = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))
const Whole = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 2n ** 80n }))

describe("wide numbers", () => {
  it.prop("add and subtract like bigints", [Schema.Array(Whole)], ([values]) => {
    const cells = new Float64Array(2)
    for (const value of values) {
      addWide(cells, 0, highOf(value), lowOf(value, highOf(value)))
    }
    const sum = values.reduce((total, value) => total + value, 0n)
    assert.strictEqual(readWide(cells, 0), sum)
    for (const value of values) {
      addWide(cells, 0, -highOf(value), -lowOf(value, highOf(value)))
      addWide(cells, 0, -highOf(value), -lowOf(value, highOf(value)))
    }
    assert.strictEqual(readWide(cells, 0), -sum)
    writeWide(cells, 0, -sum)
    assert.strictEqual(readWide(cells, 0), -sum)
  })

  it("are exact as numbers below 2^53, and so are small differences of large ones", () => {
    const cells = new Float64Array(4)
    writeWide(cells, 0, 2n ** 53n - 1n)
    assert.strictEqual(wideNumber(cells, 0), 2 ** 53 - 1)
    writeWide(cells, 0, 2n ** 80n + 2n ** 32n)
    writeWide(cells, 2, 2n ** 80n - 1n)
    assert.strictEqual(wideDifference(cells, 0, 2), 2 ** 32 + 1)
  })
})

it("a set of pairs distinguishes members by both hashes and by owner, however often it grows or is emptied", () => {
  const set = new PairSet()
  for (const most of [5000, 10, 10, 10, 300]) {
    const members = Array.from({ length: most }, (_, each) => [1 + (each % 7), each % 11, each] as const)
    assert.isTrue(members.every(([owner, hash, check]) => set.add(owner, hash, check)))
    assert.isFalse(members.some(([owner, hash, check]) => set.add(owner, hash, check)))
    assert.isTrue(set.add(8, 0, 0))
    set.clear()
  }
})

describe("tables", () => {
  it.prop("of addresses hold and forget like a map", [Seed], ([seed]) => {
    const roll = seededRandom(seed)
    const addresses = new Addresses()
    const known = new Map<string, number>()
    for (let step = 0; step < 400; step++) {
      const address = walletOf(Math.floor(roll() * 60))
      if (roll() < 0.5 && known.size < 50) {
        const id = addresses.hold(address)
        assert.strictEqual(known.get(address) ?? id, id)
        known.set(address, id)
      } else {
        addresses.drop(address)
        known.delete(address)
      }
      assert.strictEqual(addresses.size, known.size)
      assert.strictEqual(new Set(known.values()).size, known.size)
    }
    for (let n = 0; n < 60; n++) {
      const id = addresses.find(walletOf(n))
      assert.strictEqual(id, known.get(walletOf(n)) ?? 0)
      assert.strictEqual(id === 0 ? walletOf(n) : addresses.text(id), walletOf(n))
    }
  })

  it("grow with what they hold", () => {
    const addresses = new Addresses()
    const pairs = new PairTable()
    const empty = pairs.bytes
    const ids = Array.from({ length: 3000 }, (_, n) => addresses.hold(walletOf(n)))
    ids.forEach((id, n) => pairs.set(n % 7, n, id))
    assert.isBelow(empty, 100_000)
    assert.isAtMost(pairs.bytes, 3000 * 4 * 16 * 2)
    for (const [n, id] of ids.entries()) {
      assert.strictEqual(addresses.find(walletOf(n)), id)
      assert.strictEqual(addresses.text(id), walletOf(n))
      assert.strictEqual(pairs.get(n % 7, n), id)
    }
    for (let n = 0; n < 3000; n += 2) {
      addresses.drop(walletOf(n))
      pairs.delete(n % 7, n)
    }
    assert.strictEqual(addresses.size, 1500)
    for (const [n, id] of ids.entries()) {
      assert.strictEqual(addresses.find(walletOf(n)), n % 2 === 0 ? 0 : id)
      assert.strictEqual(pairs.get(n % 7, n), n % 2 === 0 ? 0 : id)
    }
  })

  it.prop("of pairs hold and forget like a map", [Seed], ([seed]) => {
    const roll = seededRandom(seed)
    const pairs = new PairTable()
    const known = new Map<string, number>()
    for (let step = 1; step < 400; step++) {
      const [a, b] = [Math.floor(roll() * 6), Math.floor(roll() * 8)]
      if (roll() < 0.5 && known.size < 30) {
        pairs.set(a, b, step)
        known.set(`${a} ${b}`, step)
      } else {
        pairs.delete(a, b)
        known.delete(`${a} ${b}`)
      }
    }
    for (let a = 0; a < 6; a++) {
      for (let b = 0; b < 8; b++) {
        assert.strictEqual(pairs.get(a, b), known.get(`${a} ${b}`) ?? 0)
      }
    }
  })
})

describe("Ranking", () => {
  it.prop("gives the places of a sort, in whatever order they are read", [Seed], ([seed]) => {
    const roll = seededRandom(seed)
    const size = Math.floor(roll() * 60)
    const ids = Uint32Array.from({ length: size }, (_, n) => n + 10)
    const high = Float64Array.from({ length: size }, () => Math.floor(roll() * 5))
    const low = Float64Array.from({ length: size }, () => Math.floor(roll() * 3))
    const ranking = new Ranking({ ids, high, low }, (a, b) => a - b)
    const sorted = Array.from(ids.keys()).toSorted(
      (a, b) => (high[b] ?? 0) - (high[a] ?? 0) || (low[b] ?? 0) - (low[a] ?? 0) || a - b
    )
    const place = Math.floor(roll() * size)
    assert.strictEqual(ranking.at(place), size === 0 ? undefined : (sorted[place] ?? 0) + 10)
    assert.deepStrictEqual(
      Array.from({ length: size + 1 }, (_, at) => ranking.at(at)),
      [...sorted.map((at) => at + 10), undefined]
    )
  })
})

describe("a group", () => {
  it.prop("of addresses or pairs gives the same numbers as looking up its members one by one", [Seed], ([seed]) => {
    const roll = seededRandom(seed)
    const [addresses, pairs] = [new Addresses(), new PairTable()]
    const some = () => 1 + Math.floor(roll() * 2000)
    for (let count = 0; count < 900; count++) {
      addresses.hold(walletOf(some()))
      pairs.set(some() % 40, some(), some())
    }
    for (let count = 0; count < 200; count++) {
      addresses.drop(walletOf(some()))
    }
    const asked = Array.from({ length: GROUP }, () => walletOf(some()))
    const [a, b] = [new Uint32Array(GROUP), new Uint32Array(GROUP)]
    const [ids, values] = [new Uint32Array(GROUP), new Uint32Array(GROUP)]
    asked.forEach((each, place) => addresses.note(place, each))
    addresses.findGroup(GROUP, ids)
    assert.deepStrictEqual(
      Array.from(ids),
      asked.map((each) => addresses.find(each))
    )
    const keys = Array.from({ length: GROUP }, () => [some() % 40, some()] as const)
    a.set(keys.map(([first]) => first))
    b.set(keys.map(([, second]) => second))
    pairs.getGroup(GROUP, a, b, values)
    assert.deepStrictEqual(
      Array.from(values),
      keys.map(([first, second]) => pairs.get(first, second))
    )
  })
})
