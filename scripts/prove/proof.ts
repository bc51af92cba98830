/** Proves every program: what was executed, what was exact, and what could not be proven. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { programs } from "../../src/programs/registry.ts"
import { addTallies, emptyTally, type Tally } from "../../src/quotes/execution/compareFixture.ts"
import { obstacle, type PoolProof, provePool, type Random } from "../../src/quotes/execution/provePool.ts"
import type { PoolSnapshot } from "../../src/quotes/execution/poolSnapshot.ts"
import type { Runtime } from "../../src/quotes/execution/programRuntime.ts"
import type { ProofSource } from "./sources.ts"
import { venues } from "../../src/quotes/execution/swapVenues.ts"
import type { Venue } from "../../src/quotes/execution/swapVenue.ts"

/** The result of one program. */
export interface ProgramProof extends Tally {
  readonly dex: string
  readonly programId: string
  /** Slot of the program's last deployment; null when unknown. */
  readonly deployedAtSlot: number | null
  /** SHA-256 of the program's bytes; null when there are none. */
  readonly sha256: string | null
  /** Pools on which swaps were executed, and in how many states of them. */
  readonly pools: number
  readonly states: number
  /** Pools that could not be executed, with the reason. */
  readonly left: ReadonlyArray<{ readonly pool: string; readonly reason: string }>
  /** Files for `npm run exactness`, one for each pool with wrong cases. */
  readonly fixtures: ReadonlyArray<string>
  /** The reason why nothing was executed; null when something was. */
  readonly unproven: string | null
}

/** Settings of a run. */
export interface ProofSettings {
  readonly pools: number
  /** States of each pool. Each one after the first is what an executed swap left behind, at a later time. */
  readonly states: number
  /** Swaps in each state. */
  readonly swaps: number
  readonly random: Random
  /** Folder for fixtures of wrong cases, created when there is one. */
  readonly fixtures: string
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const unprovenRow = (dex: string, programId: string, unproven: string): ProgramProof => ({
  ...emptyTally,
  dex,
  programId,
  deployedAtSlot: null,
  sha256: null,
  pools: 0,
  states: 0,
  left: [],
  fixtures: [],
  unproven
})

// Numbered, because a folder may hold one pool in several states.
const writeFixture = (dex: string, number: number, proof: PoolProof, folder: string): ReadonlyArray<string> => {
  const { pool, wrong } = proof
  if (wrong === null) {
    return []
  }
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `${dex}-${number}-${pool}.json`)
  writeFileSync(path, `${JSON.stringify(wrong)}\n`)
  return [path]
}

/** Executes swaps in the states of one pool. Ends early when no swap of a state was executed. */
const proveStates = (
  runtime: Runtime,
  venue: Venue,
  first: PoolSnapshot,
  { random, states, swaps }: ProofSettings
): ReadonlyArray<PoolProof> => {
  const proofs: Array<PoolProof> = []
  for (let state: PoolSnapshot | null = first; state !== null && proofs.length < states;) {
    const proof: PoolProof = provePool(runtime, venue, state, { count: swaps, random })
    proofs.push(proof)
    state = proof.next
  }
  return proofs
}

/** Executes swaps on pools of one program. Throws with the reason when the program or pools are missing. */
const proveVenue = async (
  venue: Venue,
  source: ProofSource,
  makeRuntime: () => Runtime,
  settings: ProofSettings
): Promise<ProgramProof> => {
  const { dex, programId } = venue.program
  const { elf, sha256, slot } = await source.program(programId)
  const snapshots = await source.pools(venue, settings.pools)
  const runtime = makeRuntime()
  runtime.deploy(programId, elf)
  const proofs: Array<PoolProof> = []
  const left: Array<{ readonly pool: string; readonly reason: string }> = []
  let pools = 0
  for (const snapshot of snapshots) {
    try {
      const reason = obstacle(venue, snapshot)
      if (reason === null) {
        proofs.push(...proveStates(runtime, venue, snapshot, settings))
        pools += 1
      } else {
        left.push({ pool: snapshot.pool.address, reason })
      }
    } catch (error) {
      left.push({ pool: snapshot.pool.address, reason: reasonOf(error) })
    }
  }
  return {
    ...proofs.reduce((total, { tally }) => addTallies(total, tally), emptyTally),
    dex,
    programId,
    deployedAtSlot: slot,
    sha256,
    pools,
    states: proofs.length,
    left,
    fixtures: proofs.flatMap((proof, index) => writeFixture(dex, index + 1, proof, settings.fixtures)),
    unproven: proofs.length > 0 ? null : snapshots.length === 0 ? "no pool was found" : "no pool could be executed"
  }
}

/** One result for every quoted program, in the order of the registry. */
export const proveAll = async (
  source: ProofSource,
  makeRuntime: () => Runtime,
  settings: ProofSettings
): Promise<ReadonlyArray<ProgramProof>> => {
  const rows: Array<ProgramProof> = []
  for (const { dex, programId } of programs) {
    const venue = venues.find(({ program }) => program.programId === programId)
    rows.push(
      venue === undefined
        ? unprovenRow(dex, programId, "its swap instruction is not built")
        : await proveVenue(venue, source, makeRuntime, settings).catch((error: unknown) =>
            unprovenRow(dex, programId, reasonOf(error))
          )
    )
  }
  return rows
}

/**
 * True when every executed swap was as quoted or refused, and at least one was executed. Programs may stay unproven.
 */
export const hasPassed = (rows: ReadonlyArray<ProgramProof>): boolean =>
  rows.some(({ cases }) => cases > 0) && rows.every(({ errorsWrong, wrong }) => wrong + errorsWrong === 0)
