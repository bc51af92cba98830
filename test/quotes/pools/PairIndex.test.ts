import { assert, describe, it } from "@effect/vitest"
import type { Mint } from "../../../src/domain/Address.ts"
import { type Indexed, PairIndex } from "../../../src/quotes/pools/PairIndex.ts"
import { randomFrom } from "../../programs/syntheticPools.ts"
import { at } from "../toyChain.ts"

interface Entry extends Indexed {
  mints: readonly [Mint, Mint] | null
  readonly pair: readonly [Mint, Mint]
  version: number
}

const MINTS = [1, 2, 3, 4, 5].map(at)

/** An entry whose account names its mints, one that was found at an address derived from a mint, or an unknown one. */
const entryOf = (pair: readonly [Mint, Mint], kind: number): Entry => {
  const [a] = pair
  const trades: Omit<Indexed, "mints"> =
    kind === 0
      ? { candidates: null, mayTrade: () => true }
      : kind === 1
        ? { candidates: [a], mayTrade: (one, other) => one === a || other === a }
        : {
            candidates: pair,
            mayTrade: (one, other) => pair.includes(one) && (other === null || pair.includes(other))
          }
  return { mints: null, pair, version: 0, ...trades }
}

const trades = ({ mayTrade, mints }: Entry, a: Mint, b: Mint | null): boolean =>
  mints === null
    ? mayTrade(a, b)
    : b === null
      ? mints.includes(a)
      : (mints[0] === a && mints[1] === b) || (mints[0] === b && mints[1] === a)

const scene = (seed: number) => {
  const random = randomFrom(seed)
  const below = (n: number) => Math.floor(random() * n)
  const index = new PairIndex<Entry, ReadonlyMap<Entry, number>>()
  const entries = new Set<Entry>()
  const some = () => Array.from(entries)[below(entries.size)]
  const mint = () => MINTS[below(MINTS.length)] ?? at(1)

  const change = () => {
    const entry = some()
    const kind = below(5)
    if (entry === undefined || kind === 0) {
      const added = entryOf([mint(), mint()], below(3))
      entries.add(added)
      index.add(added)
    } else if (kind === 1) {
      entries.delete(entry)
      index.remove(entry)
    } else if (kind === 2 && entry.mints === null) {
      entry.mints = entry.pair
      index.place(entry)
    } else {
      entry.version++
      index.touch(entry)
    }
  }
  /** True when a view has the entries that it should have, and its value is up to date. */
  const isRight = (a: Mint, b: Mint | null): boolean => {
    const expected = new Map(
      Array.from(entries).flatMap((entry) => (trades(entry, a, b) ? [[entry, entry.version] as const] : []))
    )
    const view = index.view(a, b)
    const value = view.value ?? expected
    view.value = expected
    return (
      view.entries.size === expected.size &&
      Array.from(view.entries).every((entry) => expected.has(entry)) &&
      value.size === expected.size &&
      Array.from(value).every(([entry, version]) => expected.get(entry) === version)
    )
  }
  return { change, isRight, below, mint }
}

describe("PairIndex", () => {
  it("has every entry that trades a mint or a pair, and drops a value once an entry changes, after any changes", () => {
    for (let seed = 1; seed <= 100; seed++) {
      const { below, change, isRight, mint } = scene(seed)
      for (let step = 0; step < 60; step++) {
        change()
        for (let reads = below(4); reads > 0; reads--) {
          assert.isTrue(isRight(mint(), below(3) === 0 ? null : mint()), `seed ${seed}, step ${step}`)
        }
      }
    }
  })

  it("lists the entries of a mint by partner, in the order of their discovery, however often it is read meanwhile", () => {
    const index = new PairIndex<Entry, string>()
    const [hub, a, b] = [at(1), at(2), at(3)]
    const entries = [a, b, a, b].map((mint) => entryOf([hub, mint], 2))
    for (const entry of entries) {
      index.add(entry)
      index.view(hub, null)
      entry.mints = entry.pair
      index.place(entry)
      index.view(hub, null)
    }
    assert.deepStrictEqual(
      Array.from(index.view(hub, null).entries, (entry) => entries.indexOf(entry)),
      [0, 2, 1, 3]
    )
  })

  it("keeps the values of other pairs of a mint when an entry is added and placed", () => {
    const index = new PairIndex<Entry, string>()
    const [hub, a, b] = [at(1), at(2), at(3)]
    const first = entryOf([hub, a], 2)
    index.add(first)
    index.view(a, hub).value = "kept"
    const second = entryOf([hub, b], 2)
    index.add(second)
    second.mints = second.pair
    index.place(second)
    assert.strictEqual(index.view(hub, a).value, "kept")
  })
})
