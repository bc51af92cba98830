/** Executes the swaps of recorded pools with their programs, and compares them with the computed quotes. */
import { existsSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import type { OnChainAccount } from "../../src/domain/OnChainAccount.ts"
import type { Address } from "../../src/domain/Address.ts"
import { addTallies, emptyTally, type Tally } from "../../src/quotes/execution/compareFixture.ts"
import type { SwapOrder } from "../../src/quotes/execution/executeSwap.ts"
import { bigintOf, type Entry, type Fixture, readFixture, textOf } from "../../src/quotes/execution/poolFixture.ts"
import { type PoolSnapshot, siteOf } from "../../src/quotes/execution/poolSnapshot.ts"
import type { Runtime } from "../../src/quotes/execution/programRuntime.ts"
import { obstacle, provePool, type Random } from "../../src/quotes/execution/provePool.ts"
import type { Venue } from "../../src/quotes/execution/swapVenue.ts"
import { venues } from "../../src/quotes/execution/swapVenues.ts"
import { fillIn } from "../prove/fillIn.ts"

/** How many random swaps are executed, in how many states of each pool. */
export interface ExecutedSettings {
  readonly states: number
  readonly swaps: number
  readonly random: Random
}

/** The swaps of one file. `left` is why nothing of it was executed. */
interface FileTally {
  readonly dex: string | null
  readonly recorded: Tally
  readonly random: Tally
  readonly states: number
  readonly left: string | null
}

const nothing = (dex: string | null, left: string): FileTally => ({
  dex,
  recorded: emptyTally,
  random: emptyTally,
  states: 0,
  left
})

/** The recorded swaps of a pool as orders; those of other pools and formats are left out. */
const orderOf = (entry: Entry, mintA: Address, mintB: Address): SwapOrder | null => {
  const exactOut = textOf(entry, "kind") === "exactOut"
  const amount = bigintOf(entry, exactOut ? "amountOut" : "amountIn")
  const input = textOf(entry, "inputMint")
  return amount === undefined || amount <= 0n || (input !== mintA && input !== mintB)
    ? null
    : { aToB: input === mintA, exactOut, amount }
}

/** The recorded orders of a file by the clock that they were executed at. */
const ordersByClock = (fixture: Fixture, snapshot: PoolSnapshot, venue: Venue) => {
  const sides = venue.sides(siteOf(snapshot))
  const all = [...fixture.cases, ...fixture.errors].flatMap((entry) => {
    const order = sides === null ? null : orderOf(entry, sides.mintA, sides.mintB)
    return order === null ? [] : [{ clock: fixture.clockOf(entry), order }]
  })
  return Map.groupBy(all, ({ clock }) => JSON.stringify(clock))
}

const executePool = (
  runtime: Runtime,
  venue: Venue,
  fixture: Fixture,
  first: PoolSnapshot,
  { random, states, swaps }: ExecutedSettings
): FileTally => {
  const reason = obstacle(venue, first)
  if (reason !== null) {
    return nothing(venue.program.dex, reason)
  }
  let recorded = emptyTally
  for (const group of ordersByClock(fixture, first, venue).values()) {
    const clock = group[0]?.clock ?? first.clock
    const orders = group.map(({ order }) => order)
    recorded = addTallies(recorded, provePool(runtime, venue, { ...first, clock }, { count: 0, random, orders }).tally)
  }
  let tally = emptyTally
  let done = 0
  for (let state: PoolSnapshot | null = first; state !== null && done < states; done++) {
    const proof = provePool(runtime, venue, state, { count: swaps, random })
    tally = addTallies(tally, proof.tally)
    state = proof.next
  }
  return { dex: venue.program.dex, recorded, random: tally, states: done, left: null }
}

const executeFile = (
  path: string,
  programs: string,
  runtimeOf: (programId: Address, elf: string) => Runtime,
  settings: ExecutedSettings
): FileTally => {
  const fixture = readFixture(path)
  const found = [...fixture.accounts.values()].flatMap((account: OnChainAccount) =>
    venues.filter(({ program }) => program.isPool(account)).map((venue) => ({ account, venue }))
  )
  const [first] = found
  if (first === undefined) {
    return nothing(null, "no pool of a quoted program")
  }
  const { account, venue } = first
  const { dex, programId } = venue.program
  const elf = join(programs, `${programId}.so`)
  return existsSync(elf)
    ? executePool(runtimeOf(programId, elf), venue, fixture, fillIn(venue, account, fixture), settings)
    : nothing(dex, `no ${elf}`)
}

/** Executes every file, and prints a line for each, and one for each program. 1 when something differs. */
export const executeRecorded = (
  paths: ReadonlyArray<string>,
  programs: string,
  makeRuntime: () => Runtime,
  settings: ExecutedSettings,
  print: (line: object) => void = (line) => void process.stdout.write(`${JSON.stringify(line)}\n`)
): number => {
  const runtimes = new Map<Address, Runtime>()
  const runtimeOf = (programId: Address, elf: string): Runtime => {
    const known = runtimes.get(programId)
    if (known !== undefined) {
      return known
    }
    const runtime = makeRuntime()
    runtime.deploy(programId, readFileSync(elf))
    runtimes.set(programId, runtime)
    return runtime
  }
  const totals = new Map<string, Tally>()
  let failed = 0
  for (const path of paths) {
    let tally: FileTally
    try {
      tally = executeFile(path, programs, runtimeOf, settings)
    } catch (error) {
      tally = nothing(null, error instanceof Error ? error.message : String(error))
    }
    print({ file: basename(path), ...tally })
    const sum = addTallies(tally.recorded, tally.random)
    failed += sum.wrong + sum.errorsWrong
    if (tally.dex !== null) {
      totals.set(tally.dex, addTallies(totals.get(tally.dex) ?? emptyTally, sum))
    }
  }
  for (const [dex, tally] of totals) {
    print({ program: dex, ...tally })
  }
  const executed = [...totals.values()].reduce((sum, { cases }) => sum + cases, 0)
  return failed > 0 || executed === 0 ? 1 : 0
}
