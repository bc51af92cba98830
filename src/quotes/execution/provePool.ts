/** Executes random swaps on one pool and compares them with their quotes. */
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { type Address, SOL } from "../../domain/Address.ts"
import { readAddress } from "../../programs/layout/bytes.ts"
import { TOKEN_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import { isUnpriceable } from "../../programs/interface/Program.ts"
import { compareFixture, emptyTally, type Tally } from "./compareFixture.ts"
import { parseFixture } from "./poolFixture.ts"
import { derive } from "./decodeFixture.ts"
import type { PoolSnapshot } from "./poolSnapshot.ts"
import type { Runtime } from "./programRuntime.ts"
import { balanceIn, hasTransferHook, RENT, TRADER, traderAccount, traderWallet } from "./traderAccounts.ts"
import type { Site, Venue } from "./swapVenues.ts"

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
}

/** The trader's balance. Every amount stays below it. */
const BALANCE = 2n ** 62n
const TOKEN_ACCOUNT_SIZE = 165
const LARGEST = 2n ** 60n

/** A random amount. Its number of bits is uniform, up to the bits of the limit. */
const amountUpTo = (limit: bigint, random: Random): bigint => {
  const bits = 1 + random((limit < LARGEST ? limit : LARGEST).toString(2).length)
  let amount = 1n
  for (let bit = 1; bit < bits; bit++) {
    amount = amount * 2n + BigInt(random(65_536) & 1)
  }
  return amount
}

interface SwapPlan {
  readonly aToB: boolean
  readonly exactOut: boolean
  readonly amount: bigint
}

const plans = (venue: Venue, site: Site, count: number, random: Random): ReadonlyArray<SwapPlan> => {
  const decoded = venue.program.decode(site.pool, site.accounts, derive)
  const priced = isUnpriceable(decoded) ? null : decoded
  const [reserveA, reserveB] = priced?.reserves ?? [10n ** 12n, 10n ** 12n]
  const kinds = priced?.swapExactOut === undefined ? [false] : [false, true]
  return Array.from({ length: count }, (_, index) => {
    const aToB = index % 2 === 0
    const exactOut = kinds[Math.floor(index / 2) % kinds.length] ?? false
    const reserve = aToB === exactOut ? reserveB : reserveA
    return { aToB, exactOut, amount: amountUpTo(exactOut ? reserve : 2n * reserve, random) }
  })
}

const must = (site: Site, address: Address, what: string): OnChainAccount => {
  const account = site.accounts(address)
  if (!account) {
    throw new Error(`${what} ${address} of pool ${site.pool.address} is not there`)
  }
  return account
}

/** One executed swap as a fixture case: what the program took and paid, or its error. */
type Executed = { readonly paid: boolean; readonly entry: object }

const execute = (runtime: Runtime, venue: Venue, site: Site, plan: SwapPlan): Executed => {
  const { mintA, mintB } = venue.sides(site.pool)
  const [input, output] = plan.aToB ? [mintA, mintB] : [mintB, mintA]
  const from = traderAccount(derive, must(site, input, "mint"), BALANCE)
  const to = traderAccount(derive, must(site, output, "mint"), 0n)
  runtime.setAccount(from)
  runtime.setAccount(to)
  const order = { ...plan, trader: TRADER, from: from.address, to: to.address }
  const call = { program: venue.program.programId, steps: [], units: 0, ...venue.swap(site, order) }
  const request = plan.exactOut
    ? { kind: "exactOut", inputMint: input, amountOut: String(plan.amount) }
    : { inputMint: input, amountIn: String(plan.amount) }
  const execution = runtime.simulate(TRADER, call)
  if ("error" in execution) {
    return { paid: false, entry: { ...request, programError: execution.error } }
  }
  const [left, got] = [execution.after(from.address), execution.after(to.address)]
  if (left === undefined || got === undefined) {
    throw new Error("the runtime did not return the trader's accounts")
  }
  return {
    paid: true,
    entry: { ...request, expectedIn: String(BALANCE - balanceIn(left)), expectedOut: String(balanceIn(got)) }
  }
}

/** Adds lamports until the account is rent exempt, because dumps may leave them out. */
const funded = (account: OnChainAccount): OnChainAccount => {
  const { data, lamports, owner } = account
  const wrapsSol = owner === TOKEN_PROGRAM && data.length === TOKEN_ACCOUNT_SIZE && readAddress(data, 0) === SOL
  const least = RENT + (wrapsSol ? balanceIn(data) : 0n)
  return lamports < least ? { ...account, lamports: least } : account
}

const accountJson = ({ address, data, lamports, owner }: OnChainAccount) => ({
  pubkey: address,
  owner,
  lamports: String(lamports),
  dataBase64: Buffer.from(data).toString("base64")
})

const isWrong = ({ errorsWrong, wrong }: Tally): boolean => wrong + errorsWrong > 0

/** Why a pool's swaps cannot be executed here; null when they can. */
export const obstacle = (venue: Venue, { accounts, pool }: PoolSnapshot): string | null => {
  const { mintA, mintB, vaultA, vaultB } = venue.sides(pool)
  const missing = [mintA, mintB, vaultA, vaultB].find((address) => !accounts.has(address))
  if (missing !== undefined) {
    return `account ${missing} is missing`
  }
  if (venue.isAtItsAddress?.(pool, derive) === false) {
    return "its address is not derived from its program"
  }
  const hooked = [mintA, mintB].find((mint) => {
    const account = accounts.get(mint)
    return account !== undefined && hasTransferHook(account)
  })
  return hooked === undefined ? null : `mint ${hooked} has a transfer hook`
}

/**
 * Executes `count` random swaps on a pool, each from the state of the snapshot, and compares them with their quotes.
 * Rethrows errors of the runtime.
 */
export const provePool = (
  runtime: Runtime,
  venue: Venue,
  snapshot: PoolSnapshot,
  { count, random }: { readonly count: number; readonly random: Random }
): PoolProof => {
  const { accounts, clock, pool } = snapshot
  const site: Site = { pool, derive, accounts: (address) => accounts.get(address) ?? null }
  for (const account of [traderWallet, ...accounts.values()]) {
    runtime.setAccount(funded(account))
  }
  runtime.setClock(clock)
  const executed = plans(venue, site, count, random).map((plan) => execute(runtime, venue, site, plan))
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
  return {
    pool: pool.address,
    tally,
    wrong: isWrong(tally) ? fileOf(executed.filter((swap) => isWrong(tallyOf([swap])))) : null
  }
}
