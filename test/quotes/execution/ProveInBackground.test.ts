import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { SOL } from "../../../src/domain/Address.ts"
import type { ProgramState } from "../../../src/api/schemas/ProgramState.ts"
import { Readings } from "../../../src/operations/Readings.ts"
import { meteoraDammV2 } from "../../../src/programs/meteora/dammV2.ts"
import { isUnpriceable, type Pool } from "../../../src/programs/interface/Program.ts"
import { PoolBook } from "../../../src/quotes/pools/PoolBook.ts"
import { compareFixture } from "../../../src/quotes/execution/compareFixture.ts"
import { parseFixture, readFixture } from "../../../src/quotes/execution/poolFixture.ts"
import { decodePools } from "../../../src/quotes/execution/decodeFixture.ts"
import { ProgramWatch } from "../../../src/quotes/execution/ProgramWatch.ts"
import * as ProveInBackground from "../../../src/quotes/execution/ProveInBackground.ts"
import {
  type PoolOutcome,
  ProofFailed,
  type ProofJob,
  Prover,
  ProverUnavailable
} from "../../../src/quotes/execution/Prover.ts"
import * as VenueProofs from "../../../src/quotes/VenueProofs.ts"
import { ProgramChain } from "./programScene.ts"

const { dex, programId } = meteoraDammV2
const path = fileURLToPath(new URL("../../vectors/pools/dammv2-521-1-m22.json", import.meta.url))
const recorded = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>
const fixture = parseFixture(recorded)
const pool = decodePools(fixture).find((one): one is Pool => !isUnpriceable(one)) ?? assert.fail("no pool")

/** The recorded cases, if the program paid one unit more. */
const wrongFixture = {
  ...recorded,
  case: fixture.cases.map((entry) => ({ ...entry, expectedOut: String(BigInt(String(entry["expectedOut"])) + 1n) })),
  errors: []
}

const exact: PoolOutcome = { executed: 30, exact: 30, refused: 2, wrong: 0, fixture: null, obstacle: null, cpuMs: 10 }
const wrong: PoolOutcome = { ...exact, exact: 20, wrong: 10, fixture: wrongFixture }

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "fathom-proofs-"))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const book = PoolBook.of({
  between: () => null,
  poolsOf: (mint) => (mint === SOL ? [pool] : []),
  isLoaded: () => true,
  leftOut: () => 0,
  lacking: () => null,
  graduationOf: () => null,
  held: () => null,
  executedOf: () => [],
  poolAt: () => null,
  graph: { partnersOf: () => [], poolsBetween: () => [] },
  warm: () => Effect.succeed({ _tag: "Loaded" }),
  learn: () => undefined
})

/** A chain with the pool, and a prover that gives this answer to every job. */
class ProofScene extends ProgramChain {
  readonly jobs: Array<ProofJob> = []
  answer: Effect.Effect<PoolOutcome, ProofFailed> = Effect.succeed(exact)
  unavailable: string | null = null
  /** Number of loaded runtimes. */
  loaded = 0

  constructor() {
    super()
    this.put(fixture.accounts.values())
  }

  proving(env: Record<string, string> = {}) {
    const open = Effect.suspend(() =>
      this.unavailable === null
        ? Effect.acquireRelease(
            Effect.sync(() => {
              this.loaded = 1
              return {
                prove: (job: ProofJob) =>
                  Effect.suspend(() => {
                    this.loaded = 1
                    this.jobs.push(job)
                    return this.answer
                  }),
                rest: Effect.sync(() => void (this.loaded = 0))
              }
            }),
            () => Effect.sync(() => (this.loaded = 0))
          )
        : Effect.fail(new ProverUnavailable({ detail: this.unavailable }))
    )
    return ProveInBackground.layer(folder).pipe(
      Layer.provide([Layer.succeed(PoolBook, book), Layer.succeed(Prover, Prover.of({ open }))]),
      Layer.provideMerge(this.watch(env))
    )
  }
}

const stateOf = (venue = dex) =>
  Effect.map(
    ProgramWatch,
    ({ states }): ProgramState => states().find((one) => one.dex === venue) ?? assert.fail("is not watched")
  )

const spentSeconds = Effect.map(
  Readings,
  ({ collect }) => collect(0).find(({ name }) => name === "fathom_proof_cpu_seconds_total")?.samples
)

/** Lets files be written until the condition holds. */
const settled = (condition: () => boolean) =>
  Effect.promise(async () => {
    for (let tries = 0; !condition(); tries++) {
      assert.isBelow(tries, 5000, "waited in vain")
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  })

describe("proofs in the background", () => {
  it.effect(
    "prove a program on its pools in memory, with all accounts of one slot, and state why others cannot be proven",
    () => {
      const scene = new ProofScene()
      return Effect.gen(function* () {
        yield* TestClock.adjust("10 seconds")
        assert.deepInclude(yield* stateOf(), { state: "proven", provenAtSlot: 1000, deployedAtSlot: 500, detail: null })
        const [job, ...others] = scene.jobs
        assert.deepStrictEqual(others, [])
        assert.strictEqual(job?.snapshot.pool.address, pool.address)
        assert.sameMembers([...(job?.snapshot.accounts.keys() ?? [])], [...fixture.accounts.keys()])
        assert.deepInclude(yield* stateOf("pumpswap"), {
          state: "unproven",
          upgraded: false,
          detail: "no pool of it is in memory"
        })
        assert.deepInclude(yield* stateOf("meteora-dlmm"), { state: "unproven", detail: "no pool of it is in memory" })
        const { collect } = yield* Readings
        const spent = collect(0).find(({ name }) => name === "fathom_proof_cpu_seconds_total")
        assert.deepStrictEqual(spent?.samples, [{ value: 0.01 }])
      }).pipe(Effect.provide(scene.proving()))
    }
  )

  it.effect("prove again after an upgrade, with the new bytes, and otherwise once a day", () => {
    const scene = new ProofScene()
    return Effect.gen(function* () {
      yield* TestClock.adjust("23 hours")
      assert.strictEqual(scene.jobs.length, 1)
      yield* TestClock.adjust("2 hours")
      assert.strictEqual(scene.jobs.length, 2)
      scene.deploy(programId, 990, Uint8Array.of(9, 9, 9))
      scene.slot = 1200
      scene.put([])
      yield* TestClock.adjust("70 seconds")
      assert.strictEqual(scene.jobs.length, 3)
      assert.deepStrictEqual([...(scene.jobs[2]?.elf ?? [])], [9, 9, 9])
      assert.deepInclude(yield* stateOf(), {
        state: "proven",
        upgraded: false,
        deployedAtSlot: 990,
        provenAtSlot: 1200
      })
    }).pipe(Effect.provide(scene.proving()))
  })

  it.effect("find a mismatch, write its cases, and recover with the next proof", () => {
    const scene = new ProofScene()
    scene.answer = Effect.succeed(wrong)
    return Effect.gen(function* () {
      yield* TestClock.adjust("10 seconds")
      yield* settled(() => scene.proofs.records.get(programId)?.proof !== null)
      const state = yield* stateOf()
      assert.deepInclude(state, { state: "wrong", provenAtSlot: null })
      assert.include(state.detail ?? "", "10 of 30 executed swaps")
      const [file = "", ...others] = readdirSync(folder)
      assert.deepStrictEqual([file, others], [`${dex}-${pool.address}.json`, []])
      const tally = compareFixture(readFixture(join(folder, file)), () => undefined)
      assert.strictEqual(tally.wrong, fixture.cases.length)
      scene.answer = Effect.succeed(exact)
      yield* TestClock.adjust("25 hours")
      assert.deepInclude(yield* stateOf(), { state: "proven", provenAtSlot: 1000 })
    }).pipe(Effect.provide(scene.proving()))
  })

  it.effect("prove a wrong program again right after a restart, because the release may be another", () => {
    const scene = new ProofScene()
    const outcome = { slot: 900, atMs: 0, sha256: "ab", pools: 1, exact: 1, refused: 0, wrong: 1 }
    scene.proofs.records.set(programId, { knownSlot: 500, soundSlot: 500, proof: outcome })
    return Effect.gen(function* () {
      yield* TestClock.adjust("10 seconds")
      assert.deepInclude(yield* stateOf(), { state: "proven" })
    }).pipe(Effect.provide(scene.proving()))
  })

  it.effect("stay within the processor time of an hour", () => {
    const scene = new ProofScene()
    scene.answer = Effect.succeed({ ...exact, cpuMs: 61_000 })
    return Effect.gen(function* () {
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(scene.jobs.length, 1)
      scene.deploy(programId, 990)
      yield* TestClock.adjust("59 minutes")
      assert.strictEqual(scene.jobs.length, 1)
      assert.strictEqual(scene.loaded, 0)
      assert.deepInclude(yield* stateOf(), { state: "unproven", upgraded: true })
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(scene.jobs.length, 2)
      assert.deepInclude(yield* stateOf(), { state: "proven" })
    }).pipe(Effect.provide(scene.proving()))
  })

  it.effect("state that the runtime is missing, and prove nothing: an upgraded venue stays unproven", () => {
    const scene = new ProofScene()
    scene.unavailable = "The package litesvm cannot be loaded"
    return Effect.gen(function* () {
      yield* TestClock.adjust("10 seconds")
      scene.deploy(programId, 990)
      yield* TestClock.adjust("2 minutes")
      const state = yield* stateOf()
      assert.deepInclude(state, { state: "unproven", upgraded: true, provenAtSlot: null })
      assert.strictEqual(state.detail, "upgraded at slot 990, known at slot 500; The package litesvm cannot be loaded")
    }).pipe(Effect.provide(scene.proving()))
  })

  it.effect("repeat a failed proof after an hour, and accept none in which nothing could be executed", () => {
    const scene = new ProofScene()
    scene.answer = Effect.fail(new ProofFailed({ detail: "the thread ended with 1", cpuMs: 500 }))
    return Effect.gen(function* () {
      yield* TestClock.adjust("50 minutes")
      assert.strictEqual(scene.jobs.length, 1)
      assert.include((yield* stateOf()).detail ?? "", "the thread ended with 1")
      assert.deepStrictEqual(yield* spentSeconds, [{ value: 0.5 }])
      scene.answer = Effect.succeed({ ...exact, exact: 0, obstacle: "mint has a transfer hook" })
      yield* TestClock.adjust("15 minutes")
      assert.strictEqual(scene.jobs.length, 2)
      const state = yield* stateOf()
      assert.strictEqual(state.state, "unproven")
      assert.include(state.detail ?? "", "mint has a transfer hook")
      assert.isNull(scene.proofs.records.get(programId)?.proof)
    }).pipe(Effect.provide(scene.proving()))
  })

  it.effect("call no venue wrong when no swap could be executed, and none proven by a few exact swaps", () => {
    const scene = new ProofScene()
    scene.answer = Effect.succeed({ ...exact, executed: 0, exact: 0, wrong: 32, fixture: wrongFixture })
    return Effect.gen(function* () {
      yield* TestClock.adjust("10 seconds")
      assert.deepInclude(yield* stateOf(), { state: "unproven", detail: "no swap could be executed" })
      scene.answer = Effect.succeed({ ...exact, executed: 32, exact: 15, refused: 17 })
      yield* TestClock.adjust("61 minutes")
      assert.deepInclude(yield* stateOf(), {
        state: "unproven",
        detail: "15 executed swaps were compared, and 16 are needed"
      })
      assert.isNull(scene.proofs.records.get(programId)?.proof)
      scene.answer = Effect.succeed({ ...exact, executed: 16, exact: 16, refused: 16 })
      yield* TestClock.adjust("61 minutes")
      assert.deepInclude(yield* stateOf(), { state: "proven", detail: null })
    }).pipe(Effect.provide(scene.proving()))
  })

  it.effect("drop the outcome when the program is upgraded meanwhile", () => {
    const scene = new ProofScene()
    const upgrade = Effect.sync(() => {
      scene.deploy(programId, 995)
      scene.answer = Effect.succeed(exact)
      return wrong
    })
    scene.answer = upgrade
    return Effect.gen(function* () {
      yield* TestClock.adjust("3 seconds")
      assert.isNull(scene.proofs.records.get(programId)?.proof)
      yield* TestClock.adjust("2 minutes")
      assert.deepInclude(yield* stateOf(), { state: "proven", deployedAtSlot: 995 })
    }).pipe(Effect.provide(scene.proving()))
  })
})

describe("PROVE_POLICY", () => {
  const quotable = Effect.map(VenueProofs.VenueProofs, ({ provenAtSlot, refused }) => ({
    slot: provenAtSlot(dex),
    refusal: refused().get(dex) ?? null
  }))

  it.effect("refuses a wrong venue by default until the next proof, and shows the slot of a proof", () => {
    const scene = new ProofScene()
    scene.answer = Effect.succeed({ ...wrong, fixture: null })
    return Effect.gen(function* () {
      yield* TestClock.adjust("10 seconds")
      const { refusal, slot } = yield* quotable
      assert.isNull(slot)
      assert.match(refusal ?? "", /^its prices were found wrong: 10 of 30 executed swaps/u)
      scene.answer = Effect.succeed(exact)
      yield* TestClock.adjust("25 hours")
      assert.deepStrictEqual(yield* quotable, { slot: 1000, refusal: null })
      scene.deploy(programId, 995)
      scene.unavailable = "absent"
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(yield* quotable, { slot: null, refusal: null })
    }).pipe(Effect.provide(scene.proving().pipe(Layer.provideMerge(VenueProofs.layer))))
  })

  it.effect("with warn keeps quoting a wrong venue and shows it as wrong", () => {
    const scene = new ProofScene()
    scene.answer = Effect.succeed({ ...wrong, fixture: null })
    return Effect.gen(function* () {
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* quotable, { slot: null, refusal: null })
      assert.strictEqual((yield* stateOf()).state, "wrong")
    }).pipe(Effect.provide(scene.proving({ PROVE_POLICY: "warn" }).pipe(Layer.provideMerge(VenueProofs.layer))))
  })
})
