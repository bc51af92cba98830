/** Executes random swaps on one pool and compares them with their quotes. */
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { type Address, SOL } from "../../domain/Address.ts"
import { readAddress } from "../../programs/layout/bytes.ts"
import { TOKEN_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import { isUnpriceable } from "../../programs/interface/Program.ts"
import { compareFixture, emptyTally, type Tally } from "./compareFixture.ts"
import { parseFixture } from "./poolFixture.ts"
import { derive } from "./decodeFixture.ts"
import { executeSwap, feePayer, type SwapOrder } from "./executeSwap.ts"
import { type PoolSnapshot, siteOf } from "./poolSnapshot.ts"
import type { Execution, Runtime } from "./programRuntime.ts"
import { balanceIn, hasTransferHook, RENT } from "./traderAccounts.ts"
import type { Sides, Site, Venue } from "./swapVenue.ts"

/** Returns a random whole number below `limit`. */
export type Random = (limit: number) => number

/** A multiplicative generator with 31 bits. The same seed gives the same sequence. */
export const seededRandom = (seed: number): Random => {
  let state = (seed % 2_147_483_646) + 1
  return (limit) => {
    state = (state * 48_271) % 2_147_483_647
    return state % limit
  }
}

/** How the swaps on one pool compare with their quotes. */
export interface PoolProof {
  readonly pool: Address
  readonly tally: Tally
  /** A file for `npm run exactness` with the wrong cases; null when no case was wrong. */
  readonly wrong: object | null
  /** The pool after one of the swaps, at a later time; null when no swap was executed. */
  readonly next: PoolSnapshot | null
}

/** How Anchor refuses bytes that name another program id. */
const FOREIGN = "DeclaredProgramIdMismatch"
const TOKEN_ACCOUNT_SIZE = 165
const LARGEST = 2n ** 60n
const SLOTS_IN_EPOCH = 432_000

/** A random amount. Its number of bits is uniform, up to the bits of the limit. */
const amountUpTo = (limit: bigint, random: Random): bigint => {
  const bits = 1 + random((limit < LARGEST ? limit : LARGEST).toString(2).length)
  let amount = 1n
  for (let bit = 1; bit < bits; bit++) {
    amount = amount * 2n + BigInt(random(65_536) & 1)
  }
  return amount
}

/** Every fourth amount is an edge: one unit, two units, or the largest amount. */
const edgeAt = (index: number, largest: bigint): bigint | null =>
  index % 4 === 3 ? ([1n, 2n, largest][Math.floor(index / 4) % 3] ?? null) : null

const plans = (venue: Venue, site: Site, count: number, random: Random): ReadonlyArray<SwapOrder> => {
  const decoded = venue.program.decode(site.pool, site.accounts, derive, site.foundBy)
  const priced = isUnpriceable(decoded) ? null : decoded
  const [reserveA, reserveB] = priced?.reserves ?? [10n ** 12n, 10n ** 12n]
  const kinds = priced?.swapExactOut === undefined ? [false] : [false, true]
  return Array.from({ length: count }, (_, index) => {
    const aToB = random(2) === 0
    const exactOut = kinds[random(kinds.length)] ?? false
    const reserve = aToB === exactOut ? reserveB : reserveA
    const amount = edgeAt(index, exactOut ? reserve : LARGEST) ?? amountUpTo(exactOut ? reserve : 2n * reserve, random)
    return { aToB, exactOut, amount: amount > 0n ? amount : 1n }
  })
}

/** One executed swap as a fixture case: what the program took and paid, or its error. */
type Executed = { readonly paid: boolean; readonly entry: object; readonly execution: Execution }

const execute = (runtime: Runtime, venue: Venue, site: Site, sides: Sides, plan: SwapOrder): Executed | null => {
  const executed = executeSwap(runtime, venue, site, sides, plan)
  if (executed === null) {
    return null
  }
  const { execution, result } = executed
  const inputMint = plan.aToB ? sides.mintA : sides.mintB
  const request = plan.exactOut
    ? { kind: "exactOut", inputMint, amountOut: String(plan.amount) }
    : { inputMint, amountIn: String(plan.amount) }
  if ("error" in result) {
    if (result.error === FOREIGN) {
      throw new Error("the program's bytes were built for another address")
    }
    return { paid: false, entry: { ...request, programError: result.error }, execution }
  }
  const amounts = { expectedIn: String(result.amountIn), expectedOut: String(result.amountOut) }
  return { paid: true, entry: { ...request, ...amounts }, execution }
}

/** Adds lamports, because dumps may leave them out, and because a program may make an account longer. */
const funded = (account: OnChainAccount): OnChainAccount => {
  const { data, lamports: given, owner } = account
  const wrapsSol = owner === TOKEN_PROGRAM && data.length === TOKEN_ACCOUNT_SIZE && readAddress(data, 0) === SOL
  return { ...account, lamports: wrapsSol ? RENT + balanceIn(data) : given + RENT }
}

const accountJson = ({ address, data, lamports: given, owner }: OnChainAccount) => ({
  pubkey: address,
  owner,
  lamports: String(given),
  dataBase64: Buffer.from(data).toString("base64")
})

const isWrong = ({ errorsWrong, wrong }: Tally): boolean => wrong + errorsWrong > 0

/** Why a pool's swaps cannot be executed here; null when they can. */
export const obstacle = (venue: Venue, snapshot: PoolSnapshot): string | null => {
  const { accounts } = snapshot
  const site = siteOf(snapshot)
  const sides = venue.sides(site)
  if (sides === null) {
    return "an account that names its mints is missing"
  }
  const missing = [sides.mintA, sides.mintB, sides.vaultA, sides.vaultB].find((address) => !accounts.has(address))
  if (missing !== undefined) {
    return `account ${missing} is missing`
  }
  const hooked = [sides.mintA, sides.mintB].find((mint) => {
    const account = accounts.get(mint)
    return account !== undefined && hasTransferHook(account)
  })
  return hooked === undefined ? (venue.obstacle?.(site) ?? null) : `mint ${hooked} has a transfer hook`
}

/** The accounts as an executed swap left them. */
const stateAfter = (
  accounts: PoolSnapshot["accounts"],
  execution: Exclude<Execution, { readonly error: string }>
): PoolSnapshot["accounts"] =>
  new Map(Array.from(accounts, ([key, account]) => [key, { ...account, ...execution.after(account.address) }] as const))

/** The longest time between two states of one pool, in seconds. */
const LONGEST_PAUSE = 7200

/**
 * Executes `count` random swaps on a pool, or the given ones, each from the state of the snapshot, and compares them with
 * their quotes.
 * Also returns the state that one of the swaps leaves behind, at a later time; null when none was executed. Rethrows
 * errors of the runtime.
 */
export const provePool = (
  runtime: Runtime,
  venue: Venue,
  snapshot: PoolSnapshot,
  {
    count,
    orders,
    random
  }: { readonly count: number; readonly random: Random; readonly orders?: ReadonlyArray<SwapOrder> | undefined }
): PoolProof => {
  const { accounts, clock, pool } = snapshot
  const site = siteOf(snapshot)
  const sides = venue.sides(site)
  if (sides === null) {
    throw new Error("an account that names its mints is missing")
  }
  for (const account of [feePayer(), ...accounts.values()].map(funded)) {
    runtime.setAccount(account)
  }
  runtime.setClock(clock)
  const executed = (orders ?? plans(venue, site, count, random)).flatMap(
    (plan) => execute(runtime, venue, site, sides, plan) ?? []
  )
  const fileOf = (swaps: ReadonlyArray<Executed>) => ({
    dex: venue.program.dex,
    programId: venue.program.programId,
    ...clock,
    accounts: Array.from(accounts.values(), accountJson),
    case: swaps.filter(({ paid }) => paid).map(({ entry }) => entry),
    errors: swaps.filter(({ paid }) => !paid).map(({ entry }) => entry)
  })
  const tallyOf = (swaps: ReadonlyArray<Executed>): Tally =>
    compareFixture(parseFixture(fileOf(swaps)), () => undefined)
  const tally = executed.length === 0 ? emptyTally : tallyOf(executed)
  const done = executed.flatMap(({ execution }) => ("error" in execution ? [] : [execution]))
  const last = done[random(Math.max(1, done.length))]
  return {
    pool: pool.address,
    tally,
    wrong: isWrong(tally) ? fileOf(executed.filter((swap) => isWrong(tallyOf([swap])))) : null,
    next: last === undefined ? null : later(snapshot, stateAfter(accounts, last), random(LONGEST_PAUSE))
  }
}

/** The pool with these accounts, some seconds later. */
const later = (snapshot: PoolSnapshot, accounts: PoolSnapshot["accounts"], seconds: number): PoolSnapshot => {
  const { clock, pool } = snapshot
  const slot = clock.slot + Math.ceil(seconds * 2.5)
  const epoch = clock.epoch + Math.floor(slot / SLOTS_IN_EPOCH) - Math.floor(clock.slot / SLOTS_IN_EPOCH)
  return {
    ...snapshot,
    accounts,
    pool: accounts.get(pool.address) ?? pool,
    clock: { slot, epoch, unixTimestamp: clock.unixTimestamp + seconds }
  }
}
