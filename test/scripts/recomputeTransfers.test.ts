/** Transfers of wallets from raw transactions, and their comparison with what a service lists. */
import { assert, describe, it } from "@effect/vitest"
import type { RawTransaction } from "../../scripts/recompute/chain.ts"
import { type RawLeg, readTransaction } from "../../scripts/recompute/legs.ts"
import { eventsOf } from "../../scripts/recompute/walletEvents.ts"
import {
  checkTransfers,
  type RawTransfer,
  type ServiceTransfer,
  transfersOf,
  type WalletRecord
} from "../../scripts/recompute/walletTransfers.ts"
import { address } from "../market/tape/tape.ts"
import { PAYER, transactionOf } from "./rawTransaction.ts"

const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
const [BOB, CAROL, MINT, OTHER_MINT] = [address(9, 2), address(9, 3), address(9, 4), address(9, 5)] as const
const [MINE, BOBS, CAROLS, BOBS_OTHER] = [address(9, 11), address(9, 12), address(9, 13), address(9, 14)] as const

interface Held {
  readonly account: string
  readonly owner: string
  readonly before: bigint
  readonly after: bigint
  readonly mint?: string
}

const sent = (source: string, destination: string, amount: bigint) => {
  const data = Buffer.alloc(9)
  data[0] = 3
  data.writeBigUInt64LE(amount, 1)
  return { program: TOKEN_PROGRAM, data, accounts: [source, destination, PAYER] }
}

const rawOf = (steps: Parameters<typeof transactionOf>[0], held: ReadonlyArray<Held>): RawTransaction => {
  const named = held.map(({ account }) => ({ program: TOKEN_PROGRAM, data: Buffer.of(0), accounts: [account] }))
  const raw = transactionOf([...steps, ...named], {})
  const balances = (side: "before" | "after") =>
    held.map((each) => ({
      accountIndex: raw.transaction.message.accountKeys.indexOf(each.account),
      mint: each.mint ?? MINT,
      owner: each.owner,
      uiTokenAmount: { amount: String(each[side]), decimals: 6 }
    }))
  return {
    ...raw,
    meta: { ...raw.meta, preTokenBalances: balances("before"), postTokenBalances: balances("after") }
  }
}

/** `wallet change other` of each transfer. */
const textsOf = (
  steps: Parameters<typeof transactionOf>[0],
  held: ReadonlyArray<Held>,
  legs: ReadonlyArray<RawLeg> = []
): ReadonlyArray<string> => {
  const read = readTransaction(rawOf(steps, held))
  const events = eventsOf(read, legs, { rate: null, transaction: 0 })
  const names = new Map([PAYER, BOB, CAROL].map((wallet, at) => [wallet as string, ["payer", "bob", "carol"][at]]))
  return transfersOf(read, legs, events, { slot: 5, second: 50 }).map(({ change, other, wallet }) =>
    [names.get(wallet), change, other === null ? null : (names.get(other) ?? other)].join(" ")
  )
}

const leg = (outer: number): RawLeg => ({
  program: "",
  pool: address(9, 30),
  vaults: [],
  outer,
  input: { mint: MINT, amount: 1n },
  output: { mint: OTHER_MINT, amount: 1n },
  sent: 1n,
  received: 1n,
  wallet: CAROL,
  nativeFlow: 0n
})

const mine: Held = { account: MINE, owner: PAYER, before: 100n, after: 60n }
const bobs: Held = { account: BOBS, owner: BOB, before: 0n, after: 40n }

describe("transfers of wallets from raw transactions", () => {
  it("name the other end when all transfers are with one owner and make up the change", () => {
    assert.deepStrictEqual(textsOf([sent(MINE, BOBS, 40n)], [mine, bobs]), ["payer -40 bob", "bob 40 payer"])
    assert.deepStrictEqual(textsOf([sent(MINE, BOBS, 30n), sent(MINE, BOBS, 10n)], [mine, bobs]), [
      "payer -40 bob",
      "bob 40 payer"
    ])
  })

  it("name none with several owners, behind a transfer fee, and in a swap", () => {
    const shared = [mine, { ...bobs, after: 30n }, { account: CAROLS, owner: CAROL, before: 0n, after: 10n }]
    assert.deepStrictEqual(textsOf([sent(MINE, BOBS, 30n), sent(MINE, CAROLS, 10n)], shared), [
      "payer -40 ",
      "bob 30 payer",
      "carol 10 payer"
    ])
    assert.deepStrictEqual(textsOf([sent(MINE, BOBS, 40n)], [mine, { ...bobs, after: 39n }]), [
      "payer -40 bob",
      "bob 39 "
    ])
    assert.deepStrictEqual(textsOf([sent(MINE, BOBS, 40n)], [mine, bobs], [leg(0)]), ["payer -40 ", "bob 40 "])
  })

  it("leave out pools: who did not sign a transaction with swaps, and gave one token for another", () => {
    const other = { account: BOBS_OTHER, owner: BOB, mint: OTHER_MINT, before: 9n, after: 4n }
    assert.deepStrictEqual(textsOf([sent(MINE, BOBS, 40n)], [mine, bobs, other], [leg(1)]), ["payer -40 bob"])
    assert.lengthOf(textsOf([sent(MINE, BOBS, 40n)], [mine, bobs, other]), 3)
  })
})

/** Transfers of one wallet, oldest first: one a second, by turns of two tokens, two in and one out. */
const made = Array.from({ length: 40 }, (_, at): RawTransfer => ({
  transaction: at,
  signature: `signature ${at}`,
  slot: 100 + at,
  second: 1000 + at,
  wallet: PAYER,
  mint: at % 2 === 0 ? MINT : OTHER_MINT,
  decimals: 6,
  change: at % 3 === 2 ? -5n : BigInt(at + 1),
  other: at % 5 === 0 ? null : BOB
}))

const record = (overrides: Partial<WalletRecord> = {}): WalletRecord => ({
  transfers: made,
  tradedSince: new Map([
    [MINT, 100],
    [OTHER_MINT, 110]
  ]),
  trades: 3,
  ...overrides
})

const rowOf = ({ change, decimals, mint, other, second, signature, slot, wallet }: RawTransfer): ServiceTransfer => ({
  id: signature,
  signature,
  slot,
  timeMs: second * 1000,
  direction: change > 0n ? "in" : "out",
  from: change > 0n ? other : wallet,
  to: change > 0n ? wallet : other,
  mint,
  amount: String(change < 0n ? -change : change),
  decimals
})

const listed = made.filter(({ mint, slot }) => mint === MINT || slot >= 110).toReversed()

/** A service that lists these rows, newest first. */
const serviceOf =
  (rows: ReadonlyArray<ServiceTransfer>, isAtEnd = (second: number, to: number) => second < to) =>
  async (path: string) => {
    const query = new URL(path, "http://service").searchParams
    const [from, to] = [Number(query.get("from") ?? 0), Number(query.get("to") ?? Infinity)]
    const found = rows.filter(
      ({ direction, mint, timeMs }) =>
        (query.get("mint") ?? mint) === mint &&
        (query.get("direction") ?? direction) === direction &&
        timeMs >= from * 1000 &&
        isAtEnd(timeMs / 1000, to)
    )
    return { rows: found, pages: Math.max(1, Math.ceil(found.length / Number(query.get("limit")))) }
  }

const fieldsOf = async (read: ReturnType<typeof serviceOf>, given = record()) => {
  const { differences } = await checkTransfers(PAYER, given, read)
  return Array.from(new Set(differences.map(({ field }) => field.replace(/ (?:place \d+|ids)$/u, ""))))
}

describe("the comparison of transfers", () => {
  it("asks for every list in several pages, and finds equal ones equal", async () => {
    const { counts, differences, figures } = await checkTransfers(PAYER, record(), serviceOf(listed.map(rowOf)))
    assert.deepStrictEqual(differences, [])
    assert.strictEqual(counts.lists, 10)
    assert.isAtLeast(counts.pages, 3 * counts.lists)
    assert.strictEqual(figures, counts.rows + counts.lists)
    assert.isAbove(counts.named, 0)
  })

  it("finds a row that is wrong, missing, twice or in another order", async () => {
    const rows = listed.map(rowOf)
    const wrong = rows.map((row, at) => (at === 20 ? { ...row, from: CAROL, to: PAYER } : row))
    const swapped = [rows[1], rows[0], ...rows.slice(2)].flatMap((row) => row ?? [])
    for (const changed of [wrong, rows.slice(1), [rows[0], ...rows].flatMap((row) => row ?? []), swapped]) {
      assert.include(await fieldsOf(serviceOf(changed)), "transfers {}")
    }
  })

  it("finds an end of the time that is taken in", async () => {
    const fields = await fieldsOf(serviceOf(listed.map(rowOf), (second, to) => second <= to))
    assert.isNotEmpty(fields)
    assert.isTrue(fields.every((field) => field.includes('"to"')))
  })

  it("wants every transfer of a tracked wallet from the first one on that no trade explains", async () => {
    const followed = made.toReversed().map(rowOf)
    assert.deepStrictEqual(await fieldsOf(serviceOf(followed)), [])
    assert.include(await fieldsOf(serviceOf(followed.filter(({ slot }) => slot !== 105))), "transfers {}")
    assert.deepStrictEqual(await fieldsOf(serviceOf([]), record({ trades: 10_000 })), [])
  })
})
