/** Proves the quoted programs while the service runs: after an upgrade, and once a day. */
import { Clock, type Config, Duration, Effect, Layer, Random } from "effect"
import { promises } from "node:fs"
import { join } from "node:path"
import { type Address, SOL, USDC } from "../../domain/Address.ts"
import { keepRunning } from "../../operations/keepRunning.ts"
import { Readings } from "../../operations/Readings.ts"
import { PoolBook } from "../pools/PoolBook.ts"
import { ChainFeed } from "../../chain/ChainFeed.ts"
import { venues } from "./swapVenues.ts"
import type { Venue } from "./swapVenue.ts"
import { ProgramWatch, type WatchedProgram } from "./ProgramWatch.ts"
import { deploymentSlot } from "./programState.ts"
import { ProofBudget } from "./ProofBudget.ts"
import { budget } from "./proofSettings.ts"
import { Prover, type ProverSession } from "./Prover.ts"
import { type PoolToProve, proveVenue, type VenueProof, withinBudget } from "./proveVenue.ts"

/** How often this looks for programs to prove. */
const LOOKS = Duration.seconds(10)
/** A proof is repeated once it is this old. */
const AGAIN_MS = 86_400_000
/** When an attempt has no outcome, the same deployment is tried again after this time. */
const RETRY_MS = 3_600_000
/** How many randomly chosen pools one proof uses. */
const POOLS = 5

const NO_POOL = "no pool of it is in memory"

interface Attempt {
  readonly slot: number | null
  readonly atMs: number
}

const venueOf = ({ program }: WatchedProgram): Venue | undefined =>
  venues.find((venue) => venue.program.programId === program.programId)

const slotOf = ({ deployment, record }: WatchedProgram): number | null =>
  deployment === null || "reason" in deployment || record === null ? null : deploymentSlot(deployment, record)

/**
 * True when the program's deployment has no proof, an old proof, or a wrong one that this process has not repeated yet.
 */
const isDue = (known: WatchedProgram, attempt: Attempt | undefined, nowMs: number): boolean => {
  const { deployment, record } = known
  if (deployment === null || "reason" in deployment || record === null) {
    return false
  }
  const slot = slotOf(known)
  const isTried = attempt !== undefined && attempt.slot === slot
  if (record.knownSlot !== slot || record.proof === null) {
    return !isTried || nowMs - attempt.atMs >= RETRY_MS
  }
  const isOld = nowMs - record.proof.atMs >= AGAIN_MS
  return isTried ? isOld && nowMs - attempt.atMs >= RETRY_MS : isOld || record.proof.wrong > 0
}

/** The venue's pools in memory that trade SOL or USDC. */
const poolsOf = (book: PoolBook["Service"], { program }: Venue): ReadonlyArray<PoolToProve> => {
  const found = [SOL, USDC].flatMap((mint) => book.poolsOf(mint)).filter(({ dex }) => dex === program.dex)
  const isFoundByCoin = program.poolAddressesOf !== undefined
  return [
    ...new Map(
      found.map(({ address, mintA }) => [address, isFoundByCoin ? { address, foundBy: mintA } : { address }])
    ).values()
  ]
}

/** Writes the wrong cases of each pool to a file for `npm run exactness`. An earlier file is overwritten. */
const writeFixtures = (folder: string, dex: string, proof: VenueProof): Effect.Effect<void> =>
  proof._tag !== "Proven" || proof.fixtures.length === 0
    ? Effect.void
    : Effect.tryPromise(async () => {
        await promises.mkdir(folder, { recursive: true })
        for (const { file, pool } of proof.fixtures) {
          await promises.writeFile(join(folder, `${dex}-${pool}.json`), `${JSON.stringify(file)}\n`)
        }
      }).pipe(
        Effect.andThen(Effect.logWarning("Wrong quotes were written for npm run exactness", { dex, folder })),
        Effect.catch((error) => Effect.logError("Wrong quotes could not be written", { dex, folder }, error))
      )

const make = (folder: string) =>
  Effect.gen(function* () {
    const watch = yield* ProgramWatch
    const feed = yield* ChainFeed
    const book = yield* PoolBook
    const prover = yield* Prover
    const readings = yield* Readings
    const spent = new ProofBudget(Duration.toMillis(yield* budget))
    const attempts = new Map<Address, Attempt>()

    yield* readings.report(
      { name: "fathom_proof_cpu_seconds_total", help: "Processor time of proofs.", kind: "counter" },
      () => spent.totalMs / 1000
    )
    const finish = Effect.fnUntraced(function* ({ dex, program: { programId } }: WatchedProgram, proof: VenueProof) {
      switch (proof._tag) {
        case "Upgraded":
          attempts.delete(programId)
          return
        case "Unproven":
          return watch.setObstacle(programId, proof.reason)
        case "Proven": {
          const { deployedAtSlot, outcome } = proof
          yield* writeFixtures(folder, dex, proof)
          yield* watch.proved({ programId, slot: deployedAtSlot }, outcome)
          watch.setObstacle(programId, null)
          const { exact, pools, refused, slot, wrong } = outcome
          const seconds = Math.round(spent.totalMs / 100) / 10
          yield* Effect.logInfo("A program was proven", { dex, slot, pools, exact, refused, wrong, seconds })
        }
      }
    })

    const proveOne = Effect.fnUntraced(function* (
      session: ProverSession,
      known: WatchedProgram,
      venue: Venue,
      pools: ReadonlyArray<PoolToProve>
    ) {
      const atMs = yield* Clock.currentTimeMillis
      attempts.set(known.program.programId, { slot: slotOf(known), atMs })
      const proof = yield* proveVenue({ budget: spent, feed, session }, venue, pools).pipe(
        Effect.catchTag(["ChainUnavailable", "ProofFailed"], ({ detail }) =>
          Effect.succeed<VenueProof>({ _tag: "Unproven", reason: `the proof failed: ${detail}` })
        )
      )
      yield* finish(known, proof)
    })

    /** The programs to prove now, with their pools. */
    const due = Effect.gen(function* () {
      const nowMs = yield* Clock.currentTimeMillis
      const found: Array<{ known: WatchedProgram; venue: Venue; pools: ReadonlyArray<PoolToProve> }> = []
      for (const known of watch.known()) {
        const venue = venueOf(known)
        if (venue !== undefined && isDue(known, attempts.get(known.program.programId), nowMs)) {
          const pools = yield* Random.shuffle(poolsOf(book, venue))
          if (pools.length === 0) {
            watch.setObstacle(known.program.programId, NO_POOL)
          } else {
            found.push({ known, venue, pools: Array.from(pools).slice(0, POOLS) })
          }
        }
      }
      return found
    })

    const unavailable = Effect.fnUntraced(function* (detail: string) {
      const nowMs = yield* Clock.currentTimeMillis
      for (const known of watch.known()) {
        attempts.set(known.program.programId, { slot: slotOf(known), atMs: nowMs })
        watch.setObstacle(known.program.programId, detail)
      }
      yield* Effect.logWarning("Programs cannot be proven", { detail })
    })

    const look = Effect.flatMap(due, (found) =>
      found.length === 0
        ? Effect.void
        : Effect.flatMap(Effect.andThen(withinBudget(spent), prover.open), (session) =>
            Effect.forEach(found, ({ known, pools, venue }) => proveOne(session, known, venue, pools), {
              discard: true
            })
          ).pipe(
            Effect.scoped,
            Effect.catchTag("ProverUnavailable", ({ detail }) => unavailable(detail))
          )
    )
    yield* Effect.andThen(look, Effect.sleep(LOOKS)).pipe(
      Effect.forever,
      keepRunning("Proving programs"),
      Effect.forkScoped
    )
  })

/**
 * Proves each quoted program: at the start when it has no proof, after an upgrade, and
 * once a day. Uses pools in memory and keeps within `PROVE_BUDGET`. Writes wrong cases as fixtures to the folder.
 */
export const layer = (
  folder: string
): Layer.Layer<never, Config.ConfigError, ChainFeed | PoolBook | ProgramWatch | Prover> =>
  Layer.effectDiscard(make(folder))
