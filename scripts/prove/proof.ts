/** The proof of every program: what was executed, what was exact, and what could not be proven. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { programs } from "../../src/programs/registry.ts"
import { empty, sum, type Tally } from "../../src/proofs/exactness/check.ts"
import { obstacle, type PoolProof, provePool, type Random } from "../../src/proofs/execution/provePool.ts"
import type { Runtime } from "../../src/proofs/execution/runtime.ts"
import type { ProofSource } from "./sources.ts"
import { type Venue, venues } from "../../src/proofs/execution/swapVenues.ts"

/** The row of one program. */
export interface ProgramProof extends Tally {
  readonly dex: string
  readonly programId: string
  /** Slot of the program's last deployment; null where that is not known. */
  readonly deployedAtSlot: number | null
  /** SHA-256 of the program's bytes; null when there are none. */
  readonly sha256: string | null
  /** Pools on which swaps were executed. */
  readonly pools: number
  /** Pools that could not be executed, with the cause. */
  readonly left: ReadonlyArray<{ readonly pool: string; readonly reason: string }>
  /** Files for `npm run exactness`, one a pool with wrong cases. */
  readonly fixtures: ReadonlyArray<string>
  /** The cause why nothing was executed; null when something was. */
  readonly unproven: string | null
}

/** Settings of a run. */
export interface ProofSettings {
  readonly pools: number
  /** Swaps on each pool. */
  readonly swaps: number
  readonly random: Random
  /** The folder of the fixtures of wrong cases; made when there is one. */
  readonly fixtures: string
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const unprovenRow = (dex: string, programId: string, unproven: string): ProgramProof => ({
  ...empty,
  dex,
  programId,
  deployedAtSlot: null,
  sha256: null,
  pools: 0,
  left: [],
  fixtures: [],
  unproven
})

// Numbered, because the pools of a folder may be one pool in several states.
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

/** Executes swaps on pools of one program. Throws with the reason when program or pools cannot be had. */
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
  for (const snapshot of snapshots) {
    try {
      const reason = obstacle(venue, snapshot)
      if (reason === null) {
        proofs.push(provePool(runtime, venue, snapshot, { count: settings.swaps, random: settings.random }))
      } else {
        left.push({ pool: snapshot.pool.address, reason })
      }
    } catch (error) {
      left.push({ pool: snapshot.pool.address, reason: reasonOf(error) })
    }
  }
  return {
    ...proofs.reduce((total, { tally }) => sum(total, tally), empty),
    dex,
    programId,
    deployedAtSlot: slot,
    sha256,
    pools: proofs.length,
    left,
    fixtures: proofs.flatMap((proof, index) => writeFixture(dex, index + 1, proof, settings.fixtures)),
    unproven: proofs.length > 0 ? null : snapshots.length === 0 ? "no pool was found" : "no pool could be executed"
  }
}

/** A row for every program that is quoted, in the order of the registry. */
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
        ? unprovenRow(dex, programId, "its swap instruction is not built here")
        : await proveVenue(venue, source, makeRuntime, settings).catch((error: unknown) =>
            unprovenRow(dex, programId, reasonOf(error))
          )
    )
  }
  return rows
}

/** True when every executed swap was as quoted or refused, and at least one was executed: programs may be left unproven. */
export const hasPassed = (rows: ReadonlyArray<ProgramProof>): boolean =>
  rows.some(({ cases }) => cases > 0) && rows.every(({ errorsWrong, wrong }) => wrong + errorsWrong === 0)
