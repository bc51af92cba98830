/** Openings of wallets and launches from raw transactions, and their comparison with what a service says. */
import { assert, describe, it } from "@effect/vitest"
import { compareLaunches, type DatedLaunch, type ServiceLaunches } from "../../scripts/recompute/launches.ts"
import { readTransaction } from "../../scripts/recompute/legs.ts"
import {
  compareOpening,
  compareRelated,
  firstOpenings,
  openingsOf,
  type RawOpening,
  type ServiceOpening
} from "../../scripts/recompute/openings.ts"
import { originsOf } from "../../scripts/recompute/origins.ts"
import { address } from "../market/tape/tape.ts"
import { PAYER, type Step, transactionOf } from "./rawTransaction.ts"

const SYSTEM = "11111111111111111111111111111111"
const [A, B, C, MINT, CURVE] = [address(9, 2), address(9, 3), address(9, 4), address(9, 5), address(9, 6)] as const

const payment = (tag: number, accounts: ReadonlyArray<string>, lamports: bigint): Step => {
  const data = Buffer.alloc(12)
  data.writeUInt32LE(tag)
  data.writeBigUInt64LE(lamports, 4)
  return { program: SYSTEM, data, accounts }
}

/** An opening as a service says it. */
const said = ({ funder, lamports, second, signature, slot }: RawOpening): ServiceOpening => ({
  funder,
  lamports: String(lamports),
  signature,
  slot,
  timeMs: second * 1000
})

/** A launch as a service says it. */
const row = (mint: string, createdAtMs: number, graduatedAtMs: number | null) => ({
  token: { address: mint },
  launchpad: "pump-fun",
  createdAtMs,
  graduatedAtMs
})

const AT = { slot: 7, second: 1_700_000_000 }

describe("openings of wallets from raw transactions", () => {
  it("are the first payments to accounts that had nothing, except for created accounts", () => {
    const steps = [
      payment(2, [PAYER, A], 5n),
      payment(2, [PAYER, A], 6n),
      payment(0, [PAYER, B], 7n),
      payment(2, [PAYER, B], 8n),
      payment(2, [PAYER, C], 9n),
      payment(2, [PAYER, CURVE], 0n)
    ]
    const given = { before: { [PAYER]: 100, [C]: 1 }, after: { [PAYER]: 50, [A]: 11, [B]: 15, [C]: 10 } }
    assert.deepStrictEqual(openingsOf(readTransaction(transactionOf(steps, given)), AT), [
      { ...AT, signature: "signature", wallet: A, funder: PAYER, lamports: 5n }
    ])
  })

  it("differ in each figure that a service has wrong", () => {
    const openings: ReadonlyArray<RawOpening> = [
      { ...AT, signature: "s1", wallet: A, funder: PAYER, lamports: 5n },
      { ...AT, signature: "s2", wallet: B, funder: PAYER, lamports: 6n },
      // Emptied, and paid again by another wallet.
      { ...AT, signature: "s3", wallet: A, funder: C, lamports: 7n }
    ]
    const first = firstOpenings(openings)
    const [one, two] = openings as readonly [RawOpening, RawOpening]
    const rows = [{ wallet: B, evidence: said(two) }]
    const right = { rows, funding: said(one), funder: { wallet: PAYER, opened: 2, hasMore: false } }
    const fieldsOf = (related: typeof right | { readonly rows: []; readonly funding: null; readonly funder: null }) =>
      compareRelated(A, "shared_funder", first, related).differences.map(({ field }) => field)
    assert.deepStrictEqual(fieldsOf(right), [])
    assert.deepStrictEqual(fieldsOf({ ...right, rows: [] }), ["shared_funder place 1"])
    assert.deepStrictEqual(fieldsOf({ ...right, funding: { ...said(one), lamports: "6" } }), ["shared_funder funding"])
    assert.deepStrictEqual(fieldsOf({ ...right, funder: { ...right.funder, opened: 3 } }), ["shared_funder funder"])
    const funded = compareRelated(PAYER, "funded", first, { ...right, funding: null })
    assert.deepStrictEqual(
      funded.differences.map(({ field }) => field),
      ["funded place 2"]
    )
    assert.deepStrictEqual(compareOpening(A, first, said(one)).differences, [])
    for (const wrong of [null, { ...said(one), slot: 8 }, { ...said(one), funder: C }, { ...said(one), timeMs: 1 }]) {
      assert.lengthOf(compareOpening(A, first, wrong).differences, 1)
    }
    assert.sameMembers(Array.from(originsOf({ launches: [], openings }, 1)), [PAYER, A])
  })
})

describe("launches of a wallet from raw transactions", () => {
  const created = (mint: string, second: number, creator: string): DatedLaunch => ({
    event: "created",
    launchpad: "pump-fun",
    mint,
    pool: CURVE,
    creator,
    second
  })
  const launches: ReadonlyArray<DatedLaunch> = [
    created(MINT, 10, A),
    created(C, 20, A),
    created(CURVE, 30, B),
    { ...created(MINT, 40, A), event: "migrated", creator: null },
    created(B, 50, A)
  ]
  const right: ServiceLaunches = {
    rows: [row(B, 50_000, null), row(C, 20_000, null), row(MINT, 10_000, 40_000)],
    sums: { created: 3, graduated: 1, graduatedPct: "33.3333333333333", migratedOnly: 0, newestAtMs: 50_000 }
  }
  const fieldsOf = (given: ServiceLaunches) => compareLaunches(A, launches, given).differences.map(({ field }) => field)

  it("are those that name it, with the share that graduated", () => {
    assert.deepStrictEqual(fieldsOf(right), [])
    const none = { created: 0, graduated: 0, graduatedPct: null, migratedOnly: 0, newestAtMs: null }
    assert.deepStrictEqual(compareLaunches(C, launches, { rows: [], sums: none }).differences, [])
  })

  it("differ in each figure that a service has wrong", () => {
    const wrong = (sums: Partial<ServiceLaunches["sums"]>) => fieldsOf({ ...right, sums: { ...right.sums, ...sums } })
    assert.deepStrictEqual(wrong({ created: 4 }), ["launches created"])
    assert.deepStrictEqual(wrong({ graduated: 2 }), ["launches graduated"])
    assert.deepStrictEqual(wrong({ graduatedPct: "66.6666666666667" }), ["launches graduatedPct"])
    assert.deepStrictEqual(wrong({ graduatedPct: null }), ["launches graduatedPct"])
    assert.deepStrictEqual(wrong({ migratedOnly: 1 }), ["launches migratedOnly"])
    assert.deepStrictEqual(wrong({ newestAtMs: 20_000 }), ["launches newestAtMs"])
    assert.deepStrictEqual(fieldsOf({ ...right, rows: right.rows.slice(1) }), [
      "launches place 1",
      "launches place 2",
      "launches place 3"
    ])
    const early = right.rows.map((each) => ({ ...each, graduatedAtMs: null }))
    assert.deepStrictEqual(fieldsOf({ ...right, rows: early }), ["launches place 3"])
  })
})
